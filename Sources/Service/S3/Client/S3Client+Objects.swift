internal import AsyncHTTPClient
public import SatchelCore
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1

/// What a bucket knows of an object without its bytes.
public struct S3Object: Hashable, Sendable {
    /// With the prefix of the configuration.
    public var key: String
    public var bytes: Int64
    /// By the server's clock.
    public var modifiedAt: Instant?
    /// Another one for other bytes, in quotes; empty where the server gives none.
    public var etag: String

    public init(key: String, bytes: Int64, modifiedAt: Instant?, etag: String = "") {
        self.key = key
        self.bytes = bytes
        self.modifiedAt = modifiedAt
        self.etag = etag
    }
}

extension S3Client {
    /// Keeps bytes under a key, whole or not at all.
    public func put(_ bytes: [UInt8], as key: String) async throws(S3Error) {
        try await put(.bytes(bytes), as: key)
    }

    /// Keeps a file under a key, whole or not at all: by one request up to 64 MiB, else in parts of 8 MiB, four at once.
    ///
    /// - Parameter type: What whoever reads the object is told that it is; nil for nothing.
    /// - Throws: `hashMismatch` where the file's bytes aren't those of its hash, which the server compares where there is
    ///   one request.
    public func put(_ file: HashedFile, as key: String, type: String? = nil) async throws(S3Error) {
        guard file.bytes <= configuration.largestPut else { return try await putParts(of: file, as: key, type: type) }
        let region = FileRegion(file: file.file, range: 0..<file.bytes)
        try await put(.file(region, sha256: file.sha256.isEmpty ? nil : file.sha256), as: key, type: type)
    }

    /// Keeps bytes of a file under a key, by one request.
    func put(_ region: FileRegion, as key: String) async throws(S3Error) {
        try await put(.file(region, sha256: nil), as: key)
    }

    private func put(_ body: S3Request.Body, as key: String, type: String? = nil) async throws(S3Error) {
        let request = S3Request(
            operation: "writing", method: "PUT", key: key, headers: configuration.headers(ofType: type), body: body)
        try await send(request) { answer in _ = try await Self.body(of: answer, atMost: 64 << 10) }
    }

    /// These bytes of an object: all of the range, unless the object ends before.
    ///
    /// - Throws: `noSuchObject`.
    public func get(
        _ key: String, version: String? = nil, _ range: Range<Int64>
    ) async throws(S3Error) -> [UInt8] {
        // An empty range has no name in HTTP.
        guard !range.isEmpty else { return [] }
        do {
            return try await send(reading(key, version: version, range)) { answer in
                guard answer.status == .partialContent else {
                    throw S3Error.malformedAnswer(reason: "it isn't the range that was asked for")
                }
                let part = try ContentRange(answer, within: range)
                let bytes = try await Self.body(of: answer, atMost: range.count)
                guard bytes.count == part.range.count else { throw S3Error.brokenConnection(host: "") }
                return bytes
            }
        } catch .refused(status: 416, _) {
            return []
        }
    }

    /// - Parameters:
    ///   - etag: Of the only state of the object that is wanted; another is refused with 412.
    ///   - version: One that the bucket kept, in the place of the newest.
    func reading(
        _ key: String, version: String? = nil, _ range: Range<Int64>, of etag: String? = nil
    ) -> S3Request {
        var headers = [(name: "Range", value: "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        if let etag { headers.append((name: "If-Match", value: etag)) }
        return S3Request(
            operation: "reading", method: "GET", key: key, query: version.map { [("versionId", $0)] } ?? [],
            headers: headers)
    }

    /// What the bucket knows of an object.
    ///
    /// - Throws: `noSuchObject`.
    public func head(_ key: String) async throws(S3Error) -> S3Object {
        try await send(S3Request(operation: "reading", method: "HEAD", key: key)) { answer in
            guard let bytes = answer.headers.first(name: "Content-Length").flatMap({ Int64($0) }), bytes >= 0 else {
                throw S3Error.malformedAnswer(reason: "an object has no length")
            }
            let date = answer.headers.first(name: "Last-Modified").flatMap(Instant.init(httpDate:))
            return S3Object(
                key: key, bytes: bytes, modifiedAt: date, etag: answer.headers.first(name: "ETag") ?? "")
        }
    }

    /// Removes an object. A key that isn't there is no error.
    public func delete(_ key: String) async throws(S3Error) {
        do {
            try await send(S3Request(operation: "deleting", method: "DELETE", key: key)) { answer in
                _ = try await Self.body(of: answer, atMost: 64 << 10)
            }
        } catch .noSuchObject {
            return
        }
    }

    /// Removes objects, 1,000 a request. Keys that aren't there are no error.
    ///
    /// - Parameter keys: Of characters that XML can write.
    /// - Throws: Also where some were removed.
    public func delete(_ keys: [String]) async throws(S3Error) {
        var rest = keys[...]
        while !rest.isEmpty {
            try await deleteTogether(rest.prefix(1000))
            rest = rest.dropFirst(1000)
        }
    }

    private func deleteTogether(_ keys: ArraySlice<String>) async throws(S3Error) {
        let objects = keys.map { "<Object><Key>\(XMLTree.escaped($0))</Key></Object>" }.joined()
        let body = Array(
            "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>\(objects)</Delete>".utf8)
        let request = S3Request(
            operation: "deleting", method: "POST", key: nil, query: [("delete", "")],
            // The one operation that wants a checksum of its own beside the signed hash.
            headers: [("Content-Type", "application/xml"), ("Content-MD5", body.base64MD5)], body: .bytes(body))
        let failure = try await send(request) { answer in
            try await Self.document("DeleteResult", in: answer, atMost: 8 << 20).all("Error")
                .map { $0["Code"]?.text ?? "" }.first { $0 != "NoSuchKey" }
        }
        switch failure {
        case nil: return
        case "AccessDenied": throw .accessDenied(operation: "deleting")
        case "InternalError", "SlowDown", "ServiceUnavailable": throw .unavailable(status: 200, code: failure ?? "")
        case let code?: throw .refused(status: 200, code: code)
        }
    }

    /// Gives an object's bytes one more key, without their passing through this machine.
    ///
    /// - Parameter version: As a list of versions has it; nil for the latest.
    /// - Throws: `noSuchObject`; `refused` for one of more than 5 GiB, which no request copies.
    public func copy(_ key: String, version: String? = nil, to new: String) async throws(S3Error) {
        let source =
            SigV4.encoded("/\(configuration.bucket)/\(key)", keeping: "/")
            + (version.map { "?versionId=" + SigV4.encoded($0, keeping: "") } ?? "")
        let request = S3Request(
            operation: "copying", method: "PUT", key: new,
            headers: [(name: "X-Amz-Copy-Source", value: source)] + configuration.storageHeaders)
        try await send(request) { answer in _ = try await Self.document("CopyObjectResult", in: answer) }
    }

    /// Path and query of a URL by which anybody reads an object for a while, beneath the server's own.
    ///
    /// - Parameter query: What the answer is to say otherwise.
    public func presignedTarget(
        of key: String, for duration: Duration, query: [(name: String, value: String)] = []
    ) async throws(S3Error) -> String {
        try await signer().presigned(
            signedPart(of: S3Request(operation: "reading", method: "GET", key: key, query: query)), for: duration,
            at: now)
    }

    /// A URL by which anybody reads an object for a while.
    ///
    /// - Parameter duration: At most a week, or what the credentials last.
    public func presignedURL(
        of key: String, for duration: Duration, query: [(name: String, value: String)] = []
    ) async throws(S3Error) -> String {
        "\(address.scheme)://\(address.authority)" + (try await presignedTarget(of: key, for: duration, query: query))
    }
}

/// The part of an object that an answer brings.
struct ContentRange: Hashable, Sendable {
    var range: Range<Int64>
    /// Of the whole object.
    var total: Int64

    /// Reads `bytes 0-499/1234` (RFC 9110, section 14.4), which has to be what is there of the range that was asked for.
    init(_ answer: HTTPClientResponse, within wanted: Range<Int64>) throws(S3Error) {
        let text = answer.headers.first(name: "Content-Range") ?? ""
        let parts = text.split(separator: " ").last?.split { $0 == "-" || $0 == "/" }.map { Int64($0) } ?? []
        guard text.hasPrefix("bytes "), parts.count == 3, let first = parts[0], let last = parts[1],
            let total = parts[2],
            first == wanted.lowerBound, first <= last, last < total, last == min(wanted.upperBound, total) - 1
        else { throw .malformedAnswer(reason: "it isn't the range that was asked for") }
        range = first..<last + 1
        self.total = total
    }
}
