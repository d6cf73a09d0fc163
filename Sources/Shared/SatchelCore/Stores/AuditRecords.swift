/// What was done about access. Written by the store itself, with whatever it tells of.
public protocol AuditRecords: Sendable {
    /// A tenant's entries, newest first, those behind a cursor of an earlier page.
    func audit(
        of tenant: TenantID, where filter: AuditFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AuditEntry>

    /// Deletes entries that are older, at most so many.
    ///
    /// - Returns: How many there were.
    func forgetAudit(olderThan age: Duration, limit: Int) async throws(AttachmentError) -> Int
}
