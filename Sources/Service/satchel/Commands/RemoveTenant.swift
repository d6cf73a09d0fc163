import ArgumentParser
import SatchelCore
import Foundation
import Glibc
import Ingest
import Stores

struct RemoveTenant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Permanently delete everything that is stored for a tenant.",
        discussion: """
            First, all access is revoked: keys, grants, leases, links, tickets and console sessions. Jobs, firings and calls \
            are cancelled. Then the records and renditions are deleted. If the command is interrupted, run it again; a \
            running service also completes the deletion. Other tenants keep their renditions, even if the bytes are the \
            same.
            """)

    @Argument(help: ArgumentHelp("Name of the tenant.", valueName: "name"), completion: .tenants)
    var name: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup(title: "Store") var store: StoreOptions

    func run() async throws {
        let store = try await openStore(store)
        if !yes {
            Console.printError(
                "This deletes everything stored for the tenant '\(Data(name.utf8).displayPath)'. Type its name to continue:"
            )
            guard readLine() == name else {
                throw CommandFailure("the name does not match; nothing was deleted.", status: .usage)
            }
        }
        try await store.remove(TenantID(rawValue: name))
    }
}
