public import Attachments
import FoundationEssentials

/// Keeps confined codec processes ready and gives each source one of its own.
///
/// A source that crashes its process, floods, lies, falls silent or uses more than it was granted fails alone: see
/// ``process(_:order:owner:deadline:decide:received:)``.
public final class CodecPool: Sendable {
    /// People whose files may share a process, where ``CodecPoolConfiguration/sourcesPerProcess`` is over 1. Files of
    /// two owners never do.
    public struct Owner: Hashable, Sendable {
        public var name: String

        public init(name: String) {
            self.name = name
        }
    }

    private let configuration: CodecPoolConfiguration

    public init(_ configuration: CodecPoolConfiguration) {
        self.configuration = configuration
    }

    /// Starts the first template and looks at what confines its processes.
    ///
    /// - Returns: What holds on this machine.
    /// - Throws: ``CodecPoolError``: nothing was started.
    public func start() async throws(CodecPoolError) -> SandboxReport {
        throw .cannotStart(path: configuration.executable.path(percentEncoded: false), reason: "the pool has no processes yet")
    }

    /// Has `source` identified and rendered by a process that serves nothing else.
    ///
    /// Waits its turn, first come, first served: for a process, then for its memory. The renditions come one by one,
    /// smallest first; what `received` takes until it returns doesn't count as the codec's silence.
    ///
    /// A crash is retried here, once and in another template, as long as `decide` wasn't called; afterwards the
    /// outputs are spoilt and the caller repeats the whole attempt (``Backoff`` allows one).
    ///
    /// - Parameters:
    ///   - source: Read-only; the process gets a duplicate.
    ///   - owner: Whose file it is; nil shares a process with nobody.
    ///   - deadline: The process is killed then.
    ///   - decide: What to make of the source. An error thrown here ends the process and is thrown on.
    ///   - received: A rendition is finished and its descriptor closed in the process.
    /// - Throws: What the codec refused the source for; `codec_crashed`, `too_expensive`, `deadline_exceeded` (also
    ///   where the task was cancelled); `store_failed` where no process can be had.
    public func process(
        _ source: borrowing Descriptor, order: WorkOrder, owner: Owner? = nil,
        deadline: ContinuousClock.Instant? = nil,
        decide: (Findings) async throws(AttachmentError) -> CodecDecision,
        received: (RenditionReport) async throws(AttachmentError) -> Void
    ) async throws(AttachmentError) -> CodecResult {
        throw .codecCrashed(reason: "the pool has no processes yet")
    }

    /// Ends all templates and processes, and waits until they are gone. Sources under way fail.
    public func shutdown() async {}
}
