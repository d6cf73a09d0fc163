import ArgumentParser
import SatchelCore
import CodecPool
import Foundation
import Jobs
import S3
import Stores
import Synchronization

struct Batch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch", abstract: "Prepare every file of one or more directories.",
        discussion: """
            One job per file, opened in place and read only; links, devices and pipes are never opened. What was done is \
            known by path, size, modification time and profile, so that a second run does what is new or changed, and \
            an interrupted one carries on where it stopped. Objects of a bucket, known by key, ETag and size, are read where \
            they lie; with a store in PostgreSQL the same line on several machines shares one run.

              satchel batch ~/Pictures
              satchel batch ~/Pictures --output ~/Small --format jsonl > results.jsonl
              satchel batch s3://photos/2024      on every machine that shares the store
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

    @Option(
        help: ArgumentHelp(
            "Share this run with other machines of the same store, which all see the same files under the same paths.",
            valueName: "name"))
    var run: String?

    @Option(help: ArgumentHelp("Stop when this many files have failed.", valueName: "count"))
    var maxFailures: Int?

    @Flag(help: "Try files again that failed in an earlier run.")
    var retryFailed = false

    @Flag(help: "Only look: count what there is and estimate the work.")
    var dryRun = false

    func validate() throws {
        if let bucket = bucketLocation {
            if tree.sources.count > 1 || filesFrom != nil {
                throw ValidationError("'\(bucket)' is a bucket, which is the only source of a batch.")
            }
            if tree.move { throw ValidationError("--move removes files; objects of '\(bucket)' stay.") }
            if run != nil {
                throw ValidationError(
                    "--run is for directories; machines know the run of '\(bucket)' by its source and profile.")
            }
        }
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
        let supply: any SourceSupply
        var (paths, bucket): ([Data]?, BucketSupply?) = (nil, nil)
        if let location = bucketLocation {
            let objects = try await BucketSupply(location, tree, shard: shard)
            (supply, bucket) = (objects, objects)
        } else {
            let files = try FileSupply(tree, store: store, list: filesFrom, separator: null ? 0 : 10, shard: shard)
            (supply, paths) = (files, files.arguments)
        }
        if dryRun {
            let earlier = try await EarlierWork(store, profile: profile, retryFailed: retryFailed)
            try await DryRun(
                profile: profile, codecs: codecs, files: supply,
                objects: bucket.map { S3ObjectReader($0.client, scratch: NSTemporaryDirectory()) }, earlier: earlier
            ).run()
            return
        }
        let context = try await ProcessingContext.open(
            store, codecs, bucket: bucket?.client, timeLimit: tree.timeLimit, expecting: supply.decoderSet)
        let start = ContinuousClock.now
        let summary: Summary
        do {
            let writer = Mutex(try tree.writer(format))
            summary = try await process(supply, context, profile, try await tree.mirror(of: paths, context)) {
                line in
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

    private func process(
        _ supply: any SourceSupply, _ context: ProcessingContext, _ profile: Profile, _ mirror: Mirror?,
        write: @escaping @Sendable (ResultLine) throws -> Void
    ) async throws -> Summary {
        guard bucketLocation != nil || run != nil, let runs = context.store.records.sharedRuns else {
            if run != nil {
                throw CommandFailure(
                    "--run is for machines that share a store: --store postgres://…", status: 2)
            }
            return try await BatchRun(
                context: context, profile: profile, mirror: mirror, retryFailed: retryFailed,
                removesSources: tree.move, maximumFailures: maxFailures, width: try codecs.jobsAtOnce
            ).process(supply, showsProgress: !tree.quiet, write: write)
        }
        if let flag = flagOfOneMachine {
            throw CommandFailure(
                "\(flag) is for one machine, and this run is shared by all that use the store.", status: 2)
        }
        let source = try description(under: profile)
        return try await SharedBatchRun(
            context: context, runs: runs, profile: profile, mirror: mirror, retryFailed: retryFailed,
            width: try codecs.jobsAtOnce, write: write
        ).process(
            supply, as: run ?? WorkKey.ofRun(source),
            for: source, showsProgress: !tree.quiet)
    }

    private var bucketLocation: BucketLocation? { tree.sources.compactMap(BucketLocation.init).first }

    /// What can't be said of a run of many machines.
    private var flagOfOneMachine: String? {
        if shard != nil { return "--shard" }
        if maxFailures != nil { return "--max-failures" }
        if tree.move { return "--move" }
        if run == nil, let output = tree.output, BucketLocation(output) == nil { return "--output with a directory" }
        return nil
    }

    /// All that decides what is done, the same for the same line on each machine.
    private func description(under profile: Profile) throws -> String {
        struct Wanted: Encodable {
            var sources: [String]
            var filesFrom: String?
            var profile: String
            var include: [String]
            var exclude: [String]
            var output: String?
            var retryFailed: Bool
            var timeout: Double?
        }
        return try JSON.text(
            Wanted(
                sources: tree.sources.map { source in
                    BucketLocation(source).map { "s3://\($0.bucket)/\($0.prefix)" } ?? source
                },
                filesFrom: filesFrom, profile: try profile.digest, include: tree.include.all(),
                exclude: tree.exclude.all(), output: tree.output, retryFailed: retryFailed, timeout: tree.timeout))
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
