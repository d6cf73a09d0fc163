public import Attachments
internal import CSandbox
internal import Glibc
internal import Synchronization

/// Keeps blobs in memory, each in a file that has no name and that nobody can write any more.
public final class MemoryBlobStore: BlobStore {
    private struct Blob: Sendable {
        let file: SharedFile
        let bytes: Int64
        let madeAt: ContinuousClock.Instant
    }

    /// The same bytes under several names are one file.
    private final class SharedFile: Sendable {
        let descriptor: Descriptor

        init(_ descriptor: consuming Descriptor) {
            self.descriptor = descriptor
        }
    }

    private let blobs = Mutex<[BlobName: Blob]>([:])

    public init() {}

    public func stage() throws(AttachmentError) -> StagedFile {
        do throws(SystemError) {
            let number = csandbox_memory_file()
            guard number >= 0 else { throw SystemError("stage a file in memory") }
            let made = Descriptor(owning: number)
            // Opened once more, for the kernel counts no writer of a file that was made without a name.
            let writer = try Files.open("/proc/self/fd/\(made.number)", O_RDWR, to: "stage a file in memory")
            let reader = try Files.reopenForReading(made)
            return StagedFile(writer: writer, reader: reader, token: "")
        } catch {
            throw AttachmentError(error)
        }
    }

    public var provesClosing: Bool { true }

    public func commit(
        _ file: consuming StagedFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> CommittedBlob {
        let sha256 = try file.closed(expecting: bytes)
        do throws(SystemError) {
            let descriptor = try Files.reopenForReading(file.reader)
            let name = BlobName.make(sha256: sha256)
            let blob = Blob(file: SharedFile(descriptor), bytes: bytes, madeAt: .now)
            blobs.withLock { $0[name] = blob }
            return CommittedBlob(name: name, sha256: sha256, bytes: bytes)
        } catch {
            throw AttachmentError(error)
        }
    }

    public func duplicate(_ blob: CommittedBlob) async throws(AttachmentError) -> CommittedBlob? {
        let name = BlobName.make(sha256: blob.sha256)
        let isThere = blobs.withLock { blobs in
            guard let known = blobs[blob.name] else { return false }
            blobs[name] = Blob(file: known.file, bytes: known.bytes, madeAt: .now)
            return true
        }
        return isThere ? CommittedBlob(name: name, sha256: blob.sha256, bytes: blob.bytes) : nil
    }

    public func open(_ name: BlobName) throws(AttachmentError) -> Descriptor {
        guard let blob = blobs.withLock({ $0[name] }) else { throw .notInStore(what: "This rendition") }
        do { return try Files.reopenForReading(blob.file.descriptor) } catch { throw AttachmentError(error) }
    }

    public func remove(_ names: [BlobName]) {
        blobs.withLock { blobs in
            for name in names { blobs[name] = nil }
        }
    }

    public func list() -> [(name: BlobName, bytes: Int64, age: Duration)] {
        let now = ContinuousClock.now
        return blobs.withLock(\.self).map { ($0.key, $0.value.bytes, now - $0.value.madeAt) }
    }

    public func removeAbandonedStaging(where isOld: (Duration) -> Bool) -> Int { 0 }
}
