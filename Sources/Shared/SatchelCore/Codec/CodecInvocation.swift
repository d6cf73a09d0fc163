/// How a zygote is started: the service writes it, the codec's side reads it.
public struct CodecInvocation: Hashable, Sendable {
    public var policy: SandboxPolicy
    public var sourcesPerProcess: Int
    /// Whether baseline JPEGs may be decoded by Satchel's own decoder of Huffman codes.
    public var fastHuffman: Bool
    /// The directory of what stands in for libraries that nothing calls; empty for none.
    public var standIns: String
    /// For the executable itself; the fault codec takes orders there.
    public var rest: [String]

    public init(
        policy: SandboxPolicy, sourcesPerProcess: Int = 1, fastHuffman: Bool = true, standIns: String = "",
        rest: [String] = []
    ) {
        self.policy = policy
        self.sourcesPerProcess = sourcesPerProcess
        self.fastHuffman = fastHuffman
        self.standIns = standIns
        self.rest = rest
    }

    /// The number of the zygote's control socket.
    public static let controlSocket: Int32 = 3

    /// All that this zygote's environment holds, as `NAME=value`.
    public var environment: [String] {
        Self.environment + (standIns.isEmpty ? [] : ["LD_LIBRARY_PATH=" + standIns])
    }

    /// What every zygote's environment holds, as `NAME=value`.
    ///
    /// Swift's backtracer would start a process; glibc's arenas reserve 64 MiB each; what the linker binds in a zygote
    /// no fork has to bind for itself; the rest keep libraries from starting threads of their own or looking for files.
    public static let environment = [
        "SWIFT_BACKTRACE=enable=no", "GLIBC_TUNABLES=" + allocation.map { "glibc.malloc." + $0 }.joined(separator: ":"),
        "LD_BIND_NOW=1", "OMP_NUM_THREADS=1", "TZ=UTC", "VIPS_CONCURRENCY=1",
    ]

    /// Of memory that glibc asks the kernel for and gives back, each page costs a fault: a tenth of a photograph's time. So
    /// the heap grows in large steps and keeps what it has, and only what is larger than most pictures is mapped by itself.
    private static let allocation =
        ["arena_max=1", "top_pad=\(16 << 20)", "mmap_threshold=\(8 << 20)", "trim_threshold=\(64 << 20)"] + hugePages

    /// Steps are of whole huge pages then: of 2 MB here, but of up to 512 MB with ARM's larger pages.
    #if arch(x86_64)
        private static let hugePages = ["hugetlb=1"]
    #else
        private static let hugePages: [String] = []
    #endif

    /// Without the program's name.
    public var arguments: [String] {
        [
            "--zygote", "--sandbox=\(policy.rawValue)", "--sources-per-process=\(sourcesPerProcess)",
            "--fast-huffman=\(fastHuffman)", "--stand-ins=\(standIns)",
        ] + rest
    }

    /// Reads what ``arguments`` writes; nil for anything else, such as a person's attempt.
    public init?(arguments: some Collection<String>) {
        let list = Array(arguments)
        guard list.count >= 5, list[0] == "--zygote",
            let policy = Self.value(of: "--sandbox", in: list[1]).flatMap(SandboxPolicy.init(rawValue:)),
            let sources = Self.value(of: "--sources-per-process", in: list[2]).flatMap({ Int($0) }), sources > 0,
            let fastHuffman = Self.value(of: "--fast-huffman", in: list[3]).flatMap({ Bool($0) }),
            let standIns = Self.value(of: "--stand-ins", in: list[4])
        else { return nil }
        self.init(
            policy: policy, sourcesPerProcess: sources, fastHuffman: fastHuffman, standIns: standIns,
            rest: Array(list.dropFirst(5)))
    }

    private static func value(of name: String, in argument: String) -> String? {
        argument.hasPrefix(name + "=") ? String(argument.dropFirst(name.count + 1)) : nil
    }
}
