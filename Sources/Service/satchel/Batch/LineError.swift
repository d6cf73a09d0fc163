import SatchelCore

/// The error of a file: that of its attachment, or a failure of the command after the record was stored.
struct LineError: Codable, Sendable {
    /// An ``ErrorCode``, or a code of the command line.
    struct Code: RawRepresentable, Hashable, Sendable, Codable, CodingKeyRepresentable {
        var rawValue: String

        /// The renditions are stored, but could not be written to `--output`.
        static let outputFailed = Code(rawValue: "output_failed")
        /// The original is stored, but `--move` could not delete the source.
        static let removalFailed = Code(rawValue: "removal_failed")

        /// Whether the file is skipped because it is not media.
        var isSkipped: Bool { rawValue == ErrorCode.unrecognizedType.rawValue }
    }

    var code: Code
    var message: String
    @Nullable var unError: Int?
    var retryable: Bool
    @Nullable var cause: FetchCause?

    init(_ report: ErrorReport) {
        code = Code(rawValue: report.code.rawValue)
        message = report.message
        unError = report.unError
        retryable = report.retryable
        cause = report.cause
    }

    /// An error that running the command again may fix.
    init(_ code: Code, message: String) {
        self.code = code
        self.message = message
        unError = nil
        retryable = true
    }
}
