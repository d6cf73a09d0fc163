public import SatchelCore

/// A place where credentials may come from.
public protocol CredentialSource: Sendable {
    /// - Returns: Nil where nothing says that there are any.
    /// - Throws: `noCredentials` where something does, and they can't be had.
    func credentials(at now: Instant) async throws(S3Error) -> S3Credentials?
}

extension S3Credentials: CredentialSource {
    public func credentials(at now: Instant) async throws(S3Error) -> S3Credentials? { self }
}
