/// What the records know of bytes: which blobs and which sources are needed, and which keys.
public protocol BlobRecords: Sendable {
    /// Which of these blobs no record refers to.
    func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName]

    /// Gives up those of these blobs that no record refers to: from then on no delivery can refer to them, and their
    /// bytes are removed.
    ///
    /// - Returns: Which those are.
    @discardableResult
    func discard(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName]

    /// Every blob that a record refers to, with its hash and size.
    func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob]

    /// Other blobs of the same tenant with the same hash.
    func equalBlobs(to name: BlobName) async throws(AttachmentError) -> [BlobName]

    /// These turned out damaged or missing: no new delivery refers to them.
    func markDamaged(_ names: [BlobName]) async throws(AttachmentError)

    /// Every source that a job needs that is unfinished or can be tried again.
    func neededSources() async throws(AttachmentError) -> [SourceName]

    /// Which of these sources no job needs that is unfinished or can be tried again.
    func unneeded(among names: [SourceName]) async throws(AttachmentError) -> [SourceName]

    /// The keys that live tokens were derived with, and the secrets of unfinished jobs and the keys of renditions sealed.
    func keysInUse() async throws(AttachmentError) -> Set<String>
}
