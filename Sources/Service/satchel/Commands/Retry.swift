import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Retry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry", abstract: "Retry failed or cancelled jobs.",
        discussion: """
            The service keeps sources for a day so that their jobs can be retried. It does not keep request headers, which \
            may be credentials, or uploads that would fail again. A running service starts within a second.

            To retry files of a batch, use 'satchel batch --retry-failed' instead.

            Examples:

              satchel jobs --tenant default --state failed
              satchel retry --tenant default 01a1fed9-cf75-7fab-9cea-82ada0c9f027
              satchel retry --tenant default --code fetch_failed
            """)

    @Argument(help: ArgumentHelp("IDs of the jobs.", valueName: "id"), completion: .attachmentsAndJobs)
    var ids: [String] = []

    @Option(help: "Retry every job in which an attachment failed with this code, instead of jobs by id.")
    var code: ErrorCode?

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions

    func validate() throws {
        guard ids.isEmpty == (code != nil) else {
            throw ValidationError("Give either ids of jobs or --code.")
        }
    }

    func run() async throws {
        let records = try await openStore(store).records
        if let code {
            let counts = try await records.retryAll(failedWith: code, since: nil, of: tenant.id)
            Console.printError("\(Quantity.count(counts.accepted, "job")) will be retried.")
            guard counts.forgotten > 0 else { return }
            throw CommandFailure(
                "the sources of \(Quantity.count(counts.forgotten, "job")) are no longer stored. Submit them again; for files of a batch, use 'satchel batch --retry-failed'.",
                status: .notFound
            )
        }
        for id in ids {
            let shown = Data(id.utf8).displayPath
            switch try await records.retry(JobID(rawValue: id), of: tenant.id) {
            case nil: throw CommandFailure.unknown("job", id)
            case .forgotten:
                throw CommandFailure(
                    "the sources of '\(shown)' are no longer stored. Submit it again; for files of a batch, use 'satchel batch --retry-failed'.",
                    status: .notFound
                )
            case .unneeded(let job):
                Console.printError("\(shown): \(job.state.rawValue); nothing changed.")
            case .accepted: break
            }
        }
    }
}
