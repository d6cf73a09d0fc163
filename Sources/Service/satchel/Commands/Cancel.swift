import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel jobs that have not finished.",
        discussion: """
            A pending job never starts. A running job ends within seconds. A finished job is not changed.

            Examples:

              satchel jobs --tenant default --state pending
              satchel cancel --tenant default 01a1fed9-cf75-7fab-9cea-82ada0c9f027
            """)

    @Argument(help: ArgumentHelp("IDs of the jobs.", valueName: "id"), completion: .attachmentsAndJobs)
    var ids: [String]

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    func run() async throws {
        let records = try await openStore(store).records
        for id in ids {
            guard let job = try await records.cancel(JobID(rawValue: id), of: tenant.id) else {
                throw CommandFailure.unknown("job", id)
            }
            if job.state != .cancelled {
                Console.printError("\(Data(id.utf8).displayPath): already \(job.state.rawValue); nothing changed.")
            }
        }
    }
}
