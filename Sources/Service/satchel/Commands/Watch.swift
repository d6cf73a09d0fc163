import ArgumentParser
import SatchelCore
import CodecPool
import Foundation
import Ingest
import Synchronization

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prepare all files in directories, and files that appear later, until stopped.",
        discussion: """
            Processes the same files as 'satchel batch', then waits for new and changed ones, also in new \
            directories. Satchel waits until a file has been unchanged for --settle seconds, so that files are not \
            read while being copied. All directories are scanned again every --interval seconds, because the kernel \
            does not report changes on network file systems.

            Ctrl-C or SIGTERM stops the command. Run it again to continue.

            Examples:

              satchel watch ~/Incoming --output ~/Outgoing
              satchel watch /srv/camera --profile archive --move --format jsonl
            """)

    @OptionGroup(title: "Files") var tree: TreeOptions

    @OptionGroup(title: "Renditions") var profiles: ProfileOptions
    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Decoding") var codecs: CodecOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(
        help: ArgumentHelp("Process a file after it has been unchanged for this many seconds.", valueName: "seconds"))
    var settle = 2.0

    @Option(
        help: ArgumentHelp(
            "Scan all directories again after this many seconds, in case file system events were missed.",
            valueName: "seconds"))
    var interval = 60.0

    func validate() throws {
        if tree.sources.isEmpty { throw ValidationError("Name a directory to watch.") }
        if let bucket = tree.sources.compactMap(BucketLocation.init).first {
            throw ValidationError(
                "'\(bucket)' is a bucket, which can't be watched. Run 'satchel batch' repeatedly instead.")
        }
        for (name, value) in [("--settle", settle), ("--interval", interval)]
        where !(value >= 0.1 && value <= 86_400) {
            throw ValidationError("\(name) must be between 0.1 and 86400 seconds, not \(value).")
        }
    }

    func run() async throws {
        let profile = try tree.checked(profiles.chosen(isQuiet: tree.quiet))
        var files = try FileSupply(tree, store: store)
        let context = try await ProcessingContext.open(
            store, codecs, timeLimit: tree.timeLimit, expecting: files.decoderSet)
        let summary = Mutex(Summary())
        let start = ContinuousClock.now
        try await context.closing {
            do {
                let run = BatchRun(
                    context: context, profile: profile, mirror: try await tree.mirror(of: files.arguments, context),
                    retrying: .passing, removesSources: tree.move, maximumFailures: nil, width: try codecs.jobsAtOnce)
                let writer = Mutex(try tree.writer(format))
                let watch = try DirectoryWatch()
                let changes = FileChanges(settling: .seconds(fraction: settle))
                files.watch = watch
                files.isWanted = { changes.take($0) }
                if !tree.quiet {
                    Console.printError("Watching \(tree.sources.joined(separator: ", ")). Press Ctrl-C to stop.")
                }
                var isSaid = false
                while true {
                    _ = try await run.process(files, showsProgress: false) { line in
                        summary.withLock { $0.add(line) }
                        try writer.withLock { try $0.write(line) }
                    }
                    try Task.checkCancellation()
                    if !watch.seesAll, !isSaid {
                        isSaid = true
                        Console.printError(
                            "Note: the limit of watched directories (fs.inotify.max_user_watches) is reached. The others are scanned every \(Quantity.seconds(interval))."
                        )
                    }
                    let next = min(changes.again ?? .seconds(fraction: interval), .seconds(fraction: interval))
                    if try await watch.wait(until: .now + next) {
                        // Changes that come in quick succession are processed together.
                        try await Task.sleep(for: .milliseconds(100))
                    }
                }
            } catch  where Task.isCancelled {
            } catch let error as SystemError {
                throw CommandFailure("the system \(error).", status: .unavailable)
            }
        }
        for line in summary.withLock(\.self).lines(
            profile: profile, elapsed: ContinuousClock.now - start, isQuiet: tree.quiet)
        {
            Console.printError(Terminal.errors.width.map { line.wrapped(to: $0) } ?? line)
        }
    }
}
