internal import AsyncHTTPClient
internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

extension S3Error {
    /// What a refusal means: "Error responses" of the Amazon S3 API Reference.
    ///
    /// - Parameter right: The region that the server names.
    init(
        status: Int, code: String, bucket: String, region: String, right: String?, accessKey: String, operation: String
    ) {
        self =
            switch (status, code) {
            case (_, "NoSuchBucket"): .noSuchBucket(bucket)
            case (_, "PermanentRedirect"), (_, "AuthorizationHeaderMalformed"),
                (_, "IllegalLocationConstraintException"),
                (301, _):
                .wrongRegion(region, right: right == region ? nil : right)
            case (_, "InvalidAccessKeyId"): .unknownAccessKey(accessKey)
            case (_, "SignatureDoesNotMatch"): .wrongSecret(accessKey: accessKey)
            case (_, "ExpiredToken"), (_, "InvalidToken"), (_, "TokenRefreshRequired"): .expiredCredentials
            case (_, "RequestTimeTooSkewed"): .clockSkewed
            case (_, "XAmzContentSHA256Mismatch"), (_, "BadDigest"): .hashMismatch
            case (507, _), (_, "QuotaExceeded"), (_, "EntityTooLarge"): .full
            case (_, "SlowDown"), (_, "InternalError"), (_, "ServiceUnavailable"), (_, "RequestTimeout"),
                (429, _), (500, _), (502, _), (503, _), (504, _):
                .unavailable(status: status, code: code)
            case (403, ""), (_, "AccessDenied"): .accessDenied(operation: operation)
            // The answer to HEAD names no code.
            case (404, "NoSuchKey"), (404, ""): .noSuchObject
            default: .refused(status: status, code: code)
            }
    }

    /// What went wrong before there was an answer, or in the middle of one.
    init(describing error: any Error, from host: String) {
        self =
            switch error {
            case let error as S3Error: error
            case is CancellationError: .cancelled
            case let error as HTTPClientError: Self.describe(error, host)
            case let error as IOError: Self.describe(error, host)
            case let error as NIOConnectionError: Self.describe(error, host)
            case ChannelError.connectTimeout: .unreachable(host: host, reason: "connecting took too long")
            case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: .certificate(host: host)
            case is HTTPParserError: .malformedAnswer(reason: "it isn't HTTP")
            default: .brokenConnection(host: host)
            }
    }

    private static func describe(_ error: HTTPClientError, _ host: String) -> S3Error {
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout:
            .unreachable(host: host, reason: "connecting took too long")
        case .tlsHandshakeTimeout, .deadlineExceeded, .readTimeout, .writeTimeout: .timedOut(host: host)
        case .cancelled: .cancelled
        default: .brokenConnection(host: host)
        }
    }

    private static func describe(_ error: IOError, _ host: String) -> S3Error {
        switch error.errnoCode {
        case ECONNREFUSED: .unreachable(host: host, reason: "the connection was refused")
        case EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT:
            .unreachable(host: host, reason: "the host is unreachable")
        default: .brokenConnection(host: host)
        }
    }

    /// Of the addresses that were tried the first says why.
    private static func describe(_ error: NIOConnectionError, _ host: String) -> S3Error {
        if let first = error.connectionErrors.first { return S3Error(describing: first.error, from: host) }
        return .unreachable(host: host, reason: "the host name can't be resolved")
    }
}
