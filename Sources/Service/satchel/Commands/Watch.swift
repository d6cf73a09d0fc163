import ArgumentParser
import SatchelCore
import CodecPool
import Foundation
import Ingest
import Synchronization

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prepare every file of one or more directories, and what comes into them, until stopped.",
        discussion: """
            Does what 'satchel batch' does, then waits for files that come or change, in directories that come, too. A \
            file is taken when it has been left alone for --settle seconds, so that one that is being copied or \
            downloaded isn't read half. Ctrl-C or SIGTERM ends it: what is underway is handed back, and the same command \
            carries on.

              satchel watch ~/Incoming --output ~/Outgoing
              satchel watch /srv/camera --profile archive --move --format jsonl >> results.jsonl

            Directories of which the kernel tells nothing, such as those of another machine, are looked at anew every \
            --interval seconds.
            """)

    @OptionGroup var tree: TreeOptions

    @OptionGroup(title: "What is made") var profiles: ProfileOptions
    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Codecs") var codecs: CodecOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: ArgumentHelp("A file is taken when it hasn't changed for so long.", valueName: "seconds"))
    var settle = 2.0

    @Option(
        help: ArgumentHelp("Look at everything anew after so long, whatever the kernel tells.", valueName: "seconds"))
    var interval = 60.0

    func validate() throws {
        if tree.sources.isEmpty { throw ValidationError("Name a directory to watch.") }
        if let bucket = tree.sources.compactMap(BucketLocation.init).first {
            throw ValidationError(
                "'\(bucket)' is a bucket, which tells nobody what is new: 'satchel batch' again does.")
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
        do {
            let run = BatchRun(
                context: context, profile: profile, mirror: try await tree.mirror(of: files.arguments, context),
                retryFailed: false,
                removesSources: tree.move, maximumFailures: nil, width: try codecs.jobsAtOnce)
            let writer = Mutex(try tree.writer(format))
            let watch = try DirectoryWatch()
            let changes = FileChanges(settling: .seconds(fraction: settle))
            files.watch = watch
            files.isWanted = { changes.take($0) }
            if !tree.quiet {
                Console.printError("Watching \(tree.sources.joined(separator: ", ")). Ctrl-C ends it.")
            }
            var isSaid = false
            while true {
                _ = try await run.process(files, showsProgress: false) { line in
                    summary.withLock { $0.add(line) }
                    try writer.withLock { try $0.write(line) }
                }
                if !watch.seesAll, !isSaid {
                    isSaid = true
                    Console.printError(
                        "Note: the kernel watches no more directories for this user (fs.inotify.max_user_watches); the rest is looked at every \(Quantity.seconds(interval))."
                    )
                }
                let next = min(changes.again ?? .seconds(fraction: interval), .seconds(fraction: interval))
                if try await watch.wait(until: .now + next) {
                    // Whatever comes in one go is looked at together.
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
        } catch is CancellationError {
            await context.close()
        } catch let error as SystemError {
            await context.close()
            throw CommandFailure("The system \(error).")
        } catch {
            await context.close()
            throw error
        }
        for line in summary.withLock(\.self).lines(
            profile: profile, elapsed: ContinuousClock.now - start, isQuiet: tree.quiet)
        {
            Console.printError(Terminal.errors.width.map { line.wrapped(to: $0) } ?? line)
        }
    }
}
