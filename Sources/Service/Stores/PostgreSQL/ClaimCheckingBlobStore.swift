internal import SatchelCore

/// Has nothing written under a claim that may have been taken away while this node was silent: those objects would come after
/// they were removed.
struct ClaimCheckingBlobStore: BlobStore {
    let base: any BlobStore
    let node: PostgresNode

    private func check(_ claim: ClaimID) async throws(AttachmentError) {
        let holds: Bool
        do { holds = try await node.holds(claim) } catch { throw AttachmentError(storing: error) }
        guard holds else {
            throw .storeFailed(reason: "the job was given to another node while this node was unreachable")
        }
    }

    func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
        try await check(claim)
        return try await base.put(file, under: claim)
    }

    func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
        try await check(claim)
        return try await base.copy(blob, under: claim)
    }

    func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
        try await base.read(range, of: name)
    }

    func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
        try await base.content(of: name, behind: proxy)
    }

    func url(of name: BlobName, as type: MediaType, disposition: String) async throws(AttachmentError) -> String? {
        try await base.url(of: name, as: type, disposition: disposition)
    }

    func versions(of name: BlobName) async throws(AttachmentError) -> [BlobName] { try await base.versions(of: name) }

    func restore(_ name: BlobName, from other: BlobName) async throws(AttachmentError) -> Bool {
        try await base.restore(name, from: other)
    }

    func remove(_ names: [BlobName]) async throws(AttachmentError) { try await base.remove(names) }

    func removeAll(under claim: ClaimID) async throws(AttachmentError) { try await base.removeAll(under: claim) }

    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
        try await base.list(after: cursor, limit: limit)
    }
}
