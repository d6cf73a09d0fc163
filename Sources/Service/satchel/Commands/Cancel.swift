import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel jobs that have not come to their end.",
        discussion: """
            A pending one never begins; what a service or another command has underway ends within seconds. One that has
            come to its end stays as it is. For example:

              satchel jobs --tenant default --state pending
              satchel cancel --tenant default 01a1fed9-cf75-7fab-9cea-82ada0c9f027
            """)

    @Argument(help: ArgumentHelp("The ids of jobs.", valueName: "id"), completion: .attachmentsAndJobs)
    var ids: [String]

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions

    func run() async throws {
        let records = try await openStore(store).records
        for id in ids {
            guard let job = try await records.cancel(JobID(rawValue: id), of: tenant.id) else {
                throw CommandFailure("there is no job '\(Data(id.utf8).displayPath)' in the store.")
            }
            if job.state != .cancelled {
                Console.printError("\(Data(id.utf8).displayPath): \(job.state.rawValue) already; nothing was changed.")
            }
        }
    }
}
