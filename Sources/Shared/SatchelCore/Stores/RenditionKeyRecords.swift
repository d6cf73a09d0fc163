/// Keys of renditions that are kept encrypted.
public protocol RenditionKeyRecords: Sendable {
    /// Seals a key with the current one, bound to its tenant and its rendition's bytes.
    ///
    /// - Parameter sha256: The rendition's: of the ciphertext.
    /// - Throws: `store_failed`.
    func seal(
        _ encryption: MediaEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption

    /// With what a rendition is encrypted; without a key where the one that sealed it was lost.
    func unseal(_ encryption: SealedEncryption, of tenant: TenantID, for sha256: String) -> MediaEncryption

    /// Seals some of the keys with the current one that older keys have sealed.
    ///
    /// - Returns: How many; zero where all are.
    func sealAnew() async throws(AttachmentError) -> Int
}
