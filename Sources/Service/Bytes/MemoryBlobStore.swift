public import SatchelCore
internal import Platform
internal import Synchronization

/// Keeps blobs in memory, each in a file that has no name and that nobody can write any more.
public final class MemoryBlobStore: BlobStore {
    private let blobs = Mutex<[BlobName: MemoryObject]>([:])

    public init() {}

    public func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        let name = BlobName.make(sha256: file.sha256)
        blobs.withLock { $0[name] = MemoryObject(file: file.file, bytes: file.bytes, claim: claim) }
        return CommittedBlob(name: name, sha256: file.sha256, bytes: file.bytes)
    }

    public func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        let name = BlobName.make(sha256: blob.sha256)
        let isThere = blobs.withLock { blobs in
            guard let known = blobs[blob.name] else { return false }
            blobs[name] = MemoryObject(file: known.file, bytes: known.bytes, claim: claim)
            return true
        }
        return isThere ? CommittedBlob(name: name, sha256: blob.sha256, bytes: blob.bytes) : nil
    }

    public func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        let blob = try object(name)
        do { return try Files.read(range, of: blob.file.reader) } catch { throw AttachmentError(error) }
    }

    public func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        .file(try object(name).opened())
    }

    private func object(_ name: BlobName) throws(AttachmentError) -> MemoryObject {
        guard let blob = blobs.withLock({ $0[name] }) else { throw .notInStore(what: "This rendition") }
        return blob
    }

    public func remove(_ names: [BlobName]) async {
        blobs.withLock { blobs in
            for name in names { blobs[name] = nil }
        }
    }

    public func restore(_ name: BlobName, from other: BlobName) async throws(AttachmentError) -> Bool {
        blobs.withLock { blobs in
            guard let known = blobs[other] else { return false }
            blobs[name] = known
            return true
        }
    }

    public func removeAll(under claim: ClaimID) async {
        blobs.withLock { blobs in blobs = blobs.filter { $0.value.claim != claim } }
    }

    public func list(after cursor: String?, limit: Int) async -> Page<StoredObject<BlobName>> {
        blobs.withLock(\.self).page(after: cursor, limit: limit)
    }
}

/// Bytes in memory; the same under several names are one file.
struct MemoryObject: Sendable {
    let file: ScratchFile
    /// Nil for what may still grow.
    private let size: Int64?
    /// Under which a blob was put.
    let claim: ClaimID?
    private let madeAt = ContinuousClock.now

    init(file: ScratchFile, bytes: Int64?, claim: ClaimID? = nil) {
        self.file = file
        size = bytes
        self.claim = claim
    }

    var bytes: Int64 { size ?? (try? Files.size(of: file.reader)) ?? 0 }

    fileprivate var age: Duration { .now - madeAt }

    /// A descriptor of its own.
    func opened() throws(AttachmentError) -> Descriptor {
        do { return try Files.reopenForReading(file.reader) } catch { throw AttachmentError(error) }
    }
}

extension Dictionary where Key: RawRepresentable<String> & Sendable, Value == MemoryObject {
    /// In the order of the names.
    func page(after cursor: String?, limit: Int) -> Page<StoredObject<Key>> {
        let left = filter { object in cursor.map { object.key.rawValue > $0 } ?? true }
            .sorted { $0.key.rawValue < $1.key.rawValue }
        let part = left.prefix(limit).map { StoredObject(name: $0.key, bytes: $0.value.bytes, age: $0.value.age) }
        return Page(elements: part, next: part.count < left.count ? part.last?.name.rawValue : nil)
    }
}
