public import SatchelCore

/// What a codec process does with one source. Called on one thread, inside the confinement but for ``prepare(_:)``.
///
/// A codec starts no thread before it is asked to identify: forks of a process with threads are broken.
public protocol ConfinedCodec: ~Copyable {
    /// Initialises what its sources need. Called once, in the zygote, unconfined.
    mutating func prepare(_ invocation: CodecInvocation) throws(AttachmentError)

    /// What was prepared, for whoever looks after the machine.
    var libraries: [CodecLibrary] { get }

    /// Says what `source` is, before any pixel is decoded, and keeps what rendering needs.
    ///
    /// - Parameter source: A read-only descriptor that stays open until ``forget()``.
    mutating func identify(source: Int32, order: WorkOrder) throws(Unidentified) -> ProbeResult

    /// Makes the renditions of the source that was identified last, smallest first.
    ///
    /// - Parameters:
    ///   - outputs: A descriptor for each rendition, empty and open for reading and writing. The codec doesn't close
    ///     them.
    ///   - deliver: Closes the rendition's descriptor, then reports it. Called once for each.
    mutating func render(
        _ command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending

    /// Releases what ``identify(source:order:)`` kept.
    mutating func forget()
}

/// Why a codec has no probe result.
public enum Unidentified: Error {
    case refused(AttachmentError)
    /// What it prepared isn't enough.
    case beyondDecoderSet
}
