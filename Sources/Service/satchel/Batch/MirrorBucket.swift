import SatchelCore
import Foundation
import Ingest
import Platform
import S3

/// A mirror beneath a prefix of a bucket, in objects that have their media types.
struct MirrorBucket: MirrorTarget {
    let what = "the output bucket"
    private let client: S3Client
    private let location: BucketLocation
    private let blobs: any BlobStore
    /// A directory for copies.
    private let scratch: String

    /// "Creating object key names" of the Amazon S3 User Guide: bytes of a key.
    private static let longestKey = 1024

    /// Looks at the bucket once: what is wrong with it is to be said now.
    ///
    /// - Throws: ``CommandFailure``.
    init(_ location: BucketLocation, blobs: any BlobStore, scratch: String) async throws {
        self.location = location
        self.blobs = blobs
        self.scratch = scratch
        if let own = StoreOptions.configured.blobs.flatMap(BucketLocation.init), own.contains(location) {
            throw CommandFailure(
                "--output '\(location)' is where the store has its own objects; choose another prefix.", status: 2)
        }
        guard location.prefix.utf8.count < 512 else {
            throw CommandFailure("--output '\(location)' leaves no room for names; choose a shorter prefix.", status: 2)
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

    /// Of what is new nobody asks: a bucket wants a request for each answer.
    func has(_ name: Data, _ rendition: Rendition, isNew: Bool) async -> Bool {
        if isNew { return false }
        return (try? await client.head(key(name)).bytes) == rendition.bytes
    }

    func put(_ blob: BlobName, _ rendition: Rendition, as name: Data) async throws(Mirror.WriteFailure) {
        do {
            let scratch = scratch
            let copy = try await BlockingWork.run { () throws(S3Error) in try ScratchCopy(in: scratch) }
            try await blobs.write(blob, to: copy.writer)
            // The server compares the bytes with the record's hash.
            let file = HashedFile(
                ScratchFile(reader: try copy.takeReader()), sha256: rendition.sha256, bytes: rendition.bytes)
            try await client.put(file, as: key(name), type: rendition.mediaType.rawValue)
        } catch let error as S3Error {
            throw Mirror.WriteFailure(reason: error.reason)
        } catch let error as CopyFailure {
            throw Mirror.WriteFailure(reason: error.cause.reason)
        } catch let error as AttachmentError where error.code != .notInStore {
            throw Mirror.WriteFailure(reason: error.description)
        } catch {
            throw Mirror.WriteFailure(reason: "its bytes are not in the store any more")
        }
    }

    private func key(_ name: Data) -> String { location.prefix + String(decoding: name, as: UTF8.self) }
}
