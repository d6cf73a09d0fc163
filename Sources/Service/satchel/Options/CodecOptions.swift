import ArgumentParser
import SatchelCore
import CodecPool
import Foundation

/// Options for the sandbox of codec processes.
struct SandboxOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Sandbox layers that must be active: 'standard' for the required layers, 'full' for the optional layers as well. 'satchel doctor' lists the layers.",
            valueName: "level"))
    var requireSandbox = SandboxLevel.standard

    @Flag(help: "Decode even if a required sandbox layer is missing. For trusted sources only.")
    var allowUnsandboxed = false

    @Flag(
        help:
            "Decode JPEGs without Satchel's faster Huffman decoder. The results are the same, but decoding takes longer."
    )
    var plainHuffman = false

    func validate() throws {
        if allowUnsandboxed && requireSandbox == .full {
            throw ValidationError("--allow-unsandboxed and --require-sandbox full cannot be combined.")
        }
    }

    /// The configuration for a command, which may end before a second zygote would be useful.
    var poolConfiguration: CodecPoolConfiguration {
        get throws {
            let executables = try CodecExecutables.located()
            var configuration = CodecPoolConfiguration(
                executable: executables.codec, stills: executables.stills, sourcesBeforeReserve: 100)
            configuration.fastHuffman = !plainHuffman
            if allowUnsandboxed { configuration.sandbox = .allowUnsandboxed }
            if requireSandbox == .full { configuration.sandbox = .full }
            return configuration
        }
    }
}

/// Options for decoding sources one after the other.
struct DecoderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Memory for all codec processes together, such as 4G. Default: half of the machine's or the container's memory.",
            valueName: "size"))
    var memory: ByteCount?

    @OptionGroup var sandbox: SandboxOptions

    @Option(
        help: ArgumentHelp(
            "Number of sources that share a codec process. Use more than 1 only for files that you made yourself.",
            valueName: "count"))
    var sourcesPerProcess = 1

    func validate() throws {
        if let memory, memory.bytes < 256 << 20 {
            throw ValidationError("--memory must be at least 256M, which a phone's photo needs.")
        }
        if !(1...1000).contains(sourcesPerProcess) {
            throw ValidationError("--sources-per-process must be between 1 and 1000, not \(sourcesPerProcess).")
        }
    }

    var poolConfiguration: CodecPoolConfiguration {
        get throws {
            var configuration = try sandbox.poolConfiguration
            if let memory { configuration.memory = memory.bytes }
            configuration.sourcesPerProcess = sourcesPerProcess
            return configuration
        }
    }
}

/// Options for decoding several sources at once.
struct CodecOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Number of codec processes that run at the same time. Default: the number of cores plus one.",
            valueName: "count"))
    var codecs: Int?

    @OptionGroup var decoders: DecoderOptions

    func validate() throws {
        if let codecs, !(1...256).contains(codecs) {
            throw ValidationError("--codecs must be between 1 and 256, not \(codecs).")
        }
    }

    var poolConfiguration: CodecPoolConfiguration {
        get throws {
            var configuration = try decoders.poolConfiguration
            if let codecs { configuration.codecs = codecs }
            return configuration
        }
    }

    /// The number of jobs to run at once. While codecs work on some, others are opened and made durable.
    var jobsAtOnce: Int {
        get throws { try poolConfiguration.codecs * 3 + 2 }
    }
}

enum SandboxLevel: String, ExpressibleByArgument, CaseIterable {
    case standard, full
}

/// A number of bytes with an optional binary unit: `512M`, `4G`.
struct ByteCount: ExpressibleByArgument {
    var bytes: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
        let unit = argument.last.flatMap { units[Character($0.uppercased())] }
        let digits = unit == nil ? argument : String(argument.dropLast())
        guard let number = Int64(digits), number > 0 else { return nil }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflow else { return nil }
        bytes = product
    }
}

/// The paths of `satchel-codec` and `satchel-stills`.
///
/// `SATCHEL_CODEC` names their directory, or one program for all sources. Without it, they are in the directory of
/// `satchel` or in `../libexec`.
struct CodecExecutables {
    var codec: URL
    var stills: URL

    static func located() throws -> CodecExecutables {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["SATCHEL_CODEC"], !named.isEmpty {
            let place = URL(filePath: named)
            return CodecExecutables(in: place) ?? CodecExecutables(codec: place, stills: place)
        }
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        for place in [own, own.appending(path: "../libexec").standardized] {
            if let found = CodecExecutables(in: place) { return found }
        }
        throw CommandFailure(
            """
            satchel-codec is neither in the directory of satchel nor in ../libexec. Install it there with satchel-stills, \
            or set SATCHEL_CODEC to the directory of both.
            """,
            status: .usage)
    }

    private init(codec: URL, stills: URL) {
        self.codec = codec
        self.stills = stills
    }

    /// Fails if `directory` has no codec. Without `satchel-stills`, `satchel-codec` also decodes stills, at a higher cost.
    private init?(in directory: URL) {
        let found = ["satchel-codec", "satchel-stills"].map { directory.appending(path: $0) }.filter {
            FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false))
        }
        guard let codec = found.first, codec.lastPathComponent == "satchel-codec", let stills = found.last else {
            return nil
        }
        self.init(codec: codec, stills: stills)
    }
}
