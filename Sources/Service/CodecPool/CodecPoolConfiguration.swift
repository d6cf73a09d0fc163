public import SatchelCore
import CSandbox
public import FoundationEssentials
import Glibc

/// How codec processes are started and how much they may use.
public struct CodecPoolConfiguration: Sendable {
    /// The codec for everything: `satchel-codec`, or what takes its place in a test.
    public var executable: URL
    /// The codec for the common decoder set: `satchel-stills`, or what takes its place.
    public var stillsExecutable: URL
    /// Sources that are worked on at once; as many forked processes are kept ready.
    public var codecs: Int
    public var sandbox: SandboxPolicy
    /// A zygote is renewed after so many sources: its forks share one address layout.
    public var sourcesPerZygote: Int
    /// A second zygote is started in reserve after so many sources, or when a process crashes. Starting one takes about
    /// 0.14 s of CPU time, which a command for a few files need not spend.
    public var sourcesBeforeReserve: Int
    /// Over 1, a process serves so many sources that share a ``CodecPool/Owner``, one after the other.
    public var sourcesPerProcess: Int
    /// Whether codecs may decode JPEGs by their own decoder of Huffman codes.
    public var fastHuffman: Bool
    /// Bytes of memory granted to all processes together.
    public var memory: Int64
    /// Bytes of memory that identifying may use, before anything was granted.
    public var identifyMemory: Int64
    /// A process that says nothing for so long, and that uses no CPU time meanwhile, is killed.
    public var silence: Duration
    /// A zygote that isn't ready after this has failed. A cold start takes about 0.13 s.
    public var startup: Duration
    /// Connections for which descriptors are needed as well.
    public var connections = 0
    /// Told what is lacking: processes, threads, memory or descriptors.
    public var onShortage: @Sendable (String) -> Void = { _ in }
    /// Handed to the executable after the pool's own arguments; the fault codec takes orders there.
    public var arguments: [String]

    /// - Parameters:
    ///   - stills: Where it is left out, `executable` takes what it is for as well.
    ///   - codecs: One more than the processors this process may use, where it is left out.
    ///   - memory: Half of ``usableMemory``, where it is left out.
    public init(
        executable: URL, stills: URL? = nil, codecs: Int? = nil, sandbox: SandboxPolicy = .standard,
        sourcesPerZygote: Int = 1000, sourcesBeforeReserve: Int = 0, sourcesPerProcess: Int = 1,
        fastHuffman: Bool = true, memory: Int64? = nil,
        identifyMemory: Int64 = 512 << 20, silence: Duration = .seconds(30), startup: Duration = .seconds(10),
        arguments: [String] = []
    ) {
        self.executable = executable
        stillsExecutable = stills ?? executable
        // One more than processors: while a process ends and the next one gets its order, no processor stands idle. Measured
        // on two: a batch of photographs is 3 to 4 % quicker.
        self.codecs = max(1, codecs ?? Self.usableProcessors + 1)
        self.sandbox = sandbox
        self.sourcesPerZygote = max(1, sourcesPerZygote)
        self.sourcesBeforeReserve = sourcesBeforeReserve
        self.sourcesPerProcess = max(1, sourcesPerProcess)
        self.fastHuffman = fastHuffman
        self.memory = memory ?? Self.usableMemory / 2
        self.identifyMemory = identifyMemory
        self.silence = silence
        self.startup = startup
        self.arguments = arguments
    }

    /// The program that has the decoders of a set.
    func executable(for decoderSet: DecoderSet) -> URL {
        switch decoderSet {
        case .common: stillsExecutable
        case .full: executable
        }
    }

    /// The directory of stand-ins for libraries that a program is linked with and never calls: beside it, under its name. Nil where
    /// it has none.
    func standIns(for decoderSet: DecoderSet) -> String? {
        let path = executable(for: decoderSet).path(percentEncoded: false) + ".stand-ins"
        // The linker takes a colon or semicolon for the end of a directory's name, and a dollar sign for a variable.
        guard !path.contains(where: { ":;$".contains($0) }), unsafe access(path, X_OK) == 0 else { return nil }
        return path
    }

    /// Costly sources that are worked on at once, at most: two places stay free for others where there are more. On one
    /// processor that is one of two.
    var costlyCodecs: Int { max(1, codecs - 2) }

    /// Bytes that costly sources are granted together, at most.
    var costlyMemory: Int64 { memory / 4 * 3 }

    /// Bytes of ``memory`` that sources may have together which lie in memory themselves.
    var sourceMemory: Int64 { memory / 4 }

    /// Processors that this process may run on: `taskset`, cpusets and a container's quota count.
    public static var usableProcessors: Int {
        let allowed = max(1, Int(sandbox_usable_processors()))
        guard let quota = ControlGroup().processors else { return allowed }
        return min(allowed, max(1, Int(min(quota.rounded(.up), Double(allowed)))))
    }

    /// Bytes of memory that this process may have: the machine's, or less where its container is limited.
    public static var usableMemory: Int64 {
        let physical = Int64(sysconf(Int32(_SC_PHYS_PAGES))) * Int64(sysconf(Int32(_SC_PAGESIZE)))
        return min(physical, ControlGroup().memory ?? physical)
    }
}
