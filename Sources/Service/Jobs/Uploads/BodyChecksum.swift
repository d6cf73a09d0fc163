import Crypto

/// What the body of a request has to come to.
public struct BodyChecksum: Hashable, Sendable {
    public enum Algorithm: String, Hashable, Sendable, CaseIterable {
        case sha1
        case sha256
    }

    public var algorithm: Algorithm
    public var digest: [UInt8]

    public init(_ algorithm: Algorithm, _ digest: [UInt8]) {
        self.algorithm = algorithm
        self.digest = digest
    }

    /// A body that is checked has at most so many bytes: they lie behind the upload until its end is here.
    public static let longestBody: Int64 = 64 << 20

    /// Hashes a body as it comes.
    enum Hasher: Sendable {
        case sha1(Insecure.SHA1)
        case sha256(SHA256)

        init(_ algorithm: Algorithm) {
            switch algorithm {
            case .sha1: self = .sha1(Insecure.SHA1())
            case .sha256: self = .sha256(SHA256())
            }
        }

        mutating func update(_ data: UnsafeRawBufferPointer) {
            switch self {
            case .sha1(var hash):
                unsafe hash.update(bufferPointer: data)
                self = .sha1(hash)
            case .sha256(var hash):
                unsafe hash.update(bufferPointer: data)
                self = .sha256(hash)
            }
        }

        var digest: [UInt8] {
            switch self {
            case .sha1(let hash): Array(hash.finalize())
            case .sha256(let hash): Array(hash.finalize())
            }
        }
    }
}
