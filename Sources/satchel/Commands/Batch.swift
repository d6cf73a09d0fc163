import ArgumentParser
import Attachments
import CodecPool
import Foundation
import Stores
import Synchronization

struct Batch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prepare every file of one or more directories.",
        discussion: """
            One job per file, opened in place and read only; links, devices and pipes are never opened. What was done is \
            known by path, size, modification time and profile, so that a second run does what is new or changed, and \
            an interrupted one carries on where it stopped.

              satchel batch ~/Pictures
              satchel batch ~/Pictures --output ~/Small --format jsonl > results.jsonl
              satchel batch ~/Pictures --include '*.heic' --profile message
              find . -newer mark -print0 | satchel batch --files-from - --null

            Longer clips are trimmed from their start under the default profile, and the summary says so. What is no \
            media, or empty, is 'skipped' and does not count as a failure. The table shows what is new; --format jsonl \
            and csv have a line for every file.
            """)

    @OptionGroup var tree: TreeOptions
    @OptionGroup(title: "What is made") var profiles: ProfileOptions
    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Codecs") var codecs: CodecOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(
        help: ArgumentHelp("Read the paths of files from here, one a line; '-' for standard input.", valueName: "file"),
        completion: .file())
    var filesFrom: String?

    @Flag(name: [.long, .customShort("0")], help: "Paths of --files-from end with NUL, as 'find -print0' writes them.")
    var null = false

    @Option(help: ArgumentHelp("Only part I of N of the files, for N machines: 1/2.", valueName: "I/N"))
    var shard: Shard?

    @Option(help: ArgumentHelp("Stop when this many files have failed.", valueName: "count"))
    var maxFailures: Int?

    @Flag(help: "Try files again that failed in an earlier run.")
    var retryFailed = false

    @Flag(help: "Only look: count what there is and estimate the work.")
    var dryRun = false

    func validate() throws {
        if tree.sources.isEmpty && filesFrom == nil {
            throw ValidationError("Name a directory, or give paths with --files-from.")
        }
        if let maxFailures, maxFailures < 1 {
            throw ValidationError("--max-failures must be at least 1, not \(maxFailures).")
        }
        if null && filesFrom == nil { throw ValidationError("--null goes with --files-from.") }
        if dryRun && tree.quiet { throw ValidationError("--dry-run and --quiet exclude each other.") }
        if dryRun && tree.move { throw ValidationError("--dry-run and --move exclude each other.") }
    }

    func run() async throws {
        let profile = try tree.checked(profiles.chosen(isQuiet: tree.quiet))
        let files = try FileSupply(tree, store: store, list: filesFrom, separator: null ? 0 : 10, shard: shard)
        if dryRun {
            let earlier = try await EarlierWork(store, profile: profile, retryFailed: retryFailed)
            try await DryRun(profile: profile, codecs: codecs, files: files, earlier: earlier).run()
            return
        }
        let context = try await ProcessingContext.open(
            store, codecs, timeLimit: tree.timeLimit, expecting: files.decoderSet)
        let run = BatchRun(
            context: context, profile: profile, mirror: try tree.mirror(of: files, context), retryFailed: retryFailed,
            removesSources: tree.move, maximumFailures: maxFailures, width: try codecs.jobsAtOnce)
        let writer = Mutex(try tree.writer(format))
        let start = ContinuousClock.now
        let summary: Summary
        do {
            summary = try await run.process(files, showsProgress: !tree.quiet) { line in
                try writer.withLock { try $0.write(line) }
            }
        } catch {
            await context.close()
            throw error
        }
        await context.close()
        for line in summary.lines(profile: profile, elapsed: ContinuousClock.now - start, isQuiet: tree.quiet) {
            Console.printError(Terminal.errors.width.map { line.wrapped(to: $0) } ?? line)
        }
        if let maxFailures, summary.failed >= maxFailures {
            throw CommandFailure(
                "stopped after \(summary.failed) failures (--max-failures); the same command carries on.")
        }
        if summary.failed > 0 { throw ExitCode(1) }
    }
}

/// One of the parts that several machines share the files of a tree by.
struct Shard: ExpressibleByArgument {
    var index: UInt64
    var count: UInt64

    init?(argument: String) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let index = UInt64(parts[0]), let count = UInt64(parts[1]), index >= 1, index <= count
        else { return nil }
        self.index = index
        self.count = count
    }

    /// Whether a path belongs to this part. FNV-1a (64 bit), so that every machine decides alike.
    func contains(_ path: Data) -> Bool {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash % count == index - 1
    }
}
