internal import SatchelCore
internal import AsyncHTTPClient
internal import Crypto
internal import FoundationEssentials
internal import NIOCore
internal import Platform

/// A request for a bucket, to be signed and sent as often as it takes.
struct S3Request: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// - Parameter sha256: Of the region where it is known; else it is read one time more.
        case file(FileRegion, sha256: String?)

        static let none = Body.bytes([])
    }

    /// As people call it: `reading`.
    var operation: String
    var method: String
    /// With the prefix; nil for the bucket itself.
    var key: String?
    var query: [(name: String, value: String)] = []
    var headers: [(name: String, value: String)] = []
    var body = Body.none
}

extension S3Request.Body {
    func digest() async throws(S3Error) -> String {
        switch self {
        case .bytes(let bytes): SHA256.hash(data: bytes).hexadecimal
        case .file(_, let sha256?): sha256
        case .file(let region, nil): try await region.digest()
        }
    }

    /// Nil where there is none.
    var content: HTTPClientRequest.Body? {
        switch self {
        case .bytes(let bytes): bytes.isEmpty ? nil : .bytes(ByteBuffer(bytes: bytes))
        case .file(let region, _) where region.range.isEmpty: nil
        case .file(let region, _): .stream(region, length: .known(Int64(region.range.count)))
        }
    }
}
