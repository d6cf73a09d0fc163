import SatchelCore
import FoundationEssentials
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// An error as the API answers it: `application/problem+json` (RFC 9457) with a code for programs and a detail that says
/// what to do.
struct Problem: Error, Sendable {
    /// A field of the request that can't be taken.
    struct Field: Hashable, Sendable, Encodable {
        /// A JSON pointer (RFC 6901) into the body, or the name of a header or query parameter.
        var pointer: String
        var detail: String
    }

    var status: HTTPResponse.Status
    /// Never reworded.
    var code: String
    /// What to do about it.
    var detail: String
    var errors: [Field] = []
    var headers: HTTPFields = [:]
    /// A URI where the kind of problem is somebody's standard.
    var type = "about:blank"
    /// Where an upload is, and where it was taken to be.
    var offsets: Offsets?

    /// What RFC 9457 calls extension members, of the problem type `mismatching-upload-offset`.
    struct Offsets: Hashable, Sendable {
        var expected: Int64
        var provided: Int64
    }

    init(
        _ status: HTTPResponse.Status, _ code: String, _ detail: String, errors: [Field] = [], headers: HTTPFields = [:]
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }
}

extension Problem {
    /// Malformed, unknown, expired and revoked credentials all get this.
    static let unauthorized = Problem(
        .unauthorized, "unauthorized",
        "Send a valid API key or grant as 'Authorization: Bearer …'.",
        headers: [.wwwAuthenticate: "Bearer"])

    /// - Parameter roles: Those of which one would do.
    static func forbidden(_ roles: [AccessRole]) -> Problem {
        let names = roles.map { "'\($0.rawValue)'" }.joined(separator: " or ")
        return Problem(.forbidden, "forbidden", "This key lacks the role \(names). Use a key that has it.")
    }

    /// Where no key is needed, a web page still needs one.
    static let noWebPage = Problem(
        .forbidden, "forbidden",
        "Without an API key, pages of other sites are rejected, and Host must be localhost, a loopback address or the host of public_url. Use one of these hosts, or send an API key."
    )

    /// New work, once the service is about to end.
    static let draining = Problem(
        .serviceUnavailable, "draining",
        "The service is shutting down. Send the request to another node, or again later.",
        headers: [.retryAfter: "5"])

    /// Asked of a node that takes no requests.
    static let onlyWorks = Problem(
        .notFound, "not_found", "This node only processes jobs. Use a node that accepts requests (role: api or all).")

    static let notFound = Problem(
        .notFound, "not_found", "Not found. Check the id; it may have been deleted or have expired."
    )

    static func invalid(_ detail: String, _ errors: [Field] = []) -> Problem {
        Problem(.badRequest, "invalid_request", detail, errors: errors)
    }

    static func invalid(_ pointer: String, _ detail: String) -> Problem {
        invalid(
            "The request is invalid. See 'errors' for each problem.",
            [Field(pointer: pointer, detail: detail)])
    }

    /// What an error of the work means as an answer to a request.
    init(_ error: AttachmentError) {
        let status: HTTPResponse.Status
        var headers: HTTPFields = [:]
        switch error.code {
        case .queueFull, .quotaExceeded, .rateLimited:
            status = .tooManyRequests
            // Waiting doesn't help against what is stored.
            if case .quotaExceeded(let what, _, _) = error, !what.passes { break }
            headers[.retryAfter] = "5"
        case .storeFull: status = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
        case .storeFailed:
            status = .serviceUnavailable
            headers[.retryAfter] = "5"
        case .notInStore: status = .notFound
        case .sourceTooLarge: status = .contentTooLarge
        case .deadlineExceeded: status = .gatewayTimeout
        default: status = .unprocessableContent
        }
        self.init(status, error.code.rawValue, error.message, headers: headers)
    }
}

extension Problem {
    /// As JSON.
    var body: Data {
        let places: JSONFields =
            offsets.map { ["expected-offset": $0.expected, "provided-offset": $0.provided] } ?? [:]
        let fields: JSONFields = [
            "type": type, "title": status.reasonPhrase, "status": status.code, "code": code, "detail": detail,
            "errors": errors,
        ]
        return (try? JSON.encode(fields + places)) ?? Data("{}".utf8)
    }

    var response: Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// What `error` is to the client. Nothing of the inside shows.
    init(describing error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as AttachmentError: self = Problem(error)
        case let fault as ConnectionFault: self = Problem(fault)
        case let error as HTTPError where error.status == .contentTooLarge:
            self = Problem(.contentTooLarge, "body_too_large", "The body is too large for this endpoint.")
        case let error as HTTPError where error.status == .notFound:
            self = Problem(.notFound, "not_found", "No such path. See /docs.")
        case let error as HTTPError where error.status.kind == .clientError:
            self = Problem(error.status, "invalid_request", error.body ?? "The request is malformed.")
        default:
            self = Problem(
                .internalServerError, "internal_error",
                "An internal error occurred and was logged. Try again. If it persists, give the request id to the operator."
            )
        }
    }
}

extension Problem {
    static func malformed(_ detail: String) -> Problem {
        Problem(.badRequest, "malformed_request", detail)
    }

    private static let tooSlow = Problem(
        .requestTimeout, "request_timeout",
        "The request was too slow or incomplete. Send it again, faster or in smaller parts.")

    /// What the connection answers by itself.
    init(_ fault: RequestFault) {
        switch fault {
        case .notHTTP: self = .malformed("This is not a valid HTTP/1.1 request. Check the client.")
        case .headersTooLarge:
            self.init(
                .requestHeaderFieldsTooLarge, "headers_too_large",
                "The request line and headers are too long, or there are too many headers.")
        case .tooSlow: self = .tooSlow
        case .invalidLength: self = .malformed("'Content-Length' must be one number of bytes.")
        case .ambiguousLength:
            self = .malformed(
                "The body's length must be given once, by 'Content-Length' or by 'Transfer-Encoding'.")
        case .unknownTransferEncoding:
            self.init(
                .notImplemented, "unknown_transfer_encoding", "'Transfer-Encoding' must be 'chunked'.")
        case .unexpectedTransferEncoding: self = .malformed("'Transfer-Encoding' requires HTTP/1.1.")
        case .invalidHost: self = .malformed("The request must have exactly one 'Host' header.")
        case .proxyRequest:
            self.init(.notImplemented, "no_proxy", "This server is not a proxy. Send the request directly to its host.")
        case .unknownExpectation:
            self.init(.expectationFailed, "unknown_expectation", "'Expect' must be '100-continue'.")
        case .invalidRequestLine: self = .malformed("The request line is malformed.")
        }
    }

    /// The outcome of a request without a complete body.
    init(_ fault: ConnectionFault) {
        switch fault {
        case .bodyIncomplete: self = .malformed("The body is incomplete. Send all of it.")
        case .bodyTooSlow: self = .tooSlow
        }
    }
}
