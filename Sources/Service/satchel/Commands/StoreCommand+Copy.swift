import ArgumentParser
import SatchelCore
import Stores
import Synchronization

extension StoreCommand {
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy", abstract: "Copy a directory store to PostgreSQL and a bucket.",
            discussion: """
                The database must have this version's schema ('satchel store migrate') and no records, and no process may \
                use the store. Every file is checked against its hash, and stored once for each tenant that has it.

                IDs, tokens, API keys and waiting jobs remain valid. Keep using the same file of access keys. If the \
                command is interrupted, run it again. The directory is not changed.

                Examples:

                  satchel store copy /srv/satchel --store postgres://owner@db.internal/satchel
                """)

        @Argument(help: ArgumentHelp("Directory of the store.", valueName: "dir"), completion: .directory)
        var directory: String

        @OptionGroup var store: StoreOptions

        @Flag(help: "Only count what would be copied. This also works while a service uses the store.")
        var dryRun = false

        func run() async throws {
            guard case .database(let url) = store.location else {
                throw CommandFailure(
                    "the target must be a database. Name it with --store, such as --store postgres://user@host/name.",
                    status: .usage)
            }
            var configuration = StoreOptions.configured
            configuration.store = url
            do {
                let source = try Store.open(
                    at: directory, keys: configuration.accessKeys, create: false, exclusively: !dryRun)
                let copy = try StoreCopy(
                    of: source, to: configuration.database(url), bytes: try await configuration.openBucket())
                guard !dryRun else {
                    let (amount, isBegun) = try await copy.look()
                    print("To copy: \(text(amount)). Nothing was copied.")
                    if isBegun { print("An earlier copy was interrupted; the next one continues it.") }
                    return
                }
                try printReport(try await run(copy), keys: configuration.accessKeys)
            } catch StoreError.missing(let path) {
                throw CommandFailure("there is no Satchel store at '\(path)'.", status: .usage)
            } catch let error as AttachmentError {
                throw CommandFailure(
                    "the copy stopped; run the command again to continue: \(error.description)", status: .unavailable)
            }
        }

        private func run(_ copy: StoreCopy) async throws -> CopyReport {
            let line = CopyLine()
            Console.beginProgress { line.text(in: $0) }
            defer { Console.endProgress() }
            return try await copy.run { line.note($0) }
        }

        private func text(_ amount: CopyAmount) -> String {
            let interrupted = amount.interruptedJobs > 0 ? ", \(amount.interruptedJobs) of them to be restarted" : ""
            return """
                \(Quantity.count(amount.blobs, "blob")) (\(Quantity.bytes(amount.bytes))), \
                \(Quantity.count(amount.attachments, "attachment")) of \(Quantity.count(amount.jobs, "job")) \
                (\(amount.unfinishedJobs) unfinished\(interrupted)), \(Quantity.count(amount.sources, "source")), \
                \(Quantity.count(amount.access, "grant, lease or link", "grants, leases and links")) \
                and \(Quantity.count(amount.keys, "API key"))
                """
        }

        private func printReport(_ report: CopyReport, keys: String) throws {
            if report.wasDone {
                print("Nothing to do: \(directory) was already copied to \(store.location).")
            } else {
                print("Copied \(text(report.amount)). Each blob was checked against its hash.")
                Console.printError(
                    "'\(directory)' is unchanged, but no longer up to date. Keep it as a fallback, and do not start a service with it."
                )
            }
            if !report.missingKeys.isEmpty {
                Console.printError(
                    "Some access keys of this store are missing in '\(keys)'. Copy yours there. Otherwise some leases, links and grants stop working."
                )
            }
            for name in report.damaged { print("damaged  \(name.rawValue)") }
            for name in report.missing { print("missing  \(name.rawValue)") }
            for name in report.damagedSources { print("damaged  \(name.rawValue), a source") }
            for name in report.missingSources { print("missing  \(name.rawValue), a source") }
            guard report.isSound else {
                let missing = report.missing.count + report.missingSources.count
                let damaged = report.damaged.count + report.damagedSources.count
                throw CommandFailure(
                    "\(Quantity.count(missing, "file")) missing and \(damaged) damaged in the store, and therefore in the copy. Everything else was copied. Delete the attachments of these files with 'satchel rm' and prepare them again."
                )
            }
        }
    }
}

/// The progress of a copy, for the progress line.
private final class CopyLine: Sendable {
    private struct State {
        var latest: CopyProgress?
        var pace = Pace()
    }

    private let state = Mutex(State())

    func note(_ progress: CopyProgress) {
        state.withLock { state in
            if state.latest?.stage != progress.stage { state.pace = Pace() }
            state.latest = progress
        }
    }

    func text(in width: Int) -> String {
        state.withLock { state in
            guard let latest = state.latest else { return "Counting files and records".shortened(to: width) }
            state.pace.note(latest.done, at: .now)
            let unit =
                switch latest.stage {
                case .sources: "source"
                case .blobs: "blob"
                case .records: "record"
                }
            return ProgressLine(
                done: latest.done, found: latest.total, isComplete: true, unit: unit, pace: state.pace.perSecond
            ).text(in: width)
        }
    }
}
