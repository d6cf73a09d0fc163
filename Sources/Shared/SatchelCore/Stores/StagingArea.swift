/// A file in the making, for a codec process to write into.
public struct StagedFile: ~Copyable, Sendable {
    /// Reading and writing. Given away with ``takeWriter()``.
    private var writer: Int32
    /// What the service keeps of it.
    public let file: ScratchFile

    /// Takes over the descriptor.
    public init(writer: consuming Descriptor, file: ScratchFile) {
        self.writer = writer.release()
        self.file = file
    }

    /// Hands over the only descriptor that can write. Closing it (and every copy that was sent elsewhere) is what
    /// makes the file ready for a store.
    public mutating func takeWriter() -> Descriptor {
        precondition(writer >= 0, "the writer was already taken")
        defer { writer = -1 }
        return Descriptor(owning: writer)
    }

    deinit {
        if writer >= 0 { _ = Descriptor(owning: writer) }
    }
}

/// Where outputs come into being, on this machine, whatever keeps them afterwards.
public protocol StagingArea: Sendable {
    /// A new, empty file with no name that outlives a crash.
    func stage() throws(AttachmentError) -> StagedFile

    /// Stages files in memory instead, which no disk ever has.
    var inMemory: any StagingArea { get }

    /// Whether ``close(_:expecting:writersAreDead:)`` can prove by itself that no writer is left. Where it can't, because
    /// the file system has no read leases, only files whose writers are dead can be closed.
    var provesClosing: Bool { get }

    /// Proves that no writer is left; then checks the size against `bytes`, and hashes.
    ///
    /// - Parameter writersAreDead: The process that had the writer has ended; stands in for the proof where there is
    ///   none: see ``provesClosing``.
    /// - Throws: `codec_crashed` when a writer is left or the size differs; `store_failed`.
    func close(
        _ file: ScratchFile, expecting bytes: Int64, writersAreDead: Bool
    ) async throws(AttachmentError) -> HashedFile

    /// Removes what was left behind by processes that were killed: files in the making, and what was being received, as
    /// their age tells.
    ///
    /// - Returns: How many.
    func removeAbandoned(where isOld: @escaping @Sendable (Duration) -> Bool) async throws(AttachmentError) -> Int

    /// Bytes that are free where it is.
    func freeBytes() async throws(AttachmentError) -> Int64

    /// Bytes of the whole file system on which sources are received.
    func scratchSize() async throws(AttachmentError) -> Int64
}
