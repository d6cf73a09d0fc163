/// The API keys of all tenants.
public protocol APIKeyRecords: Sendable {
    /// A new key. The token is shown this once: only its hash is stored.
    func createKey(
        named name: String, for tenant: TenantID, roles: [AccessRole], lasting duration: Duration?
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)

    /// All keys, or a tenant's, newest first.
    func keys(of tenant: TenantID?) async throws(AttachmentError) -> [APIKeyRecord]

    /// Of a tenant's keys, newest first, those behind a cursor of an earlier page.
    func keys(
        of tenant: TenantID, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<APIKeyRecord>

    /// Whether there is any key that is good now.
    func hasKeys() async throws(AttachmentError) -> Bool

    /// Takes a key back, and ends who signed in with it; false where there is none of that id. Idempotent.
    ///
    /// - Parameter tenant: Whose it has to be; nil for anybody's.
    func revokeKey(_ id: String, of tenant: TenantID?) async throws(AttachmentError) -> Bool

    /// A new key with the name, tenant, roles and remaining time of an old one, which stays good for `overlap`; nil
    /// where there is none, or it is good no more.
    ///
    /// - Parameter tenant: As in ``revokeKey(_:of:)``.
    func rotateKey(
        _ id: String, of tenant: TenantID?, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)?

    /// Whom a key stands for right now; nil for a malformed, unknown, expired or revoked one, at the same cost.
    func authenticate(_ key: AccessToken) async throws(AttachmentError) -> APIKeyRecord?
}

extension APIKeyRecords {
    /// Takes anybody's key back.
    public func revokeKey(_ id: String) async throws(AttachmentError) -> Bool { try await revokeKey(id, of: nil) }

    /// A successor of anybody's key.
    public func rotateKey(
        _ id: String, overlap: Duration
    ) async throws(AttachmentError) -> (APIKeyRecord, AccessToken)? {
        try await rotateKey(id, of: nil, overlap: overlap)
    }
}
