import SatchelCore
internal import Stores
import FoundationEssentials
import Ingest
import Payloads

extension MediaEncryption {
    /// With what a rendition is encrypted, in the words in which a source says it; nil where its key was lost.
    fileprivate var words: JSONFields? {
        switch (scheme, key) {
        // Matrix's `EncryptedFile`, but for its URL.
        case (.matrix, let key?):
            let webKey: JSONFields = [
                "kty": "oct", "alg": "A256CTR", "ext": true, "keyOps": ["encrypt", "decrypt"],
                "k": key.key.base64URL,
            ]
            return [
                "scheme": scheme, "v": "v2", "key": webKey, "iv": (key.iv ?? Data()).unpaddedBase64,
                "hashes": ["sha256": (key.sha256 ?? Data()).unpaddedBase64],
            ]
        // The fragment of an `aesgcm://` URL.
        case (.aesgcm, let key?): return ["scheme": scheme, "fragment": key.fragment]
        default: return nil
        }
    }
}

extension Service {
    /// With what a rendition of a tenant's is encrypted, as the API shows it; nil where it isn't.
    func encryption(of rendition: Rendition, _ tenant: TenantID) -> JSONFields? {
        rendition.encryption.map {
            records.unseal($0, of: tenant, for: rendition.sha256).words ?? ["scheme": $0.scheme, "lost": true]
        }
    }

    /// The same for a payload; nil also where it opens nothing.
    func payloadEncryption(of rendition: Rendition, _ tenant: TenantID) -> JSONValue? {
        rendition.encryption.flatMap { records.unseal($0, of: tenant, for: rendition.sha256).words }
            .map { JSONValue(encoding: $0) }
    }

    /// What opens the renditions of an attachment that are encrypted, where a link to it stands in a text.
    func keys(of attachment: AttachmentRecord, by link: String) -> [RenditionKeyPlace: String] {
        attachment.renditions.reduce(into: [:]) { keys, entry in
            guard let sealed = entry.value.encryption else { return }
            keys[RenditionKeyPlace(link: link, role: entry.key)] =
                records.unseal(sealed, of: attachment.tenant, for: entry.value.sha256).secretText
        }
    }
}
