/// Which uploads are ended because nobody goes on with them.
public enum UploadEnding: Hashable, Sendable {
    /// Those whose time is over.
    case due
    /// Those that got nothing for so long, the longest idle first.
    case idle(Duration)
}

/// Uploads: their terms, how much of each has arrived, and what became of it. What a step comes to is decided by
/// ``UploadDecision``, the same for every store, and written in one transaction that has the upload locked.
///
/// Bytes come first: they are durable before it is recorded that they are there.
public protocol UploadRecords: Sendable {
    /// Opens an upload.
    ///
    /// - Throws: `quota_exceeded` over the tenant's open uploads or their bytes.
    func add(_ upload: UploadRecord, within quotas: Quotas) async throws(AttachmentError)

    func upload(_ id: UploadID, of tenant: TenantID) async throws(AttachmentError) -> UploadRecord?

    /// What an upload's token opens right now; nil for a malformed, unknown, expired or ended one, at the same cost.
    func upload(of token: AccessToken) async throws(AttachmentError) -> UploadRecord?

    /// A tenant's uploads, newest first.
    func uploads(
        of tenant: TenantID, in state: UploadState?, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<UploadRecord>

    /// Takes a step: see ``UploadDecision/change(_:by:call:at:)``.
    ///
    /// - Returns: Nil where the tenant has no such upload.
    /// - Throws: `quota_exceeded` for bytes over the tenant's quota.
    func change(
        _ id: UploadID, of tenant: TenantID, by step: UploadStep, within quotas: Quotas
    ) async throws(AttachmentError) -> Result<UploadChange, UploadRefusal>?

    /// Ends uploads, and has their bytes removed.
    ///
    /// - Returns: How many there were, `limit` at most.
    func endUploads(_ ending: UploadEnding, limit: Int) async throws(AttachmentError) -> Int

    /// What a tenant's uploads take up; nil for all tenants'.
    func uploadUsage(of tenant: TenantID?) async throws(AttachmentError) -> UploadUsage
}
