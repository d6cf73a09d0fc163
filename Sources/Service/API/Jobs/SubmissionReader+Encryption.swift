import SatchelCore
import FoundationEssentials
import Ingest
import Payloads

extension SubmissionReader {
    /// With what an attachment's source is encrypted, as it says itself or as its URL does; nil where it isn't.
    func encryption(_ attachment: FieldReader) -> MediaEncryption? {
        // What is wrong with a URL was told where it was read.
        let ofURL = attachment.value("url")?.text.flatMap { try? AESGCMURL($0) }?.encryption
        if ofURL != nil, attachment.value("encryption") != nil {
            attachment.addError("encryption", "Must be omitted, because an aesgcm URL contains its key.")
        }
        guard let reader = attachment.object("encryption", known: nil) else { return ofURL }
        guard reader.value("scheme") != nil else {
            reader.addError("scheme", "Required. Must be one of \(Self.schemes).")
            return nil
        }
        guard let scheme = reader.choice("scheme", EncryptionScheme.self) else { return nil }
        reader.refuseOthers(than: ["scheme"] + scheme.fields)
        let missing = scheme.fields.filter { $0 != "v" && reader.value($0) == nil }
        for field in missing { reader.addError(field, "Required for this scheme.") }
        guard missing.isEmpty else { return nil }
        guard let key = scheme.key(reader) else { return nil }
        return MediaEncryption(scheme, key)
    }

    private static var schemes: String { EncryptionScheme.allCases.map(\.rawValue).joined(separator: ", ") }
}

extension EncryptionScheme {
    /// What a source says of it beside its name. Of Matrix's, `v` may be left out.
    fileprivate var fields: [String] {
        switch self {
        case .matrix: ["v", "key", "iv", "hashes"]
        case .aesgcm: ["fragment"]
        case .signal: ["key", "digest", "size"]
        }
    }

    /// Nil where something was wrong.
    fileprivate func key(_ reader: FieldReader) -> MediaEncryption.Key? {
        switch self {
        case .matrix:
            let version = reader.string("v", bytes: 1...16)
            if let version, version != "v2" { reader.addError("v", "Must be 'v2'.") }
            let key = webKey(reader)
            let iv = reader.base64("iv", bytes: 16)
            let hashes = reader.object("hashes", known: nil)
            if let hashes, hashes.value("sha256") == nil {
                hashes.addError("sha256", "Required: the SHA-256 of the ciphertext.")
            }
            let sha256 = hashes?.base64("sha256", bytes: ciphertextDigestBytes)
            guard version ?? "v2" == "v2", let key, let iv, let sha256 else { return nil }
            return MediaEncryption.Key(key: key, iv: iv, sha256: sha256)
        case .aesgcm:
            guard let text = reader.string("fragment", bytes: 1...256) else { return nil }
            let key = MediaEncryption.Key(fragment: text)
            if key == nil {
                reader.addError(
                    "fragment", "Must be the IV (12 or 16 bytes) followed by the key (32 bytes), in hexadecimal.")
            }
            return key
        case .signal:
            let key = reader.base64("key", bytes: keyBytes)
            let digest = reader.base64("digest", bytes: ciphertextDigestBytes)
            let size = reader.integer("size", in: 0...Int(Self.maximumBytes))
            guard let key, let digest, let size else { return nil }
            return MediaEncryption.Key(key: key, sha256: digest, size: Int64(size))
        }
    }

    /// The key of a JSON Web Key (RFC 7517) as Matrix has it; whatever else it says is left alone.
    private func webKey(_ reader: FieldReader) -> Data? {
        guard let key = reader.object("key", known: nil) else { return nil }
        for (field, value) in [("kty", "oct"), ("alg", "A256CTR")]
        where key.value(field) != nil && key.string(field) != value {
            key.addError(field, "Must be '\(value)'.")
            return nil
        }
        guard key.value("k") != nil else {
            key.addError("k", "Required: the key in the JSON Web Key.")
            return nil
        }
        return key.base64("k", bytes: keyBytes)
    }
}

extension FieldReader {
    /// Bytes in base64 of either alphabet. What is wrong is told without them.
    fileprivate func base64(_ field: String, bytes: Int) -> Data? {
        guard let text = string(field) else { return nil }
        guard let data = Data(anyBase64: text), data.count == bytes else {
            addError(field, "Must be \(bytes) bytes in base64.")
            return nil
        }
        return data
    }
}
