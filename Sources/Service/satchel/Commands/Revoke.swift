import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Stop a lease, or revoke a link or a grant with all that was derived from it.",
        discussion: """
            No read starts after the command has returned. Revoking twice is the same as once.

              satchel revoke ptgUzEjfebzJ6sZWdoHIxr
            """)

    @Argument(help: ArgumentHelp("The ids of leases, links or grants.", valueName: "id"), completion: .access)
    var ids: [String]

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions

    func run() async throws {
        let store = try await openStore(store)
        for id in ids {
            guard try await store.records.revoke(id, in: .owner(tenant.id)) else {
                throw CommandFailure("there is no lease, link or grant '\(Data(id.utf8).displayPath)' in the store.")
            }
        }
    }
}
