public import SatchelCore

/// Failures with one code and cause as the API and the command line show them.
public struct FailureBody: Encodable {
    var code: ErrorCode
    @Nullable var cause: FetchCause?
    var count: Int
    /// Whether the latest could have come to something else when tried again.
    var retryable: Bool
    /// Of the latest.
    var message: String
    var firstAt: Instant
    var lastAt: Instant
    var kinds: [MediaKind]
    var jobs: [JobID]

    public init(_ group: FailureGroup) {
        code = group.code
        cause = group.error.cause
        count = group.count
        retryable = group.error.retryable
        message = group.error.message
        firstAt = group.firstAt
        lastAt = group.lastAt
        kinds = group.kinds
        jobs = group.jobs
    }
}
