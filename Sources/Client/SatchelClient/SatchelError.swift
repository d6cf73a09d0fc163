public import Foundation

/// The error of a failed call.
public struct SatchelError: Error, Sendable, CustomStringConvertible {
    /// The error code, for programs. The codes of the service are listed on its page `/docs`. ``transport``, ``timedOut`` and
    /// ``unreadable`` are codes of this library.
    public struct Code: OpenName {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        public static let invalidRequest: Code = "invalid_request"
        public static let unauthorized: Code = "unauthorized"
        public static let forbidden: Code = "forbidden"
        public static let notFound: Code = "not_found"
        public static let queueFull: Code = "queue_full"
        public static let quotaExceeded: Code = "quota_exceeded"
        public static let rateLimited: Code = "rate_limited"
        /// The response names an action that the notification does not offer, or no longer offers.
        public static let unknownAction: Code = "unknown_action"
        /// The fetched file can't be decrypted: the key is wrong, or the file is damaged.
        public static let decryptionFailed: Code = "decryption_failed"
        /// The service could not be reached, or the connection broke. See ``SatchelError/underlying``.
        public static let transport: Code = "transport"
        /// The call did not finish within the time that the caller gave.
        public static let timedOut: Code = "timed_out"
        /// The library does not understand the response.
        public static let unreadable: Code = "unreadable_answer"
    }

    /// An invalid field of the request.
    public struct Field: Hashable, Sendable, Codable {
        /// A JSON pointer into the body, or the name of a header or a parameter.
        public var pointer: String
        public var detail: String

        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

    public var code: Code
    /// What happened and what to do, for people.
    public var detail: String
    public var fields: [Field]
    /// The HTTP status; `nil` if there was no response.
    public var status: Int?
    /// The seconds to wait before a retry, if the service named them.
    public var retryAfter: TimeInterval?
    /// The transport's error, such as a `URLError`.
    public var underlying: (any Error)?

    public init(
        code: Code, detail: String, fields: [Field] = [], status: Int? = nil, retryAfter: TimeInterval? = nil,
        underlying: (any Error)? = nil
    ) {
        self.code = code
        self.detail = detail
        self.fields = fields
        self.status = status
        self.retryAfter = retryAfter
        self.underlying = underlying
    }

    public var description: String {
        let fields = fields.map { " \($0.pointer): \($0.detail)" }.joined()
        return "\(code.rawValue): \(detail)\(fields)"
    }
}

extension SatchelError: LocalizedError {
    public var errorDescription: String? { detail }
}

extension SatchelError {
    /// The service's problem document as JSON.
    struct Problem: Decodable {
        var type: String
        var title: String
        var status: Int
        var code: Code
        var detail: String
        var errors: [Field]
    }

    init(status: Int, body: Data, retryAfter: TimeInterval?) {
        if let problem = try? Wire.decode(Problem.self, from: body) {
            self.init(
                code: problem.code, detail: problem.detail, fields: problem.errors, status: status,
                retryAfter: retryAfter)
        } else {
            self.init(
                code: Code(rawValue: "http_\(status)"), detail: "The service answered \(status).", status: status,
                retryAfter: retryAfter)
        }
    }

    static func transport(_ error: any Error) -> SatchelError {
        SatchelError(
            code: .transport, detail: "The service could not be reached: \(error.localizedDescription)",
            underlying: error)
    }
}
