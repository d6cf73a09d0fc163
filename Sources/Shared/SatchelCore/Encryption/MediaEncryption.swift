public import FoundationEssentials

/// With what a file is encrypted, and what opens it.
///
/// The key is the only secret that a submission has beside headers for origins: a store keeps it sealed like those. Nothing that prints
/// values shows it.
public struct MediaEncryption: Hashable, Sendable, Codable {
    /// What opens a file.
    public struct Key: Hashable, Sendable, Codable {
        public var key: Data
        public var iv: Data?
        /// SHA-256 of all that is handed around.
        public var sha256: Data?
        /// Bytes of the file, where it is padded.
        public var size: Int64?

        public init(key: Data, iv: Data? = nil, sha256: Data? = nil, size: Int64? = nil) {
            self.key = key
            self.iv = iv
            self.sha256 = sha256
            self.size = size
        }
    }

    public var scheme: EncryptionScheme
    /// Nil where it was forgotten, as it is when a job has come to its end.
    public var key: Key?

    public init(_ scheme: EncryptionScheme, _ key: Key?) {
        self.scheme = scheme
        self.key = key
    }

    /// The same without what opens it.
    public var withoutKey: MediaEncryption { MediaEncryption(scheme, nil) }
}

extension MediaEncryption.Key {
    /// Whether each of its parts is there that the scheme has, in its length, and no other.
    public func fits(_ scheme: EncryptionScheme) -> Bool {
        key.count == scheme.keyBytes
            && (scheme.ivBytes.isEmpty ? iv == nil : iv.map { scheme.ivBytes.contains($0.count) } ?? false)
            && (scheme.hasDigest ? sha256?.count == ciphertextDigestBytes : sha256 == nil)
            && (scheme.isPadded ? size.map { $0 >= 0 } ?? false : size == nil)
    }
}

extension MediaEncryption.Key {
    /// An IV and a key as they stand behind the `#` of an `aesgcm://` URL.
    public var fragment: String { ((iv ?? Data()) + key).hexadecimal }
}

extension MediaEncryption {
    /// Of what is said of a rendition, the text that opens it; nil where there is no key.
    public var secretText: String? {
        switch scheme {
        case .matrix: key?.key.base64URL
        case .aesgcm: key?.fragment
        case .signal: nil
        }
    }
}

extension MediaEncryption.Key: CustomStringConvertible, CustomReflectable {
    public var description: String { "a key" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
