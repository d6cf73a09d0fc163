import SatchelCore

/// Why a file's line is no success: its attachment's error, or what the command could not do once it was recorded.
struct LineError: Codable, Sendable {
    /// An ``ErrorCode``, or one of the command line's own.
    struct Code: RawRepresentable, Hashable, Sendable, Codable, CodingKeyRepresentable {
        var rawValue: String

        /// The renditions are in the store; what `--output` asks for could not be written.
        static let outputFailed = Code(rawValue: "output_failed")
        /// The original is in the store; `--move` could not remove the source.
        static let removalFailed = Code(rawValue: "removal_failed")

        /// What is no media is passed over: a directory of pictures may hold a text.
        var isSkipped: Bool { rawValue == ErrorCode.unrecognizedType.rawValue }
    }

    var code: Code
    var message: String
    @Nullable var unError: Int?
    var retryable: Bool

    init(_ report: ErrorReport) {
        code = Code(rawValue: report.code.rawValue)
        message = report.message
        unError = report.unError
        retryable = report.retryable
    }

    /// What the same command would try again.
    init(_ code: Code, message: String) {
        self.code = code
        self.message = message
        unError = nil
        retryable = true
    }
}
