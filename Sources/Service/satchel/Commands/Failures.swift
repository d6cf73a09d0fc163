import API
import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct Failures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failures",
        abstract: "List what failed, by code: how many, since when, why, and whether another try can help.",
        discussion: """
            What was tried again, or deleted, is not among them any more. For example:

              satchel failures --tenant default --since 24h
              satchel failures --tenant default --code fetch_failed --format jsonl
              satchel retry --tenant default --code fetch_failed
            """)

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only this code.")
    var code: ErrorCode?

    @Option(
        help: ArgumentHelp(
            "Only what failed since then: a time as RFC 3339 writes it, or so long ago, such as 90, 30m, 24h or 7d.",
            valueName: "time"))
    var since: PastTime?

    func run() async throws {
        let store = try await openStore(store)
        let now = try await store.records.now()
        let groups = try await store.records.failures(
            of: tenant.id, with: code, since: since?.instant(at: now))
        var writer = ListWriter.failures(format.format)
        for group in groups { try writer.write(FailureBody(group), cells: group.cells) }
        if groups.isEmpty { Console.printError("There are no such failures in the store.") }
    }
}

extension ListWriter {
    fileprivate static func failures(_ format: OutputFormat) -> ListWriter {
        ListWriter(
            format,
            columns: [
                .init(title: "CODE", width: 19), .init(title: "COUNT", width: 6, isNumber: true),
                .init(title: "AGAIN", width: 5), .init(title: "FIRST", width: 24), .init(title: "LAST", width: 24),
                .init(title: "JOB", width: 36), .init(title: "WHY", width: 0),
            ], isProse: true, header: "code,count,retryable,first_at,last_at,job,message")
    }
}

extension FailureGroup {
    fileprivate var cells: [String] {
        [
            code.rawValue, "\(count)", error.retryable ? "yes" : "no", firstAt.description, lastAt.description,
            jobs.first.map { Data($0.rawValue.utf8).displayPath } ?? "-", error.message,
        ]
    }
}
