import API
import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Failures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failures",
        abstract: "List failures by error code and cause, with counts, times, and whether a retry can help.",
        discussion: """
            Jobs that were retried or deleted are no longer included. Files that a batch skipped are not failures.

            Examples:

              satchel failures --tenant default --since 24h
              satchel failures --tenant default --code fetch_failed --format jsonl
              satchel retry --tenant default --code fetch_failed
            """)

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only failures with this code.")
    var code: ErrorCode?

    @Option(
        help: ArgumentHelp(
            "Only failures since a time (2026-11-28T12:00:00Z) or an age (90s, 30m, 24h, 7d).",
            valueName: "time"))
    var since: PastTime?

    func run() async throws {
        let store = try await openStore(store)
        let now = try await store.records.now()
        let since = since?.instant(at: now)
        var groups = try await store.records.failures(of: tenant.id, with: code, since: since)
        if let index = groups.firstIndex(where: { $0.code == .unrecognizedType }) {
            let rest = try await unskipped(groups[index], in: store, since: since)
            groups.replaceSubrange(index...index, with: rest.map { [$0] } ?? [])
        }
        var writer = ListWriter<FailureGroup>(
            format.format, isProse: true,
            [
                ListColumn("CODE", "code", 19) { $0.code.rawValue },
                ListColumn("CAUSE", "cause", 14) { $0.error.cause?.description ?? "-" },
                ListColumn("COUNT", "count", 6, isNumber: true) { "\($0.count)" },
                ListColumn("RETRY", "retryable", 5) { $0.error.retryable ? "yes" : "no" },
                ListColumn("FIRST", "first_at", 24) { $0.firstAt.description },
                ListColumn("LAST", "last_at", 24) { $0.lastAt.description },
                ListColumn("JOB", "job", 36) { $0.jobs.first.map { Data($0.rawValue.utf8).displayPath } ?? "-" },
                ListColumn("WHY", "message", 0) { $0.error.message },
            ])
        for group in groups { try writer.write(group, json: group.shown) }
        if groups.isEmpty { Console.printError("No failures found.") }
    }

    /// What is not media, without the files that batches skipped; `nil` if nothing else is left.
    private func unskipped(_ group: FailureGroup, in store: Store, since: Instant?) async throws -> FailureGroup? {
        let filter = RecordFilter(state: .failed, code: .unrecognizedType)
        var failures: [AttachmentRecord] = []
        try await Page.forEach {
            try await store.records.jobs(of: tenant.id, where: filter, after: $0, limit: 500)
        } _: { job in
            guard !job.isSkipped else { return }
            failures += job.attachments.filter { record in
                record.error?.code == group.code && since.map { $0 <= record.finishedAt ?? $0 } ?? true
            }
        }
        let times = failures.compactMap(\.finishedAt)
        guard let first = times.min(), let last = times.max() else { return nil }
        return FailureGroup(
            code: group.code, count: failures.count, error: group.error, firstAt: first, lastAt: last,
            kinds: group.kinds, jobs: FailureGroup.examples(of: failures.map(\.job)))
    }
}
