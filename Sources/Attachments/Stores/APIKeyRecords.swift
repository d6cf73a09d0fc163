/// The API keys of all tenants.
public protocol APIKeyRecords: Sendable {
    /// A new key. The token is shown this once: only its hash is stored.
    func createKey(
        named name: String, for tenant: TenantID, roles: [AccessRole], lasting duration: Duration?
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)

    /// All keys, or a tenant's, newest first.
    func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord]

    /// Whether there is any key that is good now.
    func hasKeys() async throws(AttachmentError) -> Bool

    /// Takes a key back; false where there is none of that id. Idempotent.
    func revokeKey(_ id: String) async throws(AttachmentError) -> Bool

    /// A new key with the name, tenant, roles and remaining time of an old one, which stays good for `overlap`; nil
    /// where there is none, or it is good no more.
    func rotateKey(
        _ id: String, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)?

    /// Whom a key stands for right now; nil for a malformed, unknown, expired or revoked one, at the same cost.
    func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord?
}
