import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Look after the store.",
        discussion: """
            For example:

              satchel store gc        delete what has expired, and files that nothing refers to
              satchel store verify    read every byte again and compare it with its hash
              satchel store migrate   bring the records to this version's schema
              satchel store backup DIR    copy it, while it is used
              satchel store restore DIR   make a store of a backup
              satchel store copy DIR      move one in a directory into a database and a bucket
            """,
        subcommands: [Collect.self, Verify.self, Migrate.self, Backup.self, Restore.self, Copy.self])

    struct Collect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Delete what has expired, and files that nothing refers to.",
            discussion: """
                Files that nothing refers to are what a crash or a power cut leaves. They are removed when they are older \
                than an hour, or at once when no other process uses the store.
                """)

        @Flag(
            help:
                "Look through all files of a store in PostgreSQL too, which writes down what is superfluous and removes it by itself."
        )
        var audit = false

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let store = try await openStore(store, exclusively: true)
            let swept = try await reported { () async throws(AttachmentError) in
                try await store.sweep(audits: audit)
            }
            print(
                "Removed \(Quantity.count(swept.expired, "expired file")), \(Quantity.count(swept.orphans, "file")) that nothing referred to (\(Quantity.bytes(swept.bytes))), and \(Quantity.count(swept.leftovers, "leftover")) of interrupted work."
            )
            if swept.collected > 0 { print("Of what deletions had left, \(swept.collected) were due.") }
            if !store.isExclusive {
                Console.printError("Another process uses the store, so what is younger than an hour was left alone.")
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Read every byte again and compare it with its hash.",
            discussion: """
                What is damaged or missing is named, and the next delivery of the same bytes stores them anew. With --repair it is \
                brought back first, where it can be: from a version that the bucket has kept, also of what was removed; from equal \
                bytes of the same tenant; or, for a store in a directory, from a backup. So a database that was set back to \
                an earlier moment gets the bytes that its records refer to.

                  satchel store verify --repair --from /backup/satchel
                """)

        @Flag(help: "Bring back what is damaged or missing.") var repair = false

        @Option(
            help: ArgumentHelp("With --repair: a backup of the store, for what is nowhere else.", valueName: "dir"),
            completion: .directory)
        var from: String?

        @OptionGroup var store: StoreOptions

        func validate() throws {
            if from != nil, !repair { throw ValidationError("--from needs --repair.") }
        }

        func run() async throws {
            if from != nil, store.directory == nil {
                throw CommandFailure(
                    "--from is for a store in a directory; a bucket is repaired from the versions that it keeps.",
                    status: 2)
            }
            let opened = try await openStore(store)
            let backup: BackupDirectory?
            do {
                backup = try from.map { try BackupDirectory(existingAt: $0) }
            } catch let error as StoreError {
                throw CommandFailure(error.description, status: 2)
            }
            let result = try await reported { () async throws(AttachmentError) in
                try await opened.verify(repairing: repair, from: backup)
            }
            for name in result.repaired { print("repaired \(name.rawValue)") }
            for name in result.repairedSources { print("repaired \(name.rawValue), a source") }
            for name in result.missing { print("missing  \(name.rawValue)") }
            for name in result.damaged { print("damaged  \(name.rawValue)") }
            for name in result.missingSources { print("missing  \(name.rawValue), a source") }
            for name in result.orphaned { print("unused   \(name.rawValue)") }
            guard result.isSound else { throw CommandFailure(advice(result)) }
            let repaired = result.repaired.count + result.repairedSources.count
            let outcome =
                repaired == 0 ? "all are whole" : "all are whole, \(Quantity.count(repaired, "file")) of them again"
            print("\(Quantity.count(result.blobs, "blob")) verified, \(Quantity.bytes(result.bytes)): \(outcome).")
        }

        private func advice(_ result: VerifyReport) -> String {
            func count(_ names: [BlobName], _ what: String) -> String {
                "\(names.count) \(names.count == 1 ? "is" : "are") \(what)"
            }
            var lost =
                "of \(Quantity.count(result.blobs + result.missing.count, "blob")) \(count(result.missing, "missing")) and \(count(result.damaged, "damaged"))"
            if !result.missingSources.isEmpty {
                lost += ", and \(Quantity.count(result.missingSources.count, "source")) of waiting jobs"
            }
            let rest =
                repair
                ? ", and nothing that was looked at has them"
                : "; 'satchel store verify --repair' brings back what is kept elsewhere"
            return "\(lost)\(rest). Delete the attachments of what is lost with 'satchel rm' and prepare them again."
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate", abstract: "Bring the records to this version's schema.",
            discussion: """
                Every command does so with a store in a directory. In PostgreSQL this one alone does, and makes the schema \
                where there is none: run it with a role that owns the tables, before the nodes of a new version start.

                  satchel store migrate --store postgres://owner@db.internal/satchel
                """)

        @OptionGroup var store: StoreOptions

        func run() async throws {
            var configuration = StoreOptions.configured
            if let store = store.store { configuration.store = store }
            let version = try await configuration.migrateStore()
            print("The store at \(store.location) has the schema \(version).")
        }
    }

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup", abstract: "Copy the store as it is at one moment, while it is used.",
            discussion: """
                Into a new directory, or into that of an earlier backup: then only what is new is copied. On the store's own \
                file system files get a second name instead. Accepted sources are in it; the keys that tokens are derived \
                from are not: keep a copy of their file elsewhere. Without it renditions that are kept encrypted are lost.

                  satchel store backup /backup/satchel
                """)

        @Argument(help: ArgumentHelp("The backup's directory.", valueName: "dir"), completion: .directory)
        var directory: String

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let opened = try await openStore(store)
            let report: BackupReport
            do {
                report = try await opened.backup(into: BackupDirectory(at: directory))
            } catch let error as StoreError {
                throw CommandFailure(error.description, status: 2)
            } catch let error as AttachmentError {
                throw CommandFailure("the backup was not made, and an earlier one is as it was: \(error.description)")
            }
            print(
                "Backed up \(Quantity.count(report.blobs, "blob")) (\(Quantity.bytes(report.bytes))), \(report.newBlobs) of them new, and \(Quantity.count(report.sources, "source")) of unfinished jobs."
            )
            Console.printError(
                "The keys that tokens are derived from are not in it. They are in '\(store.keysFile.path(percentEncoded: false))': keep a copy of that file elsewhere, for whoever has both opens everything. Without it renditions that are kept encrypted are lost."
            )
            for name in report.missing { print("missing  \(name.rawValue)") }
            guard report.missing.isEmpty else {
                throw CommandFailure(
                    "the store itself lacks \(Quantity.count(report.missing.count, "blob")) that records refer to, and so does the backup; 'satchel store verify' tells more."
                )
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Make a store of a backup; what waited goes on with the next service.",
            discussion: """
                Where no store is, or an empty one, and while nobody uses it. Every blob is compared with its hash.

                  satchel store restore /backup/satchel --store /srv/satchel
                """)

        @Argument(help: ArgumentHelp("The backup's directory.", valueName: "dir"), completion: .directory)
        var directory: String

        @OptionGroup var store: StoreOptions

        func run() async throws {
            guard case .directory(let target) = store.location else {
                throw CommandFailure(
                    "only a store in a directory is restored by this command; name one with --store. A database and a bucket are restored by their own tools.",
                    status: 2)
            }
            let keys = store.keysFile.path(percentEncoded: false)
            let report: RestoreReport
            do {
                report = try await BackupDirectory(existingAt: directory).restore(to: target, keys: keys)
            } catch let error as StoreError {
                throw CommandFailure(error.description, status: 2)
            } catch let error as AttachmentError {
                throw CommandFailure("the store was not made: \(error.description)")
            }
            print(
                "Restored \(Quantity.count(report.blobs, "blob")) (\(Quantity.bytes(report.bytes))), each compared with its hash, and \(Quantity.count(report.sources, "source")) of unfinished jobs, which the next service carries out."
            )
            Console.printError(advice(report, keys))
            for name in report.damaged { print("damaged  \(name.rawValue)") }
            for name in report.missing { print("missing  \(name.rawValue)") }
            guard report.damaged.isEmpty, report.missing.isEmpty else {
                throw CommandFailure(
                    "\(report.missing.count) blobs are missing in the backup and \(report.damaged.count) are damaged; delete their attachments with 'satchel rm' and prepare them again."
                )
            }
        }

        private func advice(_ report: RestoreReport, _ keys: String) -> String {
            let loss =
                "leases, links and grants are void, and headers for origins and keys of jobs that wait, and all renditions that are kept encrypted, are lost"
            if !report.hasKeys {
                return
                    "A backup has no keys: put your copy of them at '\(keys)' before anything uses the store, or new ones are made and all \(loss)."
            }
            if !report.missingKeys.isEmpty {
                return
                    "The keys in '\(keys)' are not all that this store was used with: put your copy of those there, or some \(loss)."
            }
            return "The keys in '\(keys)' are those of this store: all access goes on."
        }
    }
}
