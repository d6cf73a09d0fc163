import SatchelCore
import Crypto
import Foundation
import Glibc
import TestSupport

@testable import S3

/// A part of the gateway's bucket that no other test uses, and a client for it.
struct TestBucket {
    let gateway: S3Gateway
    let configuration: S3Configuration
    let client: S3Client

    /// - Parameters:
    ///   - port: Of a proxy in front of the gateway.
    ///   - secretKey: Another one than the gateway's.
    ///   - change: What is to be otherwise.
    init(
        at port: Int? = nil, scheme: String = "http", bucket: String = S3Gateway.bucket, secretKey: String? = nil,
        _ change: (inout S3Configuration) -> Void = { _ in },
        clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) throws {
        gateway = try S3Gateway.shared()
        var configuration = try S3Configuration(
            "s3://\(bucket)/\(UUID().uuidString.lowercased())",
            endpoint: "\(scheme)://127.0.0.1:\(port ?? gateway.port)",
            usesPathStyle: true, time: .seconds(240), connectTime: .seconds(60), idleTime: .seconds(60))
        change(&configuration)
        self.configuration = configuration
        client = try S3Client(
            configuration,
            credentials: S3Credentials(accessKey: gateway.accessKey, secretKey: secretKey ?? gateway.secretKey),
            clock: clock)
    }

    func key(_ name: String) -> String { configuration.prefix + name }

    /// The keys of unfinished multipart uploads, of which no store asks.
    func uploads() async throws -> [String] {
        let request = S3Request(
            operation: "listing", method: "GET", key: nil, query: [("prefix", configuration.prefix), ("uploads", "")])
        return try await client.send(request) { answer in
            try await S3Client.document("ListMultipartUploadsResult", in: answer).all("Upload").compactMap {
                $0["Key"]?.text
            }
        }
    }

    func keys() async throws -> [String] {
        try await client.list(configuration.prefix, limit: 100_000).elements.map {
            String($0.key.dropFirst(configuration.prefix.count))
        }
    }
}

extension HashedFile {
    /// Bytes in a file without a name.
    static func holding(_ data: Data, sha256: String? = nil) throws -> HashedFile {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path(percentEncoded: false)
        try data.write(to: URL(filePath: path))
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { throw SystemError("open '\(path)'") }
        return HashedFile(
            ScratchFile(reader: Descriptor(owning: number), path: path), sha256: sha256 ?? data.sha256,
            bytes: Int64(data.count))
    }
}

extension Data {
    /// In lower-case hexadecimal.
    var sha256: String { SHA256.hash(data: self).map { String(format: "%02x", $0) }.joined() }

    /// Bytes of which no two places are alike.
    static func random(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        var data = Data(capacity: count + 8)
        while data.count < count {
            unsafe Swift.withUnsafeBytes(of: generator.next()) { unsafe data.append(contentsOf: $0) }
        }
        return data.prefix(count)
    }
}
