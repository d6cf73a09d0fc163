/// The messages between the service and a zygote, which forks the codec processes. One message is one packet of a
/// `SOCK_SEQPACKET` socket, JSON of at most ``ZygoteMessage/maximumBytes``.
///
/// The end of the service's side ends the zygote and all its codec processes.
public enum ZygoteCommand: Hashable, Sendable, Codable {
    /// Fork a codec process that talks over the socket that travels with this. `id` names it from then on.
    case fork(id: Int)
}

/// What a zygote says; see ``ZygoteCommand``.
public enum ZygoteMessage: Hashable, Sendable, Codable {
    /// The first word: what holds, and the bytes of address space that every fork starts with. The zygote ends
    /// where its policy demands more.
    case ready(SandboxReport, addressSpace: Int64)
    /// It cannot work at all; it has ended. For the log.
    case failed(reason: String)
    /// It cannot work now, for want of processes, memory or descriptors; it has ended. For the log.
    case starved(reason: String)
    /// The process's pidfd travels with it; `pid` is its number where the zygote was started.
    case forked(id: Int, pid: Int32)
    /// The kernel refused a fork, for want of processes, memory or descriptors.
    case refused(id: Int, reason: String)
    case ended(id: Int, ProcessEnding)

    /// A longer packet breaks the protocol.
    public static let maximumBytes = 64 << 10
}

/// How a codec process ended, as the kernel told its zygote.
public struct ProcessEnding: Hashable, Sendable, Codable {
    /// Nil where a signal ended it.
    public var exitCode: Int32?
    public var signal: Int32?
    /// User and system time.
    public var cpuSeconds: Double
    /// Bytes resident at the peak; what it shares with its zygote counts.
    public var peakMemory: Int64

    public init(exitCode: Int32?, signal: Int32?, cpuSeconds: Double, peakMemory: Int64) {
        self.exitCode = exitCode
        self.signal = signal
        self.cpuSeconds = cpuSeconds
        self.peakMemory = peakMemory
    }

    /// The exit code of a process that died of its memory limit.
    public static let memoryExhausted: Int32 = 86
    /// The exit code of a process that a demanded layer could not be given.
    public static let unconfined: Int32 = 87
    /// The exit code of a process that could not start a thread.
    public static let starved: Int32 = 88
}
