import SatchelCore

/// Keeps bytes as a bucket does that doesn't answer: who asks waits for as long as the task has time, or for ever.
struct SilentStore: BlobStore, SourceStore, UploadFiles {
    var uploads: any UploadFiles { self }

    private func answer(_ end: KeyPath<StoreTime, ContinuousClock.Instant>) async -> AttachmentError {
        try? await Task.sleep(until: StoreTime.current?[keyPath: end] ?? .now + .seconds(3600), clock: .continuous)
        return .storeFailed(reason: "it doesn't answer")
    }

    func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        throw await answer(\.writing)
    }

    func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        throw await answer(\.writing)
    }

    func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        throw await answer(\.reading)
    }

    func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        throw await answer(\.reading)
    }

    func remove(_ names: [BlobName]) async throws(AttachmentError) {}

    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
        throw await answer(\.reading)
    }

    func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName {
        throw await answer(\.writing)
    }

    func newUploadName() -> SourceName { SourceName(rawValue: "silent") }

    func resume(_ upload: UploadRecord) async throws(AttachmentError) -> ArrivedBytes? {
        throw await answer(\.reading)
    }

    func keep(
        _ arrived: ArrivedBytes, upTo offset: Int64, of upload: UploadRecord, _ pause: UploadPause
    ) async throws(AttachmentError) -> KeptBytes {
        throw await answer(\.writing)
    }

    func discard(_ parts: [UploadParts.Part], of upload: UploadRecord) async {}

    func finish(_ upload: UploadRecord) async throws(AttachmentError) {
        throw await answer(\.writing)
    }

    func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor {
        throw await answer(\.reading)
    }

    func remove(_ names: [SourceName]) async throws(AttachmentError) {}

    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<SourceName>> {
        throw await answer(\.reading)
    }
}
