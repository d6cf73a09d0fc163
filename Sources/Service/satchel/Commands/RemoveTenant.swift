import ArgumentParser
import SatchelCore
import Foundation
import Glibc
import Ingest
import Stores

struct RemoveTenant: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm",
        abstract: "Remove all that is kept of a tenant, at once and for good.",
        discussion: """
            What opens something ends first: keys, grants, leases, links, tickets and sessions; jobs, firings and calls are \
            called off. Then its records and renditions go. Cut off, the same line goes on, or the next sweep of the \
            service. Other tenants' renditions stay, also where their bytes are equal.
            """)

    @Argument(help: ArgumentHelp("The tenant.", valueName: "name"), completion: .tenants)
    var name: String

    @Flag(help: "Don't ask for the name again.")
    var yes = false

    @OptionGroup(title: "Where") var store: StoreOptions

    func run() async throws {
        let store = try await openStore(store)
        if !yes {
            Console.printError(
                "This removes everything of the tenant '\(Data(name.utf8).displayPath)'. Type its name again to go on:")
            guard readLine() == name else {
                throw CommandFailure("that is another name; nothing was removed.", status: 2)
            }
        }
        try await store.remove(TenantID(rawValue: name))
    }
}
