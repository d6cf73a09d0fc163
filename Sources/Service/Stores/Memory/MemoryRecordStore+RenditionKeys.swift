public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func seal(
        _ encryption: MediaEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption {
        try tokens.seal(encryption, of: tenant, for: sha256)
    }

    public func unseal(_ encryption: SealedEncryption, of tenant: TenantID, for sha256: String) -> MediaEncryption {
        tokens.unseal(encryption, of: tenant, for: sha256)
    }

    public func sealAnew() async throws(AttachmentError) -> Int {
        try await write { [tokens] tables, _ in try tables.sealAnew(by: tokens) }
    }
}

extension MemoryTables {
    fileprivate mutating func sealAnew(by ring: KeyRing) throws -> Int {
        var count = 0
        for (place, attachment) in attachments {
            for (role, rendition) in attachment.record.renditions {
                guard let sealed = rendition.encryption,
                    let anew = try ring.sealedAnew(sealed, of: place.tenant, for: rendition.sha256)
                else { continue }
                attachments[place]?.record.renditions[role]?.encryption = anew
                count += 1
            }
        }
        return count
    }

    /// The keys that seal those of renditions.
    var renditionKeys: Set<String> {
        Set(attachments.values.flatMap { $0.record.renditions.values.compactMap(\.encryption?.kid) })
    }
}
