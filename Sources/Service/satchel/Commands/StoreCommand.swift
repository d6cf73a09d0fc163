import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct StoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Clean, verify, migrate, back up, restore and copy the store.",
        discussion: """
            Examples:

              satchel store gc
              satchel store verify
              satchel store backup /backup/satchel
              satchel store restore /backup/satchel --store /srv/satchel
            """,
        subcommands: [Collect.self, Verify.self, Migrate.self, Backup.self, Restore.self, Copy.self])

    struct Collect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Delete expired files, and files that no record refers to.",
            discussion: """
                A crash or a power cut can leave files that no record refers to. They are deleted once they are an hour \
                old, or immediately if no other process uses the store.
                """)

        @Flag(
            help:
                "With a store in PostgreSQL: also search the whole bucket for orphaned objects. Normally, only those that the database lists are deleted."
        )
        var audit = false

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let store = try await openStore(store, exclusively: true, freesSpace: true)
            let swept = try await store.sweep(audits: audit)
            print(
                "Deleted \(Quantity.count(swept.expired, "expired file")), \(Quantity.count(swept.orphans, "orphaned file")) (\(Quantity.bytes(swept.bytes))) and \(Quantity.count(swept.leftovers, "leftover")) of interrupted work."
            )
            if swept.collected > 0 {
                print("Deleted \(Quantity.count(swept.collected, "file")) left by earlier deletions.")
            }
            if !store.isExclusive {
                Console.printError("Another process uses the store, so orphaned files younger than an hour were kept.")
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Check every file in the store against its hash.",
            discussion: """
                The command first checks the database. Then it lists damaged and missing files, and the attachments and \
                renditions that need them. The next delivery of the same bytes stores them again. The exit status is 1 if \
                something is damaged or missing.

                A database in PostgreSQL is only read. Check its files with pg_amcheck and data checksums.

                With --repair, the command first restores them from an earlier version in the bucket, or from identical \
                bytes of the same tenant. A store in a directory can also be restored from a backup (--from). After a \
                database was reset to an earlier moment, this brings back the bytes that its records refer to.

                With --remove-damaged, the command then deletes the attachments whose files are damaged or missing, like \
                'satchel rm'. Prepare their sources again.

                Examples:

                  satchel store verify
                  satchel store verify --repair --from /backup/satchel
                """)

        @Flag(help: "Restore damaged and missing files where possible.") var repair = false

        @Flag(help: "Delete the attachments whose files are damaged or missing.") var removeDamaged = false

        @Option(
            help: ArgumentHelp("With --repair: the directory of a backup to restore files from.", valueName: "dir"),
            completion: .directory)
        var from: String?

        @OptionGroup var store: StoreOptions

        func validate() throws {
            if from != nil, !repair { throw ValidationError("--from needs --repair.") }
        }

        func run() async throws {
            if from != nil, store.directory == nil {
                throw CommandFailure(
                    "--from needs a store in a directory. A bucket is repaired from the versions that it keeps.",
                    status: .usage)
            }
            do {
                if case .directory(let path) = store.location { try Store.check(at: path) }
            } catch {
                guard case .malformed(_, let faults) = error else {
                    // Why a store can't be opened is known better there.
                    _ = try await openStore(store)
                    throw error
                }
                for fault in faults { print("database \(fault)") }
                throw CommandFailure(error.description)
            }
            let opened = try await openStore(store)
            let backup = try from.map { try BackupDirectory(existingAt: $0) }
            let result = try await opened.verify(repairing: repair, from: backup, removing: removeDamaged)
            for name in result.repaired { print("repaired \(name.rawValue)") }
            for name in result.repairedSources { print("repaired \(name.rawValue), a source") }
            for name in result.missing { print("missing  \(name.rawValue)") }
            for name in result.damaged { print("damaged  \(name.rawValue)") }
            for name in result.missingSources { print("missing  \(name.rawValue), a source") }
            for rendition in result.affected {
                let tenant = rendition.tenant == .local ? "" : " of tenant \(rendition.tenant.rawValue)"
                let path = rendition.path.map { ", \(Data($0.utf8).displayPath)" } ?? ""
                print("affected \(rendition.attachment.rawValue)\(tenant), rendition \(rendition.role.rawValue)\(path)")
            }
            for id in result.deleted { print("deleted  \(id.rawValue)") }
            for name in result.orphaned { print("unused   \(name.rawValue)") }
            guard result.isSound else { throw CommandFailure(advice(result)) }
            let repaired = result.repaired.count + result.repairedSources.count
            let outcome =
                if !result.deleted.isEmpty {
                    "all others are intact, after \(Quantity.count(result.deleted.count, "deletion"))"
                } else {
                    repaired == 0 ? "all are intact" : "all are intact, after \(Quantity.count(repaired, "repair"))"
                }
            print("\(Quantity.count(result.blobs, "blob")) verified, \(Quantity.bytes(result.bytes)): \(outcome).")
        }

        private func advice(_ result: VerifyReport) -> String {
            var lost =
                "\(result.missing.count) of \(Quantity.count(result.blobs + result.missing.count, "blob")) missing and \(result.damaged.count) damaged"
            if !result.missingSources.isEmpty {
                lost += ", and \(Quantity.count(result.missingSources.count, "source")) of waiting jobs missing"
            }
            let rest =
                repair
                ? "No intact copy was found."
                : "'satchel store verify --repair' restores files of which there is an intact copy."
            return
                "\(lost). \(rest) 'satchel store verify --remove-damaged' deletes the attachments of the others. Prepare them again."
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate", abstract: "Upgrade the records to this version's schema.",
            discussion: """
                Any command upgrades a store in a directory, if no other process uses the store. The records are first \
                copied to the file 'records.sqlite.version-N' in the directory, where N is their schema.

                Only this command upgrades a store in PostgreSQL, and creates the schema of a new one. Run it as a role that \
                owns the tables, before nodes of a new version start.

                Examples:

                  satchel store migrate --dry-run
                  satchel store migrate --store postgres://owner@db.internal/satchel
                """)

        @Flag(help: "Print what an upgrade would do, and change nothing.") var dryRun = false

        @OptionGroup var store: StoreOptions

        func run() async throws {
            var configuration = StoreOptions.configured
            if let store = store.store { configuration.store = store }
            let plan = try await configuration.upgradePlan()
            if !dryRun { try await configuration.migrateStore() }
            for line in describe(plan) { print(line) }
        }

        private func describe(_ plan: SchemaPlan?) -> [String] {
            let steps = plan?.steps ?? []
            let version = dryRun ? plan?.version ?? Store.schemaVersion : Store.schemaVersion
            let state = "The store at \(store.location) has \(version == 0 ? "no schema" : "schema \(version)")."
            guard dryRun else { return [state] }
            let planned = steps.map { "Step \($0.version) would be taken. \($0.summary)" }
            return [state] + (planned.isEmpty ? ["It is up to date."] : planned)
        }
    }

    struct Backup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "backup", abstract: "Back up a directory store while it is in use.",
            discussion: """
                Name a new directory, or that of an earlier backup; then only new files are copied. The new backup takes \
                the place of the earlier one after its database was checked. Where the file system can, files are cloned \
                (reflinks) instead of copied, which does not protect against disk failure.

                The backup includes the sources of waiting jobs, but not the access keys. Keep a copy of their file \
                elsewhere. Without it, encrypted renditions are lost.

                Examples:

                  satchel store backup /backup/satchel
                """)

        @Argument(help: ArgumentHelp("Directory of the backup.", valueName: "dir"), completion: .directory)
        var directory: String

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let opened = try await openStore(store)
            let report: BackupReport
            do {
                report = try await opened.backup(into: BackupDirectory(at: directory))
            } catch StoreError.malformed(_, let faults) {
                let cause = StoreError.malformed(path: store.location.description, faults: faults)
                throw CommandFailure(
                    "the backup failed, and an earlier one is unchanged: \(cause)", status: cause.status)
            } catch let error as AttachmentError {
                throw CommandFailure(
                    "the backup failed, and an earlier one is unchanged: \(error.message)", status: error.status)
            }
            print(
                "Backed up \(Quantity.count(report.blobs, "blob")) (\(Quantity.bytes(report.bytes))), \(report.newBlobs) of them new, and \(Quantity.count(report.sources, "source")) of unfinished jobs."
            )
            Console.printError(
                "The backup does not include the access keys in '\(store.keysFile.path(percentEncoded: false))'. Keep a copy of that file in another place, because the keys and the backup together give access to everything. Without the keys, encrypted renditions are lost."
            )
            for name in report.missing { print("missing  \(name.rawValue)") }
            guard report.missing.isEmpty else {
                throw CommandFailure(
                    "\(Quantity.count(report.missing.count, "blob")) missing in the store, and therefore in the backup. See 'satchel store verify'."
                )
            }
        }
    }

    struct Restore: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "restore", abstract: "Create a store from a backup.",
            discussion: """
                The target directory must be empty or not exist, and no process may use it. Every file is checked against \
                its hash. Waiting jobs continue when a service starts.

                Examples:

                  satchel store restore /backup/satchel --store /srv/satchel
                """)

        @Argument(help: ArgumentHelp("Directory of the backup.", valueName: "dir"), completion: .directory)
        var directory: String

        @OptionGroup var store: StoreOptions

        func run() async throws {
            guard case .directory(let target) = store.location else {
                throw CommandFailure(
                    "this command restores a store in a directory; name it with --store. Use the tools of the database and the bucket to restore those.",
                    status: .usage)
            }
            let keys = store.keysFile.path(percentEncoded: false)
            let report: RestoreReport
            do {
                report = try await BackupDirectory(existingAt: directory).restore(to: target, keys: keys)
            } catch let error as AttachmentError {
                throw CommandFailure("the store was not restored: \(error.message)", status: error.status)
            }
            print(
                "Restored \(Quantity.count(report.blobs, "blob")) (\(Quantity.bytes(report.bytes))), checked against their hashes, and \(Quantity.count(report.sources, "source")) of unfinished jobs, which the next service processes."
            )
            Console.printError(advice(report, keys))
            for name in report.damaged { print("damaged  \(name.rawValue)") }
            for name in report.missing { print("missing  \(name.rawValue)") }
            guard report.damaged.isEmpty, report.missing.isEmpty else {
                throw CommandFailure(
                    "\(report.missing.count) blobs are missing in the backup and \(report.damaged.count) are damaged. Delete their attachments with 'satchel rm' and prepare them again."
                )
            }
        }

        private func advice(_ report: RestoreReport, _ keys: String) -> String {
            guard report.hasKeys, report.missingKeys.isEmpty else {
                let lack =
                    report.hasKeys ? "Some access keys of this store are missing in" : "There are no access keys at"
                return
                    "\(lack) '\(keys)'. Copy yours there before the store is used. Without them, leases, links and grants stop working, and encrypted renditions and the request headers and keys of waiting jobs are lost."
            }
            return "The access keys in '\(keys)' belong to this store, so all access continues to work."
        }
    }
}
