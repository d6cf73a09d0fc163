import HTTPServer
import HTTPTypes

extension Problem {
    static func malformed(_ detail: String) -> Problem {
        Problem(.badRequest, "malformed_request", detail)
    }

    private static let tooSlow = Problem(
        .requestTimeout, "request_timeout",
        "The request came too slowly or not to its end. Send it again, faster, or in smaller parts.")

    /// What the connection answers by itself.
    init(_ fault: RequestFault) {
        switch fault {
        case .notHTTP: self = .malformed("What was sent is no HTTP/1.1 request. Check what sends it.")
        case .headersTooLarge:
            self.init(
                .requestHeaderFieldsTooLarge, "headers_too_large",
                "The request line and headers are too long, or too many.")
        case .tooSlow: self = .tooSlow
        case .invalidLength: self = .malformed("'Content-Length' must be one number of bytes.")
        case .ambiguousLength:
            self = .malformed(
                "A body's length must be said once, by 'Content-Length' or by 'Transfer-Encoding'.")
        case .unknownTransferEncoding:
            self.init(
                .notImplemented, "unknown_transfer_encoding", "The only transfer encoding taken is 'chunked'.")
        case .unexpectedTransferEncoding: self = .malformed("'Transfer-Encoding' needs HTTP/1.1.")
        case .invalidHost: self = .malformed("There must be one 'Host' header.")
        case .proxyRequest: self.init(.notImplemented, "no_proxy", "This is no proxy.")
        case .unknownExpectation:
            self.init(.expectationFailed, "unknown_expectation", "'Expect' may only say '100-continue'.")
        case .invalidRequestLine: self = .malformed("The request line can't be understood.")
        }
    }

    /// What becomes of a request whose body didn't come.
    init(_ fault: ConnectionFault) {
        switch fault {
        case .bodyIncomplete: self = .malformed("The body ended before its time. Send all of it.")
        case .bodyTooSlow: self = .tooSlow
        }
    }
}
