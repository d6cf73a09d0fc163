/// Who is signed in to the console. Of codes and cookies nothing but hashes is stored.
public protocol ConsoleSessionRecords: Sendable {
    /// A new code, which is shown this once.
    func newConsoleCode(
        for tenant: TenantID, roles: [AccessRole]
    ) async throws(AttachmentError) -> (ConsoleCode, AccessToken)

    /// Exchanges a code for a session; nil for an unknown, used or expired one.
    func signIn(withCode code: AccessToken) async throws(AttachmentError) -> (ConsoleSession, AccessToken)?

    /// Begins a session of a key; nil where that isn't good any more.
    func signIn(with key: APIKeyRecord) async throws(AttachmentError) -> (ConsoleSession, AccessToken)?

    /// The session of a cookie, where it and its key are good now.
    ///
    /// - Parameter byPerson: Whether somebody did something, rather than a page that refreshes itself: else it isn't kept
    ///   from ending.
    func consoleSession(
        of token: AccessToken, byPerson: Bool
    ) async throws(AttachmentError) -> ConsoleSession?

    /// Ends a session. Idempotent.
    func signOut(_ token: AccessToken) async throws(AttachmentError)
}
