import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke leases, links or grants.",
        discussion: """
            Revoking a grant also revokes the grants and leases derived from it. After the command has returned, no new \
            read starts.

            Examples:

              satchel revoke ptgUzEjfebzJ6sZWdoHIxr
            """)

    @Argument(help: ArgumentHelp("IDs of leases, links or grants.", valueName: "id"), completion: .access)
    var ids: [String]

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    func run() async throws {
        let store = try await openStore(store, freesSpace: true)
        for id in ids {
            guard try await store.records.revoke(id, in: .owner(tenant.id)) else {
                throw CommandFailure.unknown("lease, link or grant", id)
            }
        }
    }
}
