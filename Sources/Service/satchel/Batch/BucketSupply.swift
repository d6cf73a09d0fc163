import SatchelCore
import CodecPool
import Foundation
import Ingest
import S3

/// The objects of a batch: those under a prefix of a bucket, in the byte order of their keys.
struct BucketSupply: SourceSupply {
    let client: S3Client
    let location: BucketLocation
    let decoderSet: DecoderSet
    private let filter: PathFilter
    /// Satchel's own objects in the bucket.
    private let leavingOut: [BucketLocation]
    private let shard: Shard?

    /// Lists the bucket once, so that problems are reported now.
    ///
    /// - Throws: ``CommandFailure`` if the bucket can't be read, if the prefix has no objects, or if outputs would be sources.
    init(_ location: BucketLocation, _ tree: TreeOptions, shard: Shard? = nil) async throws {
        self.location = location
        filter = PathFilter(include: tree.include.all(), exclude: tree.exclude.all())
        self.shard = shard
        let output = tree.output.flatMap(BucketLocation.init)
        if let output, output.contains(location) {
            throw CommandFailure(
                "--output '\(output)' is or contains the source '\(location)'. Choose a prefix outside the sources.",
                status: .usage)
        }
        leavingOut = [StoreOptions.configured.blobs.flatMap(BucketLocation.init), output].compactMap(\.self)
            .filter { location.contains($0) && $0 != location }
        client = try location.client()
        let first: Page<S3Object>
        do throws(S3Error) { first = try await client.list(location.prefix, limit: 10) } catch {
            throw location.failure(error)
        }
        if first.elements.isEmpty {
            throw CommandFailure("there are no objects under '\(location)'. Correct the prefix.", status: .usage)
        }
        let name = first.elements.map { Self.name(of: $0.key) }.first { $0.contains(".") }
        decoderSet = name.map { DecoderSet(declaredType: nil, name: $0) } ?? .common
    }

    func forEach(_ body: (FoundEntry) async throws -> Void) async throws {
        try await forEachPage(from: nil) { page in
            for entry in page.entries {
                try Task.checkCancellation()
                try await body(entry)
            }
            return true
        }
    }

    /// Positions are keys as JSON, because keys may contain characters that records can't.
    func forEachPage(from position: String?, _ body: (FoundPage) async throws -> Bool) async throws {
        var page = FoundPage(entries: [], start: position, end: position, isFirst: position == nil, isLast: false)
        while !page.isLast {
            let last = try page.start.map { try JSON.decode([String].self, from: Data($0.utf8)) }?.first
            let part: Page<S3Object>
            do throws(S3Error) {
                part = try await client.list(location.prefix, after: last, limit: FoundPage.size)
            } catch {
                if Task.isCancelled { throw CancellationError() }
                throw location.failure(error)
            }
            page.entries = part.elements.compactMap(entry)
            page.isLast = part.next == nil
            page.end = try part.elements.last.map { try JSON.text([$0.key]) } ?? page.start
            guard try await body(page) else { return }
            page = FoundPage(entries: [], start: page.end, end: page.end, isFirst: false, isLast: page.isLast)
        }
    }

    /// Returns `nil` for an object to leave out, such as the empty objects ending in a slash that stand for directories.
    ///
    /// Keys are compared by bytes, because a combining mark after a slash would form one character with it.
    private func entry(_ object: S3Object) -> FoundEntry? {
        let key = Data(object.key.utf8)
        if key.last == Self.slash, object.bytes == 0 { return nil }
        if leavingOut.contains(where: { $0.bucket == location.bucket && key.starts(with: $0.prefix.utf8) }) {
            return nil
        }
        let relative = Data(key.dropFirst(location.prefix.utf8.count))
        let shown = relative.isEmpty ? key : relative
        guard filter.accepts(file: shown), shard?.contains(shown) ?? true else { return nil }
        return .source(
            FoundSource(
                location: .object(
                    bucket: location.bucket, key: object.key,
                    state: ObjectState(etag: object.etag, bytes: object.bytes)),
                bytes: object.bytes, name: Self.name(of: object.key), shown: shown,
                identity: Data("s3://\(location.bucket)/".utf8) + key))
    }

    private static let slash = UInt8(ascii: "/")

    /// The name of an object, for messages.
    private static func name(of key: String) -> String {
        let key = Data(key.utf8)
        return Data(key.split(separator: slash).last ?? key).displayPath
    }
}
