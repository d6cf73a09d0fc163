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
        switch describe(error, after: .zero) {
        case .fetchFailed(_, _, let reason): reason
        case .fetchTimeout: "the answer took too long"
        case let other: other.message
        }
    }

    /// - Parameter elapsed: The time that the other side had.
    package static func describe(_ error: any Error, after elapsed: Duration) -> AttachmentError {
        switch error {
        case let error as AttachmentError: error
        case is CancellationError: .fetchFailed(.reset, reason: "the fetch was cancelled")
        case let error as HTTPClientError: describe(error, after: elapsed)
        case ChannelError.connectTimeout: .fetchTimeout(seconds: elapsed.inSeconds)
        case let error as IOError: describe(error)
        case is NIOConnectionError: .fetchFailed(.refused, reason: "no connection could be made")
        case HTTPParserError.invalidEOFState: closed
        case is HTTPParserError: invalid
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            .fetchFailed(.tls, reason: "the TLS connection failed, or the certificate is not valid for the host")
        case is ChannelError: broken
        default: .fetchFailed(.reset, reason: "the connection failed")
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

    private static func describe(_ error: HTTPClientError, after elapsed: Duration) -> AttachmentError {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout, .deadlineExceeded, .readTimeout:
            .fetchTimeout(seconds: elapsed.inSeconds)
        case .remoteConnectionClosed, .uncleanShutdown: closed
        case .cancelled: .fetchFailed(.reset, reason: "the fetch was cancelled")
        default: invalid
        }
    }

    private static func describe(_ error: IOError) -> AttachmentError {
        switch error.errnoCode {
        case ECONNREFUSED: .fetchFailed(.refused, reason: "the connection was refused")
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT:
            .fetchFailed(.unreachable, reason: "the host is unreachable")
        case ECONNRESET, EPIPE: closed
        default: broken
        }
    }

    private static let closed = AttachmentError.fetchFailed(
        .reset, reason: "the connection was closed before the end of the file")
    private static let broken = AttachmentError.fetchFailed(.reset, reason: "the connection broke")
    private static let invalid = AttachmentError.fetchFailed(.invalidAnswer, reason: "the answer is not valid HTTP")

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
