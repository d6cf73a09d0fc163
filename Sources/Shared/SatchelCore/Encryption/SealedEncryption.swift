public import FoundationEssentials

/// With what a rendition is encrypted, as records have it: the key is sealed with one of the keys that lie outside of the
/// store.
public struct SealedEncryption: Hashable, Sendable, Codable {
    public var scheme: EncryptionScheme
    /// Names the key that seals it.
    public var kid: String
    public var box: Data

    public init(scheme: EncryptionScheme, kid: String, box: Data) {
        self.scheme = scheme
        self.kid = kid
        self.box = box
    }
}
