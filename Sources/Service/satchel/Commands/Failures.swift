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
        var writer = ListWriter.failures(format.format)
        for group in groups { try writer.write(group.shown, cells: group.cells) }
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

extension ListWriter {
    fileprivate static func failures(_ format: OutputFormat) -> ListWriter {
        ListWriter(
            format,
            columns: [
                .init(title: "CODE", width: 19), .init(title: "CAUSE", width: 14),
                .init(title: "COUNT", width: 6, isNumber: true),
                .init(title: "RETRY", width: 5), .init(title: "FIRST", width: 24), .init(title: "LAST", width: 24),
                .init(title: "JOB", width: 36), .init(title: "WHY", width: 0),
            ], isProse: true, header: "code,cause,count,retryable,first_at,last_at,job,message")
    }
}

extension FailureGroup {
    fileprivate var cells: [String] {
        [
            code.rawValue, error.cause?.description ?? "-", "\(count)", error.retryable ? "yes" : "no",
            firstAt.description, lastAt.description,
            jobs.first.map { Data($0.rawValue.utf8).displayPath } ?? "-", error.message,
        ]
    }
}
