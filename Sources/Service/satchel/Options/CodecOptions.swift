import ArgumentParser
import SatchelCore
import CodecPool
import Foundation

/// How sources are decoded.
struct CodecOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Codec processes at work at once. Default: one more than cores.", valueName: "count"))
    var codecs: Int?

    @Option(
        help: ArgumentHelp(
            "Memory for all codec processes together, such as 4G. Default: half of what this machine or container has.",
            valueName: "size"))
    var memory: ByteCount?

    @Option(
        help: ArgumentHelp(
            "What the confinement must hold: 'standard', or 'full' with the kernel's extras too (see 'satchel doctor').",
            valueName: "level"))
    var requireSandbox = SandboxLevel.standard

    @Flag(help: "Work even where a required layer of the confinement is missing. For trusted sources only.")
    var allowUnsandboxed = false

    @Option(
        help: ArgumentHelp(
            "Sources that share a codec process. More than 1 only for files that one person made themselves.",
            valueName: "count"))
    var sourcesPerProcess = 1

    @Flag(help: "Leave the decoding of JPEGs to libjpeg-turbo alone: the same pictures, in more time.")
    var plainHuffman = false

    func validate() throws {
        if let codecs, !(1...256).contains(codecs) {
            throw ValidationError("--codecs must be between 1 and 256, not \(codecs).")
        }
        if let memory, memory.bytes < 256 << 20 {
            throw ValidationError("--memory must be at least 256M: a picture of a phone needs that much.")
        }
        if !(1...1000).contains(sourcesPerProcess) {
            throw ValidationError("--sources-per-process must be between 1 and 1000, not \(sourcesPerProcess).")
        }
        if allowUnsandboxed && requireSandbox == .full {
            throw ValidationError("--allow-unsandboxed and --require-sandbox full exclude each other.")
        }
    }

    /// For a command, which may be over before a second zygote would be of use.
    var poolConfiguration: CodecPoolConfiguration {
        get throws {
            let executables = try CodecExecutables.located()
            var configuration = CodecPoolConfiguration(
                executable: executables.codec, stills: executables.stills, sourcesBeforeReserve: 100)
            if let codecs { configuration.codecs = codecs }
            if let memory { configuration.memory = memory.bytes }
            configuration.sourcesPerProcess = sourcesPerProcess
            configuration.fastHuffman = !plainHuffman
            if allowUnsandboxed { configuration.sandbox = .allowUnsandboxed }
            if requireSandbox == .full { configuration.sandbox = .full }
            return configuration
        }
    }

    /// How many jobs are worth having underway: while codecs work on some, others are opened and made durable.
    var jobsAtOnce: Int {
        get throws { try poolConfiguration.codecs * 3 + 2 }
    }
}

enum SandboxLevel: String, ExpressibleByArgument, CaseIterable {
    case standard, full
}

/// Bytes, with an optional binary unit: `512M`, `4G`.
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

/// Where `satchel-codec` and `satchel-stills` are: beside `satchel`, else in `../libexec`, else where `SATCHEL_CODEC` says, which
/// is a directory, or one program that takes every source.
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
            satchel-codec was found neither beside satchel nor in ../libexec; install it with satchel-stills there, or name \
            the directory of both in SATCHEL_CODEC.
            """)
    }

    private init(codec: URL, stills: URL) {
        self.codec = codec
        self.stills = stills
    }

    /// Nil where `directory` has no codec. The codec for everything takes stills as well, at more cost, where theirs is missing.
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
