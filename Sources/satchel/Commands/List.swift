import ArgumentParser
import Attachments
import Foundation
import Intake
import Stores

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the attachments in the store, newest first.",
        discussion: """
            For example:

              satchel list
              satchel list --state failed --format jsonl
              satchel list --kind video --limit 10
            """)

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only attachments in this state.")
    var state: WorkState?

    @Option(help: "Only attachments of this kind.")
    var kind: MediaKind?

    @Option(help: ArgumentHelp("At most this many; 0 for all.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        let store = try openStore(store)
        var writer = try RecordWriter(format.format)
        var cursor: String?
        var left = limit == 0 ? Int.max : limit
        var count = 0
        repeat {
            let page = try await store.records.attachments(
                of: tenant.id, where: RecordFilter(state: state, kind: kind), after: cursor, limit: min(left, 500))
            for record in page.elements { try writer.write(record) }
            count += page.elements.count
            left -= page.elements.count
            cursor = page.next
        } while cursor != nil && left > 0
        if count == 0 { Console.say("There are no such attachments in the store.") }
        if cursor != nil { Console.say("There are more; --limit 0 lists them all.") }
    }
}

/// Writes attachment records to standard output.
private struct RecordWriter {
    let format: OutputFormat
    private let output = ResultOutput()
    private var hasHeader = false

    private static let table = Table(columns: [
        .init(title: "ATTACHMENT", width: 36), .init(title: "STATE", width: 9), .init(title: "KIND", width: 9),
        .init(title: "RESULT", width: 17), .init(title: "BYTES", width: 7, isNumber: true),
        .init(title: "FINISHED", width: 24), .init(title: "NAME", width: 0),
    ])

    init(_ format: OutputFormat) throws {
        self.format = format
    }

    mutating func write(_ record: AttachmentRecord) throws {
        let bytes = record.renditions.values.reduce(0) { $0 + $1.bytes }
        let cells = [
            record.id.rawValue, record.state.rawValue, record.kind?.rawValue ?? "-",
            record.fidelity?.rawValue ?? record.error?.code.rawValue ?? "-",
            format == .table ? Quantity.bytes(record.renditions.isEmpty ? nil : bytes) : "\(bytes)",
            record.finishedAt?.description ?? "-", Data((record.source.name ?? "-").utf8).displayPath,
        ]
        switch format {
        case .jsonl: try output.line(JSON.text(record))
        case .table:
            if !hasHeader { try output.line(Self.table.header) }
            try output.line(Self.table.row(cells))
        case .csv:
            if !hasHeader { try output.line("attachment_id,state,kind,result,bytes,finished_at,name") }
            try output.line(CSV.row(cells))
        }
        hasHeader = true
    }
}
