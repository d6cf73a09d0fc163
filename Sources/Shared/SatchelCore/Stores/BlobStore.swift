/// Names immutable bytes in a blob store, never used twice; what it is made of is the store's own business.
public struct BlobName: Hashable, Sendable, RawRepresentable, Codable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
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

/// What a store holds under a name, as a sweep sees it.
public struct StoredObject<Name: Hashable & Sendable>: Hashable, Sendable {
    public var name: Name
    public var bytes: Int64
    /// Since it was put there.
    public var age: Duration

    public init(name: Name, bytes: Int64, age: Duration) {
        self.name = name
        self.bytes = bytes
        self.age = age
    }
}

/// How the bytes of a blob go out.
public enum BlobContent: ~Copyable, Sendable {
    /// All of this file, which holds them as long as it is open, whatever becomes of the name: from the disk to the
    /// socket.
    case file(Descriptor)
    /// By the proxy in front of the service, which is told this location.
    case redirect(String)
    /// Piece by piece, as they are read: see ``BlobStore/read(_:of:)``.
    case stream
}

/// Keeps immutable bytes. The order is accept, stage, commit, delete: see ``RecordStore``.
public protocol BlobStore: Sendable {
    /// Makes a file durable, under a name of its own. A sync that failed is never retried on the same file.
    ///
    /// - Parameter claim: Under which the blob will be delivered: a store may find by it what was not.
    /// - Throws: `store_failed`, `store_full`.
    func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob

    /// Gives the bytes of a blob one more name, durable like the first; from then on each is removed for itself.
    ///
    /// - Returns: Nil where the bytes are gone, or can have no more names.
    func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob?

    /// These bytes of a blob: all of the range, unless the blob ends before.
    ///
    /// - Throws: `not_in_store`, `store_failed`.
    func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8]

    /// How the bytes of a blob go out.
    ///
    /// - Parameter proxy: What the locations of bytes begin with that a proxy in front of the service sends by itself;
    ///   nil where there is none.
    /// - Throws: `not_in_store`, `store_failed`.
    func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent

    /// Where whoever knows it reads a blob for a minute, from the server that has it; nil where that is this one.
    ///
    /// - Parameters:
    ///   - type: The answer's `Content-Type`.
    ///   - disposition: Its `Content-Disposition`.
    func url(of name: BlobName, as type: MediaType, disposition: String) async throws(AttachmentError) -> String?

    /// What the store has kept of a blob's bytes as they were before, the latest first: names that can be read, and no more.
    ///
    /// - Throws: `store_failed`.
    func versions(of name: BlobName) async throws(AttachmentError) -> [BlobName]

    /// Has a blob's name stand for the bytes of another, or of a version, in the place of what is there; durable like the first.
    ///
    /// - Returns: False where those are gone, or can't be given to it.
    func restore(_ name: BlobName, from other: BlobName) async throws(AttachmentError) -> Bool

    /// Removes blobs that no record refers to any more. Unknown names are no error.
    func remove(_ names: [BlobName]) async throws(AttachmentError)

    /// Removes whatever was put under a claim that delivers nothing any more, as far as names tell it; a sweep finds the rest.
    func removeAll(under claim: ClaimID) async throws(AttachmentError)

    /// A part of all blobs, in the store's own order: about `limit`, or all that are left.
    ///
    /// - Parameter cursor: Nil for the first part, then what the part before says is next.
    func list(
        after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<StoredObject<BlobName>>
}

extension BlobStore {
    public func versions(of name: BlobName) async throws(AttachmentError) -> [BlobName] { [] }

    public func restore(_ name: BlobName, from other: BlobName) async throws(AttachmentError) -> Bool { false }

    public func removeAll(under claim: ClaimID) async throws(AttachmentError) {}

    public func url(
        of name: BlobName, as type: MediaType, disposition: String
    ) async throws(AttachmentError) -> String? { nil }
}
