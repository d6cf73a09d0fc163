/// A way in which messengers encrypt a file before they hand it around.
public enum EncryptionScheme: String, Hashable, Sendable, Codable, CaseIterable {
    /// Matrix's `EncryptedFile`, `v2`: AES-256-CTR, and SHA-256 of the ciphertext (Client-Server API, section 11.12.1.7).
    case matrix
    /// AES-256-GCM, its tag behind the ciphertext (XEP-0454, OMEMO Media Sharing).
    case aesgcm
    /// AES-256-CBC between its IV and an HMAC-SHA256, and SHA-256 of it all, as Signal's attachments are.
    case signal

    /// Bytes of ciphertext that are taken at the most: the plaintext lies in memory.
    public static let maximumBytes: Int64 = 100_000_000

    /// Bytes of its key; of Signal's, the second half is the HMAC's.
    public var keyBytes: Int {
        switch self {
        case .matrix, .aesgcm: 32
        case .signal: 64
        }
    }

    /// How many bytes an IV may have that stands beside the key; Signal's stands in the ciphertext.
    public var ivBytes: [Int] {
        switch self {
        case .matrix: [16]
        case .aesgcm: [12, 16]
        case .signal: []
        }
    }

    /// Whether a hash of the ciphertext stands beside the key.
    public var hasDigest: Bool { self != .aesgcm }

    /// Whether what is encrypted may be longer than the file, whose length stands beside the key.
    public var isPadded: Bool { self == .signal }

    /// Those by which renditions are encrypted.
    public static let ofRenditions: [EncryptionScheme] = [.matrix, .aesgcm]

    /// Its ciphers, for people.
    public var title: String {
        switch self {
        case .matrix: "Matrix's AES-256-CTR, by its SHA-256"
        case .aesgcm: "AES-256-GCM, by its tag"
        case .signal: "Signal's AES-256-CBC, by its digest and its HMAC"
        }
    }
}

/// Bytes of the hash that ciphertext is compared with: SHA-256's.
public let ciphertextDigestBytes = 32
