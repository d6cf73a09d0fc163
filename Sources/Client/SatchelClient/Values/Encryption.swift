public import Foundation

/// The encryption of a file, with its key.
public enum Encryption: Hashable, Sendable {
    /// Matrix's `EncryptedFile` without its URL: AES-256-CTR.
    case matrix(EncryptedFile)
    /// The fragment of an `aesgcm://` URL (XEP-0454): the IV and the key in hexadecimal.
    case aesgcm(fragment: String)
    /// The format of Signal's attachments. `size` is the file's size in bytes before padding and encryption.
    case signal(key: Data, digest: Data, size: Int64)
    /// A scheme that this library does not know, or a file whose key the service has lost.
    case unknown(scheme: String)
}

/// The key of a Matrix file, with the field names of Matrix.
public struct EncryptedFile: Hashable, Sendable, Codable {
    /// A JSON Web Key.
    public struct Key: Hashable, Sendable, Codable {
        public var kty: String
        public var alg: String
        /// Base64 with the alphabet of URLs, without padding.
        public var k: String
        public var ext: Bool?
        public var keyOps: [String]?

        public init(k: String) {
            kty = "oct"
            alg = "A256CTR"
            self.k = k
            ext = true
            keyOps = ["encrypt", "decrypt"]
        }
    }

    public var v: String?
    public var key: Key
    /// Base64 without padding.
    public var iv: String
    /// Hashes of the ciphertext by name (`sha256`), in base64 without padding.
    public var hashes: [String: String]

    public init(key: Key, iv: String, hashes: [String: String]) {
        v = "v2"
        self.key = key
        self.iv = iv
        self.hashes = hashes
    }
}

extension Encryption: Codable {
    private enum CodingKeys: String, CodingKey {
        case scheme, fragment, key, digest, size
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let scheme = try container.decode(String.self, forKey: .scheme)
        switch scheme {
        case "matrix" where container.contains(.key): self = .matrix(try EncryptedFile(from: decoder))
        case "aesgcm" where container.contains(.fragment):
            self = .aesgcm(fragment: try container.decode(String.self, forKey: .fragment))
        case "signal":
            self = .signal(
                key: try container.decode(Data.self, forKey: .key),
                digest: try container.decode(Data.self, forKey: .digest),
                size: try container.decode(Int64.self, forKey: .size))
        default: self = .unknown(scheme: scheme)
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .matrix(let file):
            try container.encode("matrix", forKey: .scheme)
            try file.encode(to: encoder)
        case .aesgcm(let fragment):
            try container.encode("aesgcm", forKey: .scheme)
            try container.encode(fragment, forKey: .fragment)
        case .signal(let key, let digest, let size):
            try container.encode("signal", forKey: .scheme)
            try container.encode(key, forKey: .key)
            try container.encode(digest, forKey: .digest)
            try container.encode(size, forKey: .size)
        case .unknown(let scheme): try container.encode(scheme, forKey: .scheme)
        }
    }
}
