import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Have the service try failed or cancelled jobs again.",
        discussion: """
            The service keeps for a day what that takes, but for headers for origins, which may be credentials, and for
            uploads that would fail again. A running service begins within a second. What a batch failed at is tried again
            by 'satchel batch --retry-failed'. For example:

              satchel jobs --tenant default --state failed
              satchel retry --tenant default 01a1fed9-cf75-7fab-9cea-82ada0c9f027
              satchel retry --tenant default --code fetch_failed
            """)

    @Argument(help: ArgumentHelp("The ids of jobs.", valueName: "id"), completion: .attachmentsAndJobs)
    var ids: [String] = []

    @Option(help: "All failed jobs of whose attachments one failed with this code, instead of those with ids.")
    var code: ErrorCode?

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions

    func validate() throws {
        guard ids.isEmpty == (code != nil) else {
            throw ValidationError("Give the ids of jobs, or --code for all that failed with one.")
        }
    }

    func run() async throws {
        let records = try await openStore(store).records
        if let code {
            let counts = try await records.retryAll(failedWith: code, since: nil, of: tenant.id)
            Console.printError("\(Quantity.count(counts.accepted, "job")) will be tried again.")
            guard counts.forgotten > 0 else { return }
            throw CommandFailure(
                "the sources of \(Quantity.count(counts.forgotten, "job")) are no longer kept: submit them again, a batch with --retry-failed."
            )
        }
        for id in ids {
            let shown = Data(id.utf8).displayPath
            switch try await records.retry(JobID(rawValue: id), of: tenant.id) {
            case nil: throw CommandFailure("there is no job '\(shown)' in the store.")
            case .forgotten:
                throw CommandFailure(
                    "the sources of '\(shown)' are no longer kept: submit it again, a batch with --retry-failed.")
            case .unneeded(let job):
                Console.printError("\(shown): \(job.state.rawValue); nothing was changed.")
            case .accepted: break
            }
        }
    }
}
