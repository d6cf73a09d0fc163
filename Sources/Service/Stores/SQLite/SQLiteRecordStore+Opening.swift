public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public var revocations: UInt64? { revocationCounter?.value }

    public func stillOpen(_ ids: Set<String>) async throws(AttachmentError) -> [String: Instant] {
        try await read { database, _ in
            var ends: [String: Instant] = [:]
            for id in ids {
                ends[id] = try database.number("SELECT expires_at FROM access WHERE id = ? AND ended_at IS NULL", [id])
                    .map(Instant.init(milliseconds:))
            }
            return ends
        }
    }

    public func open(_ token: AccessToken, role: RenditionRole) async throws(AttachmentError) -> ContentAccess? {
        try await read { [keys] database, now in
            guard let access = try database.access(token, [.lease, .link], keys: keys, at: now),
                access.opens(role),
                let row = try database.row(
                    """
                    SELECT blob, media_type, width, height, duration, scheme, key, key_kid, blobs.sha256, blobs.bytes
                    FROM renditions JOIN blobs ON blobs.name = renditions.blob
                    WHERE renditions.tenant = ? AND renditions.attachment = ? AND renditions.role = ?
                    """, [access.tenant.rawValue, access.attachment.rawValue, role.rawValue])
            else { return nil }
            return ContentAccess(
                id: access.id, tenant: access.tenant, attachment: access.attachment, role: role,
                rendition: try Rendition(row), blob: BlobName(rawValue: row["blob"]), delivery: access.delivery,
                expiresAt: access.expiresAt, at: now)
        }
    }

    public func access(
        openedBy job: JobID, of tenant: TenantID
    ) async throws(AttachmentError) -> [OpenedAccess] {
        try await read { [keys] database, now in
            try database.rows(Database.accessByJob, [tenant.rawValue, job.rawValue, now.milliseconds]).compactMap {
                let access = try AccessEntry($0)
                return keys.token(access.kind.token, id: access.id, kid: access.kid).map { token in
                    OpenedAccess(
                        attachment: access.attachment, id: access.id, kind: access.kind.token,
                        expiresAt: access.expiresAt, token: token)
                }
            }
        }
    }
}

extension Database {
    static let accessByJob = """
        SELECT access.* FROM jobs
            JOIN attachments ON attachments.job = jobs.key
            JOIN access ON access.tenant = attachments.tenant AND access.attachment = attachments.id
        WHERE jobs.tenant = ? AND jobs.id = ? AND by_job = 1 AND ended_at IS NULL AND access.expires_at > ?
        ORDER BY attachments.generation, attachments.ordinal
        """
}
