public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension RecordStore {
    /// Seals a key with the current one, bound to its tenant and its rendition's bytes.
    ///
    /// - Parameter sha256: The rendition's: of the ciphertext.
    /// - Throws: `store_failed`.
    public func seal(
        _ encryption: MediaEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption {
        try keys.seal(encryption, of: tenant, for: sha256)
    }

    /// The encryption of a rendition; without a key where the one that sealed it was lost.
    public func unseal(_ encryption: SealedEncryption, of tenant: TenantID, for sha256: String) -> MediaEncryption {
        keys.unseal(encryption, of: tenant, for: sha256)
    }

    /// Seals some of the keys with the current one that older keys have sealed.
    ///
    /// - Returns: How many; zero where all are.
    public func sealAnew() async throws(AttachmentError) -> Int {
        let current = try currentKey()
        let older = keys.kids.filter { $0 != current }
        return try await write { [keys] work in
            for kid in older {
                var count = 0
                // Done again after an answer that was lost, these are sealed by the current one.
                let rows = try work.run(
                    """
                    SELECT tenant, attachment, role, scheme, key, key_kid, encode(sha256, 'hex') AS hash FROM renditions
                    WHERE key_kid = $1 ORDER BY tenant, attachment, role LIMIT 100 FOR UPDATE SKIP LOCKED
                    """, [.text(kid)])
                for row in rows {
                    guard let sealed = try SealedEncryption(row),
                        let anew = try keys.sealedAnew(
                            sealed, of: try row.value("tenant"), for: row.text("hash"))
                    else { continue }
                    try work.run(
                        """
                        UPDATE renditions SET key = $4, key_kid = $5
                        WHERE tenant = $1 AND attachment = $2::uuid AND role = $3
                        """,
                        [
                            .text(try row.text("tenant")), .text(try row.text("attachment")),
                            .text(try row.text("role")), .bytes(Array(anew.box)), .text(anew.kid),
                        ])
                    count += 1
                }
                // What can't be opened stays as it is, and is asked for once more by each sweep.
                if count > 0 { return count }
            }
            return 0
        }
    }
}
