import HTTPServer
import HTTPTypes

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

    /// What becomes of a request whose body didn't come.
    init(_ fault: ConnectionFault) {
        switch fault {
        case .bodyIncomplete: self = .malformed("The body is incomplete. Send all of it.")
        case .bodyTooSlow: self = .tooSlow
        }
    }
}
