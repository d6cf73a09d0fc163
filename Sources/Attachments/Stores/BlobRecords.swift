/// What the records know of bytes: which blobs and which files of the spool are needed, and which keys.
public protocol BlobRecords: Sendable {
    /// Which of these blobs no record refers to.
    func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName]

    /// Which of these blobs no record refers to; from then on no delivery can refer to them, so that their files can
    /// be removed.
    func markRemoved(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName]

    /// Every blob that a record refers to, with its hash and size.
    func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob]

    /// These turned out damaged or missing: no new delivery refers to them.
    func markDamaged(_ names: [BlobName]) async throws(AttachmentError)

    /// Whether a job that is unfinished, or that can be tried again, has its source in this file of the spool.
    func needsSpool(_ name: String) async throws(AttachmentError) -> Bool

    /// The keys that live tokens were derived with, and the headers of unfinished jobs encrypted.
    func keysInUse() async throws(AttachmentError) -> Set<String>
}
