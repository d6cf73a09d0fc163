/// What is known of a tenant as a whole.
public protocol TenantRecords: Sendable {
    /// What the secrets of its webhooks are derived with, as far as they are good now; the current one first.
    func signingNumbers(of tenant: TenantID) async throws(AttachmentError) -> [SigningNumber]

    /// Puts another in front; what was good stays so for `overlap`.
    ///
    /// - Returns: Those that are good now.
    /// - Throws: `quota_exceeded` where too many would be good at once.
    func rotateSigningNumber(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningNumber]

    /// Begins to remove a tenant: in one transaction all that opens something ends, and what is to happen is called off: its
    /// keys, grants, leases, links, tickets, sessions and uploads, its jobs, firings and calls. Idempotent.
    func beginRemoval(of tenant: TenantID) async throws(AttachmentError)

    /// Removes a part of what is kept of a tenant whose removal has begun, at most so many rows of a kind with their bytes.
    ///
    /// - Returns: Whether that was all: then nothing is known of the tenant.
    func removePart(of tenant: TenantID, limit: Int) async throws(AttachmentError) -> Bool

    /// Those whose removal has begun and isn't over.
    func tenantsInRemoval() async throws(AttachmentError) -> [TenantID]
}
