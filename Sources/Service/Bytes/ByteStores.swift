public import SatchelCore

/// What keeps a store's bytes where that isn't its directory, such as a bucket.
public struct ByteStores: Sendable {
    public var blobs: any BlobStore
    public var sources: any SourceStore

    public init(blobs: any BlobStore, sources: any SourceStore) {
        self.blobs = blobs
        self.sources = sources
    }
}
