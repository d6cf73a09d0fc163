public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func seal(
        _ encryption: MediaEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption {
        try keys.seal(encryption, of: tenant, for: sha256)
    }

    public func unseal(_ encryption: SealedEncryption, of tenant: TenantID, for sha256: String) -> MediaEncryption {
        keys.unseal(encryption, of: tenant, for: sha256)
    }

    public func sealAnew() async throws(AttachmentError) -> Int {
        let current = try currentKey()
        let older = keys.kids.filter { $0 != current }
        return try await write { [keys] database, _ in
            for kid in older {
                var count = 0
                let rows = try database.rows(Self.sealedBy, [kid])
                for row in rows {
                    let tenant: String = row["tenant"]
                    guard let sealed = SealedEncryption(row),
                        let anew = try keys.sealedAnew(sealed, of: TenantID(rawValue: tenant), for: row["sha256"])
                    else { continue }
                    try database.run(
                        "UPDATE renditions SET key = ?, key_kid = ? WHERE tenant = ? AND attachment = ? AND role = ?",
                        [anew.box, anew.kid, tenant, row["attachment"] as String, row["role"] as String])
                    count += 1
                }
                // What can't be opened stays as it is, and is asked for once more by each sweep.
                if count > 0 { return count }
            }
            return 0
        }
    }

    private static let sealedBy = """
        SELECT renditions.tenant, attachment, role, scheme, key, key_kid, sha256
        FROM renditions JOIN blobs ON blobs.name = renditions.blob
        WHERE key_kid = ? LIMIT 500
        """
}
