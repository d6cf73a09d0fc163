internal import Attachments

/// Takes what a transaction made superfluous, after its commit. A record store that can note it in the same transaction
/// needs none.
protocol GarbageCollector: Sendable {
    /// Returns when all is gone that can go; what can't is found by a sweep.
    func collect(blobs: [BlobName], sources: [SourceName]) async
}

extension GarbageCollector {
    func collect(_ blobs: [BlobName]) async {
        if !blobs.isEmpty { await collect(blobs: blobs, sources: []) }
    }

    func collect(_ sources: [SourceName]) async {
        if !sources.isEmpty { await collect(blobs: [], sources: sources) }
    }
}

/// Removes it from a store's bytes at once.
struct StoreGarbage: GarbageCollector {
    let blobs: any BlobStore
    let sources: any SourceStore

    func collect(blobs: [BlobName], sources: [SourceName]) async {
        _ = try? await self.blobs.remove(blobs)
        _ = try? await self.sources.remove(sources)
    }
}
