public import SatchelCore

extension FailureGroup {
    /// Failures with one code and cause as the API and the command line show them. Message and ``ErrorReport/retryable`` are
    /// the latest one's.
    public var shown: JSONFields {
        [
            "code": code, "cause": error.cause, "count": count, "retryable": error.retryable,
            "message": error.message, "firstAt": firstAt, "lastAt": lastAt, "kinds": kinds, "jobs": jobs,
        ]
    }
}
