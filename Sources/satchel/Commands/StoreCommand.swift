import ArgumentParser
import Attachments
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
            """,
        subcommands: [Collect.self, Verify.self, Migrate.self])

    struct Collect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "gc",
            abstract: "Delete what has expired, and files that nothing refers to.",
            discussion: """
                Files that nothing refers to are what a crash or a power cut leaves. They are removed when they are older \
                than an hour, or at once when no other process uses the store.
                """)

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let store = try openStore(store, exclusively: true)
            let swept = try await reported { () async throws(AttachmentError) in try await store.sweep() }
            print(
                "Removed \(Quantity.count(swept.expired, "expired file")), \(Quantity.count(swept.orphans, "file")) that nothing referred to (\(Quantity.bytes(swept.bytes))), and \(Quantity.count(swept.leftovers, "leftover")) of interrupted work."
            )
            if !store.isExclusive {
                Console.printError("Another process uses the store, so what is younger than an hour was left alone.")
            }
        }
    }

    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "verify", abstract: "Read every byte again and compare it with its hash.")

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let store = try openStore(store)
            let result = try await reported { () async throws(AttachmentError) in
                try await store.verify()
            }
            for name in result.missing { print("missing  \(name.rawValue)") }
            for name in result.damaged { print("damaged  \(name.rawValue)") }
            for name in result.orphaned { print("unused   \(name.rawValue)") }
            guard result.isSound else {
                throw CommandFailure(
                    "\(result.missing.count) of \(result.blobs) blobs are missing and \(result.damaged.count) are damaged; delete their attachments with 'satchel rm' and prepare them again."
                )
            }
            print("\(Quantity.count(result.blobs, "blob")) verified, \(Quantity.bytes(result.bytes)): all are whole.")
        }
    }

    struct Migrate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "migrate", abstract: "Bring the records to this version's schema. Every command does so too.")

        @OptionGroup var store: StoreOptions

        func run() async throws {
            let store = try openStore(store)
            print("The store at \(store.directory) has the schema \(store.schemaVersion).")
        }
    }
}
