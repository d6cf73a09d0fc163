public import SatchelCore
import FoundationEssentials
import Platform

/// A URL of a file that is encrypted by XEP-0454: `aesgcm://host/path#`, then the IV (12 or 16 bytes) and the key
/// (32) in hexadecimal. The file is fetched by `https`, and nobody is told what stands behind `#`.
public struct AESGCMURL: Hashable, Sendable {
    public static let scheme = "aesgcm"

    /// Where the ciphertext is.
    public var url: String
    public var encryption: MediaEncryption

    /// Nil where it has another scheme.
    ///
    /// - Throws: `invalid_source`, saying what is wrong without what is secret.
    public init?(_ text: String) throws(AttachmentError) {
        guard let colon = text.firstIndex(of: ":"), text[..<colon].lowercased() == Self.scheme else { return nil }
        guard let hash = text.firstIndex(of: "#"), let key = MediaEncryption.Key(fragment: text[hash...].dropFirst())
        else {
            throw .invalidSource(
                reason: "an aesgcm URL must end in '#', the IV (12 or 16 bytes) and the key (32 bytes), in hexadecimal")
        }
        url = try FetchURL("https" + text[colon..<hash]).text
        encryption = MediaEncryption(.aesgcm, key)
    }
}

extension MediaEncryption.Key {
    /// What stands behind `#` in such a URL; nil where it is no IV and key.
    public init?(fragment: some StringProtocol) {
        guard let bytes = Data(hexadecimal: fragment) else { return nil }
        self.init(key: Data(bytes.suffix(EncryptionScheme.aesgcm.keyBytes)), iv: Data(bytes.dropLast(32)))
        guard fits(.aesgcm) else { return nil }
    }
}
