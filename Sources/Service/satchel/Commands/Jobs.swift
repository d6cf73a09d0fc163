import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Jobs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs", abstract: "List the jobs in the store, newest first.",
        discussion: """
            A job is one submission of up to 10 attachments. Files that a batch skipped are not listed. 'satchel show JOB' shows a job with its attachments and their \
            steps.

            Examples:

              satchel jobs
              satchel jobs --tenant default --state failed
              satchel jobs --state pending --format jsonl
              satchel jobs --tenant default --metadata order=88213 --since 24h
            """)

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only jobs in this state.")
    var state: WorkState?

    @OptionGroup var search: SearchOptions

    @Option(help: ArgumentHelp("Maximum number of jobs; 0 for all.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        let store = try await openStore(store)
        var writer = ListWriter<JobRecord>(
            format.format,
            [
                ListColumn("JOB", "job_id", 36) { Data($0.id.rawValue.utf8).displayPath },
                ListColumn("STATE", "state", 9) { $0.state.rawValue },
                ListColumn("DELIVERED", "delivered", 9, isNumber: true) { job in
                    "\(job.attachments.count { $0.state == .delivered })/\(job.attachments.count)"
                },
                ListColumn("ATTEMPT", "attempt", 7, isNumber: true) { "\($0.attempt)" },
                ListColumn("CREATED", "created_at", 24) { $0.createdAt.description },
                ListColumn("PROFILE", "profile", 14) { $0.profile },
                ListColumn("WHY", "why", 0) { job in
                    job.attachments.lazy.compactMap { $0.error?.code.rawValue }.first ?? "-"
                },
            ])
        let filter = search.filter(state: state, at: try await store.records.now())
        try await Listing(limit: limit, what: "jobs").run { cursor, count in
            try await store.records.jobs(of: tenant.id, where: filter, after: cursor, limit: count)
        } where: {
            !$0.isSkipped
        } write: { job in
            try writer.write(job, json: job)
        }
    }
}
