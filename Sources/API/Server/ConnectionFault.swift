import HTTPTypes

/// Why a connection was ended early, as whoever answers a request on it sees it.
enum ConnectionFault: Error, Hashable, Sendable {
    /// The client left, or what it sent is no HTTP, before the whole body was here.
    case bodyIncomplete
    /// The body came too slowly.
    case bodyTooSlow
}

extension Problem {
    static func malformed(_ detail: String) -> Problem {
        Problem(.badRequest, "malformed_request", detail)
    }

    static let headersTooLarge = Problem(
        .requestHeaderFieldsTooLarge, "headers_too_large", "The request line and headers are too long, or too many.")

    static let tooSlow = Problem(
        .requestTimeout, "request_timeout",
        "The request came too slowly or not to its end. Send it again, faster, or in smaller parts.")

    init(_ fault: ConnectionFault) {
        switch fault {
        case .bodyIncomplete: self = .malformed("The body ended before its time. Send all of it.")
        case .bodyTooSlow: self = .tooSlow
        }
    }
}
