/// Names immutable bytes in a blob store: `<sha256>.<uuid>`, never used twice.
public struct BlobName: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }
}

/// A blob whose bytes and name are durable, and which no record refers to yet.
public struct CommittedBlob: Hashable, Sendable {
    public var name: BlobName
    /// Lower-case hexadecimal.
    public var sha256: String
    public var bytes: Int64

    public init(name: BlobName, sha256: String, bytes: Int64) {
        self.name = name
        self.sha256 = sha256
        self.bytes = bytes
    }
}

/// A file in the making. It disappears with its owner unless it is committed.
public struct StagedFile: ~Copyable, Sendable {
    /// For the codec process alone: reading and writing. Given away with ``takeWriter()``.
    private var writer: Int32
    /// Kept by the service, opened read-only.
    public let reader: Descriptor
    /// The store's own word for where it is.
    public let token: String
    /// Removes what the store keeps of it beside the descriptors.
    private let discard: (@Sendable () -> Void)?

    /// Takes over both descriptors.
    ///
    /// - Parameter discard: Called at the end of its life, committed or not, where the file needed a name to be staged.
    public init(
        writer: consuming Descriptor, reader: consuming Descriptor, token: String,
        discard: (@Sendable () -> Void)? = nil
    ) {
        self.writer = writer.release()
        self.reader = reader
        self.token = token
        self.discard = discard
    }

    /// Hands over the only descriptor that can write. Closing it (and every copy that was sent elsewhere) is what
    /// makes the file ready to be committed.
    public mutating func takeWriter() -> Descriptor {
        precondition(writer >= 0, "the writer was already taken")
        defer { writer = -1 }
        return Descriptor(owning: writer)
    }

    deinit {
        if writer >= 0 { _ = Descriptor(owning: writer) }
        discard?()
    }
}

/// Keeps immutable bytes. The order is accept, stage, commit, delete: see ``RecordStore``.
public protocol BlobStore: Sendable {
    /// A new, empty file with no name that outlives a crash.
    func stage() throws(AttachmentError) -> StagedFile

    /// Whether a commit can prove by itself that no writer is left. Where it can't, because the file system has no read
    /// leases, only files whose writers are dead can be committed.
    var provesClosing: Bool { get }

    /// Makes a staged file immutable and durable, under a name of its own.
    ///
    /// Proves first that no writer is left; then hashes, checks the size against `bytes`, syncs, links and syncs
    /// the directory. A failed sync is never retried on the same file.
    ///
    /// - Parameter writersAreDead: The process that had the writer has ended; stands in for the proof where there is
    ///   none: see ``provesClosing``.
    /// - Throws: `codec_crashed` when a writer is left or the size differs; `store_failed`, `store_full`.
    func commit(
        _ file: consuming StagedFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> CommittedBlob

    /// Gives the bytes of a blob one more name, durable like the first; from then on each is removed for itself.
    ///
    /// - Returns: Nil where the bytes are gone, or can have no more names.
    func duplicate(_ blob: CommittedBlob) async throws(AttachmentError) -> CommittedBlob?

    /// Opens a blob for reading.
    func open(_ name: BlobName) throws(AttachmentError) -> Descriptor

    /// Removes the files of blobs that no record refers to any more. Unknown names are no error.
    func remove(_ names: [BlobName]) throws(AttachmentError)

    /// Removes files in the making that were left behind, as their age tells.
    ///
    /// - Returns: How many.
    func removeAbandonedStaging(where isOld: (Duration) -> Bool) throws(AttachmentError) -> Int

    /// The names of all blobs, each with the time since it was made.
    func list() throws(AttachmentError) -> [(name: BlobName, bytes: Int64, age: Duration)]
}
