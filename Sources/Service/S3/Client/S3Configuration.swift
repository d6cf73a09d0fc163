/// A bucket, where it is, and how it is talked to.
public struct S3Configuration: Hashable, Sendable {
    /// How the server encrypts what it keeps.
    public enum Encryption: Hashable, Sendable {
        /// As the bucket says.
        case bucket
        /// With keys of the store (SSE-S3).
        case store
        /// With a key of the key management service (SSE-KMS); nil for the account's own.
        case managed(key: String?)
    }

    public var bucket: String
    /// What all keys begin with: empty, or ending in a slash.
    public var prefix: String
    public var region: String
    /// `https://s3.example.com:9000`; nil for AWS.
    public var endpoint: String?
    /// Whether the bucket is named in the path, else in the host.
    public var usesPathStyle: Bool
    /// A file with certificates in PEM, which alone are trusted; nil for the system's.
    public var certificateAuthorities: String?
    public var encryption: Encryption
    /// `STANDARD_IA`; nil for the bucket's own.
    public var storageClass: String?
    /// At once.
    public var connections: Int
    /// For one request with all its tries; for every piece of a large object.
    public var time: Duration
    /// For a connection; after so long without a byte in either direction, a try has failed.
    public var connectTime: Duration
    public var idleTime: Duration

    /// Where objects are divided, for tests: a larger one is sent in parts, and read in ranges of a part's size.
    var largestPut: Int64 = 64 << 20
    var partSize: Int64 = 8 << 20
    var partsAtOnce = 4
    /// Stands in for the name service.
    var addresses: [String: String] = [:]

    /// - Parameter location: `s3://bucket/prefix`.
    /// - Throws: `invalidSetting`.
    public init(
        _ location: String, region: String = "us-east-1", endpoint: String? = nil, usesPathStyle: Bool = false,
        certificateAuthorities: String? = nil, encryption: Encryption = .bucket, storageClass: String? = nil,
        connections: Int = 64, time: Duration = .seconds(60), connectTime: Duration = .seconds(3),
        idleTime: Duration = .seconds(10)
    ) throws(S3Error) {
        let scheme = "s3://"
        guard location.hasPrefix(scheme) else {
            throw .invalidSetting(name: "blobs", value: location, need: "a bucket is written s3://bucket/prefix")
        }
        let parts = location.dropFirst(scheme.count).split(
            separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        bucket = String(parts[0])
        guard (3...63).contains(bucket.utf8.count), bucket.utf8.allSatisfy(Self.isOfBucketName),
            let first = bucket.utf8.first, let last = bucket.utf8.last, ![first, last].contains(UInt8(ascii: "-")),
            ![first, last].contains(UInt8(ascii: ".")), !bucket.contains("..")
        else {
            throw .invalidSetting(
                name: "blobs", value: location,
                need: "a bucket's name has 3 to 63 lower-case letters, digits, hyphens and dots")
        }
        let names = parts.dropFirst().flatMap { $0.split(separator: "/") }
        guard names.allSatisfy({ $0.utf8.allSatisfy(Self.isOfPrefix) && $0 != "." && $0 != ".." }) else {
            throw .invalidSetting(
                name: "blobs", value: location, need: "a prefix has letters, digits and -._ between its slashes")
        }
        prefix = names.map { $0 + "/" }.joined()
        self.region = region
        self.endpoint = endpoint
        self.usesPathStyle = usesPathStyle
        self.certificateAuthorities = certificateAuthorities
        self.encryption = encryption
        self.storageClass = storageClass
        self.connections = connections
        self.time = time
        self.connectTime = connectTime
        self.idleTime = idleTime
    }

    /// "Bucket naming rules" of the Amazon S3 User Guide.
    private static func isOfBucketName(_ byte: UInt8) -> Bool {
        isOfPrefix(byte) && byte != UInt8(ascii: "_") && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    /// What no server or proxy writes in another way.
    private static func isOfPrefix(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._".utf8.contains(byte)
        }
    }

    /// Those of a new object.
    func headers(ofType type: String?) -> [(name: String, value: String)] {
        (type.map { [(name: "Content-Type", value: $0)] } ?? []) + storageHeaders
    }

    /// The headers by which a new object is kept as is wished.
    var storageHeaders: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        switch encryption {
        case .bucket: break
        case .store: headers.append(("X-Amz-Server-Side-Encryption", "AES256"))
        case .managed(let key):
            headers.append(("X-Amz-Server-Side-Encryption", "aws:kms"))
            if let key { headers.append(("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id", key)) }
        }
        if let storageClass { headers.append(("X-Amz-Storage-Class", storageClass)) }
        return headers
    }
}
