import AsyncHTTPClient
package import SatchelCore
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Turns what the HTTP client throws into what a sender can use.
public enum FetchFailure {
    /// What went wrong, as a clause about the other side: `the connection was refused`.
    public static func reason(_ error: any Error) -> String {
        switch describe(error) {
        case .fetchFailed(let reason, _): reason
        case let other: other.message
        }
    }

    package static func describe(_ error: any Error) -> AttachmentError {
        switch error {
        case let error as AttachmentError: error
        case is CancellationError: failed("the fetch was cancelled")
        case let error as HTTPClientError: describe(error)
        case let error as IOError: describe(error)
        case is NIOConnectionError: failed("no connection could be made")
        case HTTPParserError.invalidEOFState: failed("the connection was closed before the end of the file")
        case is HTTPParserError: failed("the answer is not valid HTTP")
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            failed("the TLS connection failed, or the certificate is not valid for the host")
        case is ChannelError: failed("the connection broke")
        default: failed("the connection failed")
        }
    }

    /// Whether no connection was made, so that another address may do better.
    static func isConnectionFailure(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: [.connectTimeout, .getConnectionFromPoolTimeout].contains(error)
        case let error as ChannelError:
            if case .connectTimeout = error { true } else { false }
        case let error as IOError:
            [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT, EAFNOSUPPORT].contains(error.errnoCode)
        case is NIOConnectionError: true
        default: false
        }
    }

    private static func describe(_ error: HTTPClientError) -> AttachmentError {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout: failed("connecting took too long")
        case .tlsHandshakeTimeout: failed("the TLS handshake took too long")
        case .remoteConnectionClosed, .uncleanShutdown: failed("the connection was closed before the end of the file")
        case .deadlineExceeded, .readTimeout: failed("the answer took too long")
        case .cancelled: failed("the fetch was cancelled")
        default: failed("the answer is not valid HTTP")
        }
    }

    private static func describe(_ error: IOError) -> AttachmentError {
        switch error.errnoCode {
        case ECONNREFUSED: failed("the connection was refused")
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT: failed("the host is unreachable")
        case ECONNRESET, EPIPE: failed("the connection was closed before the end of the file")
        default: failed("the connection broke")
        }
    }

    private static func failed(_ reason: String) -> AttachmentError {
        .fetchFailed(reason: reason, status: nil)
    }

    /// An origin's words, fit for a message: printable ASCII, not too much of it.
    static func clean(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 >= 0x20 && $0 < 0x7F }.prefix(80), as: UTF8.self)
    }

    /// `image/jpeg` of `Image/JPEG; q=1`; nil for what is no media type.
    static func mediaType(_ header: String) -> String? {
        let type = header.prefix { $0 != ";" && $0 != "," }.lowercased().filter { $0 != " " && $0 != "\t" }
        let parts = type.split(separator: "/", omittingEmptySubsequences: false)
        let isType =
            parts.count == 2 && type.utf8.count <= 127
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { $0.isDigit || $0.isLowercaseLetter || "!#$&-^_.+".utf8.contains($0) }
            }
        return isType ? type : nil
    }
}
