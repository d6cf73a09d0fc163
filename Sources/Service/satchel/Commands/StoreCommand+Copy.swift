import ArgumentParser
import SatchelCore
import Stores
import Synchronization

extension StoreCommand {
    struct Copy: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "copy", abstract: "Move a store in a directory into a database and a bucket.",
            discussion: """
                The database has this version's schema ('satchel store migrate') and nothing else, and no process uses the store. \
                Every blob is compared with its hash on the way, and put once for each tenant that has it. Ids, tokens, API keys \
                and jobs that wait go along; keep the same file of access keys. Killed at any moment, the copy goes on when the \
                command is run again. The directory stays as it is.

                  satchel store copy /srv/satchel --store postgres://owner@db.internal/satchel
                """)

        @Argument(help: ArgumentHelp("The directory of the store.", valueName: "dir"), completion: .directory)
        var directory: String

        @OptionGroup var store: StoreOptions

        @Flag(help: "Only say how much there is, which may be asked while a service uses the store.")
        var dryRun = false

        func run() async throws {
            guard case .database(let url) = store.location else {
                throw CommandFailure(
                    "a store is copied into a database; name one with --store, as in --store postgres://user@host/name.",
                    status: 2)
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
                    print("There are \(text(amount)). Nothing was copied.")
                    if isBegun { print("A part of it is there already, where the copy goes on.") }
                    return
                }
                try printReport(try await run(copy), keys: configuration.accessKeys)
            } catch StoreError.missing(let path) {
                throw CommandFailure("there is no Satchel store at '\(path)'.", status: 2)
            } catch let error as StoreError {
                throw CommandFailure(error.description, status: 2)
            } catch let error as AttachmentError {
                throw CommandFailure("the copy stopped, and goes on when it is run again: \(error.description)")
            }
        }

        private func run(_ copy: StoreCopy) async throws -> CopyReport {
            let line = CopyLine()
            Console.beginProgress { line.text(in: $0) }
            defer { Console.endProgress() }
            return try await copy.run { line.note($0) }
        }

        private func text(_ amount: CopyAmount) -> String {
            let interrupted = amount.interruptedJobs > 0 ? ", \(amount.interruptedJobs) of them to be begun anew" : ""
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
                print("\(directory) was copied to \(store.location) before, and nothing was done now.")
            } else {
                print("Copied \(text(report.amount)), each blob compared with its hash.")
                Console.printError(
                    "'\(directory)' is as it was, and no longer what is served: keep it until the copy has proven itself, and let no service use it."
                )
            }
            if !report.missingKeys.isEmpty {
                Console.printError(
                    "The keys in '\(keys)' are not all that this store was used with: put your copy of those there, or some leases, links and grants are void."
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
                    "in the store \(Quantity.count(missing, "file")) that records refer to were missing and \(damaged) damaged, and so they are in the copy, which has all else; delete their attachments with 'satchel rm' and prepare them again."
                )
            }
        }
    }
}

/// How far a copy is, for the line at the bottom.
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
            guard let latest = state.latest else { return "Looking how much there is".shortened(to: width) }
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
