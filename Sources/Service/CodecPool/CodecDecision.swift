public import SatchelCore
import Synchronization

/// The service's answer to what a source turned out to be.
public enum CodecDecision: Sendable {
    /// No rendition is wanted.
    case stop
    /// The renditions in `outputs`, in the order of ``ProbeResult/planned``.
    case proceed(outputs: [CodecOutput])
}

/// An output for a codec process: a role and the only descriptor that can write the file. The pool closes the
/// descriptor as soon as the process has its own.
///
/// A class, because an array can't hold what can't be copied.
public final class CodecOutput: Sendable {
    public let role: RenditionRole
    private let writer: Mutex<Int32>

    /// Takes over `writer`, a descriptor opened for reading and writing.
    public init(role: RenditionRole, writer: consuming Descriptor) {
        self.role = role
        self.writer = Mutex(writer.release())
    }

    deinit {
        close()
    }

    /// Runs `body` with the descriptor's number; nil where it was closed.
    func withNumber<Value>(_ body: (Int32) -> Value) -> Value? {
        writer.withLock { $0 >= 0 ? body($0) : nil }
    }

    /// Closes the descriptor. A second call does nothing.
    func close() {
        writer.withLock { number in
            if number >= 0 { _ = Descriptor(owning: number) }
            number = -1
        }
    }
}

/// What a codec process made of a source.
public struct CodecResult: Hashable, Sendable {
    public var probeResult: ProbeResult
    /// Nil after ``CodecDecision/stop``.
    public var ending: Ending?
    /// Processor seconds of the process, user and system; nil where it lives on for the next source.
    public var cpuSeconds: Double?
    /// Bytes resident at the peak; nil where the process lives on.
    public var peakMemory: Int64?
    /// The process has ended, so nothing it was given is open for writing any more.
    public var processIsDead: Bool

    public init(
        probeResult: ProbeResult, ending: Ending?, cpuSeconds: Double?, peakMemory: Int64?, processIsDead: Bool
    ) {
        self.probeResult = probeResult
        self.ending = ending
        self.cpuSeconds = cpuSeconds
        self.peakMemory = peakMemory
        self.processIsDead = processIsDead
    }
}

/// Why codec processes can't be started.
public enum CodecPoolError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kernel refuses processes, descriptors or memory now.
    case outOfResources(reason: String)
    /// The executable is not there, or is no codec.
    case cannotStart(path: String, reason: String)
    /// Layers that the policy demands and this machine doesn't give.
    case unconfined([SandboxLayerReport], SandboxPolicy)

    /// A sentence for an operator that says what to do.
    public var description: String {
        switch self {
        case .outOfResources(let reason):
            return
                "Codec processes can't be started now: \(reason). Raise the limit of processes, open files or memory, or use fewer codecs."
        case .cannotStart(let path, let reason):
            return "The codec '\(path)' does not start: \(reason)."
        case .unconfined(let layers, let policy):
            let list = layers.map { $0.reason.isEmpty ? $0.layer.title : "\($0.layer.title) (\($0.reason))" }
            let way =
                policy == .full
                ? "--require-sandbox=full requires every layer. Omit it to run without the optional ones."
                : "'satchel doctor' lists all layers. Install or enable what is missing."
            return "Can't sandbox codec processes. Missing: \(list.joined(separator: ", ")). \(way)"
        }
    }
}
