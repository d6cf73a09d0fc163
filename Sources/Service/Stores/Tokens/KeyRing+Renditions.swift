internal import SatchelCore
internal import Crypto
internal import FoundationEssentials

extension KeyRing {
    func seal(
        _ encryption: MediaEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption {
        do {
            let kid = try current()
            guard let key = renditionKey(kid),
                let box = try AES.GCM.seal(
                    JSONEncoder().encode(encryption.key), using: key, authenticating: Self.context(tenant, sha256)
                ).combined
            else { throw AttachmentError.storeFailed(reason: "the key that seals a rendition's key was removed") }
            return SealedEncryption(scheme: encryption.scheme, kid: kid, box: box)
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .storeFailed(reason: "a rendition's key can't be sealed")
        }
    }

    func unseal(_ encryption: SealedEncryption, of tenant: TenantID, for sha256: String) -> MediaEncryption {
        var key: MediaEncryption.Key?
        if let own = renditionKey(encryption.kid), let box = try? AES.GCM.SealedBox(combined: encryption.box),
            let text = try? AES.GCM.open(box, using: own, authenticating: Self.context(tenant, sha256))
        {
            key = try? JSONDecoder().decode(MediaEncryption.Key.self, from: text)
        }
        return MediaEncryption(encryption.scheme, key)
    }

    /// The same sealed with the current key; nil where that is so, or where the key that sealed it is gone.
    func sealedAnew(
        _ encryption: SealedEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption? {
        let kid: String
        do { kid = try current() } catch { throw .storeFailed(reason: error.description) }
        guard kid != encryption.kid else { return nil }
        let opened = unseal(encryption, of: tenant, for: sha256)
        return opened.key == nil ? nil : try seal(opened, of: tenant, for: sha256)
    }

    private static func context(_ tenant: TenantID, _ sha256: String) -> Data {
        Data("\(tenant.rawValue)\n\(sha256)".utf8)
    }
}
