public import SatchelCore

/// Why a payload can't be taken or enriched.
public enum PayloadError: Error, Hashable, Sendable {
    case invalidJSON(JSONSyntaxError)
    /// Not of the form that the service takes.
    case notAMessage(PayloadFormat)
    /// A message is longer, as it came, than the service takes.
    ///
    /// - Parameter pointer: The message, in the payload.
    case tooLarge(PayloadFormat, at: JSONPointer, bytes: Int, limit: Int)
    /// A medium failed, and that was to be an error.
    case mediumFailed(PayloadMedium, MediumFailure)

    /// For the sender: what to do differently.
    public var message: String {
        switch self {
        case .invalidJSON(let error):
            "The payload is not valid JSON: \(error.reason) at line \(error.line), column \(error.column)."
        case .notAMessage(let format):
            "The payload doesn't have the format for \(format.service). Send \(format.rules.form)."
        case .tooLarge(let format, let pointer, let bytes, let limit):
            "The \(pointer == .root ? "payload" : "message at '\(pointer)'") has \(bytes) bytes; \(format.service) accepts at most \(limit). Shorten it by \(bytes - limit) bytes."
        case .mediumFailed(let medium, let failure):
            "The medium '\(medium.identifier)' failed (\(failure.code)): \(failure.message)"
        }
    }
}

/// Why a medium isn't in the enriched payload.
public struct MediumFailure: Error, Hashable, Sendable {
    /// One of ``ErrorCode``, or `payload_too_large`, `image_too_large` or `not_an_image`.
    public var code: String
    public var message: String

    public init(_ error: ErrorReport) {
        code = error.code.rawValue
        message = error.message
    }

    public init(_ error: AttachmentError) {
        self.init(ErrorReport(error))
    }

    public init(code: String, message: String) {
        self.code = code
        self.message = message
    }

    /// Its new URL would make the payload longer than the service takes.
    static func doesNotFit(limit: Int) -> MediumFailure {
        MediumFailure(
            code: "payload_too_large",
            message: "With the new URL the payload would exceed \(limit) bytes. Shorten the payload.")
    }
}
