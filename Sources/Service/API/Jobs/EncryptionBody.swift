import SatchelCore
import FoundationEssentials
import Ingest
import Payloads

/// With what a rendition is encrypted, as the API shows it: in the words in which a source says it.
enum EncryptionBody: Encodable {
    /// Matrix's `EncryptedFile`, but for its URL.
    case matrix(MediaEncryption.Key)
    /// What stands behind the `#` of an `aesgcm://` URL.
    case aesgcm(MediaEncryption.Key)
    /// The key was lost with the one that sealed it.
    case lost(EncryptionScheme)

    init(_ encryption: MediaEncryption) {
        switch (encryption.scheme, encryption.key) {
        case (.matrix, let key?): self = .matrix(key)
        case (.aesgcm, let key?): self = .aesgcm(key)
        case (let scheme, _): self = .lost(scheme)
        }
    }

    private struct Matrix: Encodable {
        struct WebKey: Encodable {
            var kty = "oct"
            var alg = "A256CTR"
            var ext = true
            var keyOps = ["encrypt", "decrypt"]
            var k: String
        }

        var scheme = EncryptionScheme.matrix
        var v = "v2"
        var key: WebKey
        var iv: String
        var hashes: [String: String]
    }

    private struct Fragment: Encodable {
        var scheme = EncryptionScheme.aesgcm
        var fragment: String
    }

    private struct Lost: Encodable {
        var scheme: EncryptionScheme
        var lost = true
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .matrix(let key):
            try Matrix(
                key: .init(k: key.key.base64URL), iv: (key.iv ?? Data()).unpaddedBase64,
                hashes: ["sha256": (key.sha256 ?? Data()).unpaddedBase64]
            ).encode(to: encoder)
        case .aesgcm(let key): try Fragment(fragment: key.fragment).encode(to: encoder)
        case .lost(let scheme): try Lost(scheme: scheme).encode(to: encoder)
        }
    }

    /// The same for a payload; nil where it opens nothing.
    var json: JSONValue? {
        if case .lost = self { return nil }
        return (try? JSON.encode(self)).flatMap { try? JSONDocument.read(Array($0), .passedOn).root }
    }
}

extension Service {
    /// With what a rendition of a tenant's is encrypted; nil where it isn't.
    func encryption(of rendition: Rendition, _ tenant: TenantID) -> EncryptionBody? {
        rendition.encryption.map { EncryptionBody(records.unseal($0, of: tenant, for: rendition.sha256)) }
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
