import SatchelCore
import Foundation
import Ingest
import Platform
import S3

/// A mirror under a prefix of a bucket. Objects have their media types.
struct MirrorBucket: MirrorTarget {
    let what = "the output bucket"
    private let client: S3Client
    private let location: BucketLocation
    private let blobs: any BlobStore
    /// A directory for temporary copies.
    private let scratch: String

    /// The maximum length of a key in bytes ("Creating object key names", Amazon S3 User Guide).
    private static let longestKey = 1024

    /// Lists the bucket once, so that problems are reported now.
    ///
    /// - Throws: ``CommandFailure``.
    init(_ location: BucketLocation, blobs: any BlobStore, scratch: String) async throws {
        self.location = location
        self.blobs = blobs
        self.scratch = scratch
        if let own = StoreOptions.configured.blobs.flatMap(BucketLocation.init), own.contains(location) {
            throw CommandFailure(
                "--output '\(location)' is the prefix of the store's own objects. Choose another prefix.",
                status: .usage)
        }
        guard location.prefix.utf8.count < 512 else {
            throw CommandFailure("--output '\(location)' is too long. Choose a shorter prefix.", status: .usage)
        }
        client = try location.client()
        do throws(S3Error) { _ = try await client.list(location.prefix, limit: 1) } catch {
            throw location.failure(error)
        }
    }

    func fitting(_ components: [Data], beside suffix: Int) -> Data {
        FittingName.of(
            Data(components.joined(separator: [UInt8(ascii: "/")])),
            atMost: Self.longestKey - location.prefix.utf8.count - suffix)
    }

    /// New renditions are not checked, to save a request.
    func has(_ name: Data, _ rendition: Rendition, isNew: Bool) async -> Bool {
        if isNew { return false }
        return (try? await client.head(key(name)).bytes) == rendition.bytes
    }

    func put(_ blob: BlobName, _ rendition: Rendition, as name: Data) async throws {
        let scratch = scratch
        let copy = try await BlockingWork.run { () throws(S3Error) in try ScratchCopy(in: scratch) }
        try await blobs.write(blob, to: copy.writer)
        // The server checks the bytes against the record's hash.
        let file = HashedFile(
            ScratchFile(reader: try copy.takeReader()), sha256: rendition.sha256, bytes: rendition.bytes)
        try await client.put(file, as: key(name), type: rendition.mediaType.rawValue)
    }

    private func key(_ name: Data) -> String { location.prefix + String(decoding: name, as: UTF8.self) }
}
