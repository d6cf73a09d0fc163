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
        commandName: "batch", abstract: "Prepare all files in directories or a bucket.",
        discussion: """
            Each file becomes one job. Satchel reads files in place and does not change them. It does not open \
            symbolic links, devices or pipes. Only --move deletes files.

            A second run processes only new and changed files. An interrupted run continues where it stopped. A file \
            counts as unchanged if its path, size, modification time and profile are the same as before.

            The source can also be a bucket (s3://bucket/prefix). An object counts as unchanged if its key, ETag and \
            size are the same as before. If the store is in PostgreSQL, several machines can share the work on a \
            bucket. Start the same command on each machine.

            The default profile keeps the first 10 seconds of a video and the first 30 of an audio file. The summary \
            counts the clips that were trimmed.

            Files that are empty or not media are 'skipped' and do not count as failures. The default table shows \
            only new results. With --format jsonl or csv, the output has a line for every file.

            Examples:

              satchel batch ~/Pictures
              satchel batch ~/Pictures --output ~/Small --format jsonl > results.jsonl
              satchel batch ~/Pictures --include '*.heic' --profile message
              satchel batch s3://photos/2024
              find . -newer mark -print0 | satchel batch --files-from - --null
            """)

    @OptionGroup(title: "Files") var tree: TreeOptions
    @OptionGroup(title: "Renditions") var profiles: ProfileOptions
    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Decoding") var codecs: CodecOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(
        help: ArgumentHelp("Read paths from this file, one per line; '-' reads standard input.", valueName: "file"),
        completion: .file())
    var filesFrom: String?

    @Flag(
        name: [.long, .customShort("0")],
        help: "Paths read by --files-from are NUL-separated, as written by 'find -print0'.")
    var null = false

    @Option(
        help: ArgumentHelp(
            "Process only part I of N, such as 1/2, to divide the files among N machines.", valueName: "I/N"))
    var shard: Shard?

    @Option(
        help: ArgumentHelp(
            "Name of a run that several machines share. All machines need the same store, and the same files at the same paths.",
            valueName: "name"))
    var run: String?

    @Option(help: ArgumentHelp("Stop after this many failures. Run the command again to continue.", valueName: "count"))
    var maxFailures: Int?

    @Flag(
        help:
            "Retry files that an earlier run refused. Files that failed for another reason than their bytes are always retried."
    )
    var retryFailed = false

    @Flag(help: "Exit with status 1 also for files that failed in an earlier run and are not retried.")
    var failOnKnown = false

    @Flag(help: "Count the files and estimate the work from a sample, without preparing or storing anything.")
    var dryRun = false

    func validate() throws {
        if let bucket = bucketLocation {
            if tree.sources.count > 1 || filesFrom != nil {
                throw ValidationError("'\(bucket)' is a bucket, which must be the only source.")
            }
            if tree.move {
                throw ValidationError("--move cannot be used with '\(bucket)': objects of a bucket are never deleted.")
            }
            if run != nil {
                throw ValidationError(
                    "--run cannot be used with '\(bucket)': machines find the run of a bucket by its source and profile."
                )
            }
        }
        if tree.sources.isEmpty && filesFrom == nil {
            throw ValidationError("Name a directory, or give paths with --files-from.")
        }
        if let maxFailures, maxFailures < 1 {
            throw ValidationError("--max-failures must be at least 1, not \(maxFailures).")
        }
        if null && filesFrom == nil { throw ValidationError("--null needs --files-from.") }
        if dryRun && tree.quiet { throw ValidationError("--dry-run and --quiet cannot be combined.") }
        if dryRun && tree.move { throw ValidationError("--dry-run and --move cannot be combined.") }
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
        let summary = try await context.closing {
            let writer = Mutex(try tree.writer(format))
            return try await process(supply, context, profile, try await tree.mirror(of: paths, context)) { line in
                try writer.withLock { try $0.write(line) }
            }
        }
        for line in summary.lines(profile: profile, elapsed: ContinuousClock.now - start, isQuiet: tree.quiet) {
            Console.printError(Terminal.errors.width.map { line.wrapped(to: $0) } ?? line)
        }
        try Task.checkCancellation()
        if let maxFailures, summary.failedNow >= maxFailures {
            throw CommandFailure(
                "stopped after \(summary.failedNow) failures (--max-failures). Run the command again to continue.")
        }
        if summary.failedNow > 0 || failOnKnown && summary.failed > 0 { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func process(
        _ supply: any SourceSupply, _ context: ProcessingContext, _ profile: Profile, _ mirror: Mirror?,
        write: @escaping @Sendable (ResultLine) throws -> Void
    ) async throws -> Summary {
        guard bucketLocation != nil || run != nil, let runs = context.store.records.sharedRuns else {
            if run != nil {
                throw CommandFailure(
                    "--run needs a store that machines share, such as --store postgres://user@host/name.",
                    status: .usage)
            }
            return try await BatchRun(
                context: context, profile: profile, mirror: mirror, retrying: retrying,
                removesSources: tree.move, maximumFailures: maxFailures, width: try codecs.jobsAtOnce
            ).process(supply, showsProgress: !tree.quiet, write: write)
        }
        if let flag = flagOfOneMachine {
            throw CommandFailure(
                "\(flag) cannot be used in a run that several machines share.", status: .usage)
        }
        let source = try description(under: profile)
        return try await SharedBatchRun(
            context: context, runs: runs, profile: profile, mirror: mirror, retrying: retrying,
            width: try codecs.jobsAtOnce, write: write
        ).process(
            supply, as: run ?? WorkKey.ofRun(source),
            for: source, showsProgress: !tree.quiet)
    }

    private var retrying: FailureRetry { retryFailed ? .all : .passing }

    private var bucketLocation: BucketLocation? { tree.sources.compactMap(BucketLocation.init).first }

    /// A given flag that a shared run does not support.
    private var flagOfOneMachine: String? {
        if shard != nil { return "--shard" }
        if maxFailures != nil { return "--max-failures" }
        if tree.move { return "--move" }
        if run == nil, let output = tree.output, BucketLocation(output) == nil { return "--output with a directory" }
        return nil
    }

    /// Everything that decides what the run does, so that the same command gives the same text on each machine.
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

/// One of several parts into which the files of a tree are divided.
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

    /// Whether a path belongs to this part, by its 64-bit FNV-1a hash. All machines get the same result.
    func contains(_ path: Data) -> Bool {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in path { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash % count == index - 1
    }
}
