import SatchelCore
import Synchronization

/// Keeps bytes where another store does, and fails as often as it is told to.
final class FailingStore: BlobStore, SourceStore {
    enum Call: Hashable, CaseIterable, Sendable {
        case open, put, copy
    }

    private struct Failures {
        var call: Call
        var error: AttachmentError
        var left: Int
    }

    private let blobs: any BlobStore
    private let sources: any SourceStore
    private let failures: Mutex<Failures>

    init(
        _ blobs: any BlobStore, _ sources: any SourceStore, failing call: Call, with error: AttachmentError, times: Int
    ) {
        self.blobs = blobs
        self.sources = sources
        failures = Mutex(Failures(call: call, error: error, left: times))
    }

    /// How many failures are still to come.
    var left: Int { failures.withLock(\.left) }

    private func fail(_ call: Call) throws(AttachmentError) {
        try failures.withLock { failures throws(AttachmentError) in
            guard failures.call == call, failures.left > 0 else { return }
            failures.left -= 1
            throw failures.error
        }
    }

    func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        try fail(.put)
        return try await blobs.put(file, under: claim)
    }

    func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        try fail(.copy)
        return try await blobs.copy(blob, under: claim)
    }

    func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor {
        try fail(.open)
        return try await sources.open(name)
    }

    // What follows answers as it does.

    var uploads: any UploadFiles { sources.uploads }

    func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        try await blobs.read(range, of: name)
    }

    func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        try await blobs.content(of: name, behind: proxy)
    }

    func remove(_ names: [BlobName]) async throws(AttachmentError) { try await blobs.remove(names) }

    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
        try await blobs.list(after: cursor, limit: limit)
    }

    func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName { try await sources.put(file) }

    func remove(_ names: [SourceName]) async throws(AttachmentError) { try await sources.remove(names) }

    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<SourceName>> {
        try await sources.list(after: cursor, limit: limit)
    }
}
