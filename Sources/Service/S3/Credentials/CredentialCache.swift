internal import SatchelCore

/// Keeps credentials until five minutes before their end, and has them renewed by one question, whoever waits for it.
actor CredentialCache {
    private let source: any CredentialSource
    private var known: S3Credentials?
    private var renewal: Task<S3Credentials, any Error>?
    /// After a renewal that failed while the old ones were good: not at each request.
    private var nextTry: Instant?

    /// Before the end.
    static let margin: Duration = .seconds(300)
    private static let pause: Duration = .seconds(10)

    init(_ source: any CredentialSource) {
        self.source = source
    }

    /// Credentials that are good at `now`.
    ///
    /// - Throws: `noCredentials`.
    func current(at now: Instant) async throws(S3Error) -> S3Credentials {
        if let known {
            guard let end = known.expiresAt, now + Self.margin >= end else { return known }
            if now < end, let nextTry, now < nextTry { return known }
        }
        let task =
            renewal
            ?? Task { [source] in
                guard let found = try await source.credentials(at: now) else {
                    throw S3Error.noCredentials(
                        reason: "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role")
                }
                return found
            }
        renewal = task
        let result = await task.result
        if renewal == task { renewal = nil }
        switch result {
        case .success(let found):
            known = found
            nextTry = nil
            return found
        case .failure(let error):
            // Good until they end, as long as the place where they come from is away.
            if let known, let end = known.expiresAt, now < end {
                nextTry = now + Self.pause
                return known
            }
            throw S3Error(describing: error, from: "")
        }
    }
}
