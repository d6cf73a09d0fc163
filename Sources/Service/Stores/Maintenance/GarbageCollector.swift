internal import SatchelCore

/// Removes what a transaction made superfluous, after its commit.
protocol GarbageCollector: Sendable {
    /// - Throws: Where some of it may still be there. What is there no more is no error.
    func remove(_ blobs: [BlobName], _ sources: [SourceName]) async throws(AttachmentError)

    /// Removes whatever was put under a claim, as far as names tell it.
    func removeAll(under claim: ClaimID) async throws(AttachmentError)
}

/// Removes it from a store's bytes.
struct StoreGarbage: GarbageCollector {
    let blobs: any BlobStore
    let sources: any SourceStore

    func remove(_ blobs: [BlobName], _ sources: [SourceName]) async throws(AttachmentError) {
        if !blobs.isEmpty { try await self.blobs.remove(blobs) }
        if !sources.isEmpty { try await self.sources.remove(sources) }
    }

    func removeAll(under claim: ClaimID) async throws(AttachmentError) {
        try await blobs.removeAll(under: claim)
    }
}
