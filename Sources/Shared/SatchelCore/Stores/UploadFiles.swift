/// Why an upload's bytes are kept.
public enum UploadPause: Hashable, Sendable {
    /// There are many by now, and more come.
    case underway
    /// The request is over. Another may go on, on another node too.
    case ended
    /// All bytes are there.
    case whole
}

/// What has arrived of an upload, in a file of this machine.
public struct ArrivedBytes: Sendable {
    /// For reading and writing. Nobody else writes it.
    public var file: ScratchFile
    /// The upload's byte with which the file begins.
    public var base: Int64
    /// Whether the file itself is where they are kept. Then little by little is as cheap as much at once.
    public var areKeptInPlace: Bool

    public init(_ file: ScratchFile, from base: Int64 = 0, keptInPlace areKeptInPlace: Bool) {
        self.file = file
        self.base = base
        self.areKeptInPlace = areKeptInPlace
    }
}

/// What is kept of an upload, so that a power cut would leave it.
public struct KeptBytes: Hashable, Sendable {
    /// How many bytes.
    public var offset: Int64
    /// Where they are; nil where the source's name says it.
    public var parts: UploadParts?

    public init(to offset: Int64, in parts: UploadParts? = nil) {
        self.offset = offset
        self.parts = parts
    }
}

/// Keeps the bytes of uploads while they come, each under the name of the source that it will be.
public protocol UploadFiles: Sendable {
    /// The name of a source that is to come.
    func newUploadName() -> SourceName

    /// Opens what has arrived, to be written on behind its offset: what lies beyond is cut off. Where nothing has arrived a
    /// file is made.
    ///
    /// - Returns: Nil while another process has it.
    /// - Throws: `not_in_store` where less is there than was recorded; `store_failed`, `store_full`.
    func resume(_ upload: UploadRecord) async throws(AttachmentError) -> ArrivedBytes?

    /// Keeps what has arrived: what is told of it afterwards holds, once it is recorded.
    ///
    /// - Parameters:
    ///   - arrived: As ``resume(_:)`` gave it, and bytes behind that.
    ///   - offset: Where they end.
    ///   - upload: As it was recorded last.
    /// - Throws: `store_failed`, `store_full`.
    func keep(
        _ arrived: ArrivedBytes, upTo offset: Int64, of upload: UploadRecord, _ pause: UploadPause
    ) async throws(AttachmentError) -> KeptBytes

    /// Removes parts that others stand in the place of by what is recorded. What can't be removed goes with the source.
    func discard(_ parts: [UploadParts.Part], of upload: UploadRecord) async

    /// Makes a source of an upload whose bytes are all there, and recorded as whole. Done again it is no error.
    ///
    /// - Throws: `not_in_store`, `store_failed`.
    func finish(_ upload: UploadRecord) async throws(AttachmentError)
}
