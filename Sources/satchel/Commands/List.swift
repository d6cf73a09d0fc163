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
              satchel list --path '2024/*'

            What a batch passed over (no media, or empty) is no attachment, and not listed.
            """)

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only attachments in this state.")
    var state: WorkState?

    @Option(help: "Only attachments of this kind.")
    var kind: MediaKind?

    @Option(
        help: ArgumentHelp(
            "Only files whose path matches; several with commas, or repeated. '*' matches '/' too.",
            valueName: "pattern"))
    var path: [Several<String>] = []

    @Option(help: ArgumentHelp("At most this many; 0 for all.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        let store = try openStore(store)
        var writer = try RecordWriter(format.format)
        let filter = PathFilter(include: path.all())
        let most = limit == 0 ? Int.max : limit
        var cursor: String?
        var count = 0
        var isCutShort = false
        repeat {
            let page = try await store.records.attachments(
                of: tenant.id, where: RecordFilter(state: state, kind: kind), after: cursor,
                limit: path.isEmpty ? min(most - count, 499) + 1 : 500)
            for record in page.elements
            where !record.wasPassedOver && filter.accepts(file: Data(record.shownPath.utf8)) {
                isCutShort = count == most
                if isCutShort { break }
                try writer.write(record)
                count += 1
            }
            cursor = page.next
        } while cursor != nil && !isCutShort
        if count == 0 { Console.say("There are no such attachments in the store.") }
        if isCutShort { Console.say("There are more; --limit 0 lists them all.") }
    }
}

extension AttachmentRecord {
    /// The path of what the command line took, else the name.
    fileprivate var shownPath: String { source.path ?? source.name ?? "-" }

    /// What the command line reported as `skipped`.
    fileprivate var wasPassedOver: Bool {
        guard source.path != nil, state == .failed, let error else { return false }
        return LineError(error).code.isSkipped || source.bytes == 0
    }
}

/// Writes attachment records to standard output.
private struct RecordWriter {
    let format: OutputFormat
    private let output = ResultOutput()
    private var table = TableOutput(Self.columns)
    private var hasHeader = false

    private static let columns = Table(columns: [
        .init(title: "ATTACHMENT", width: 36), .init(title: "STATE", width: 9), .init(title: "KIND", width: 9),
        .init(title: "RESULT", width: 17), .init(title: "BYTES", width: 7, isNumber: true),
        .init(title: "FINISHED", width: 24), .init(title: "PATH", width: 0),
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
            record.finishedAt?.description ?? "-", Data(record.shownPath.utf8).displayPath,
        ]
        switch format {
        case .jsonl: try output.line(JSON.text(record))
        case .table:
            try table.write(cells)
        case .csv:
            if !hasHeader { try output.line("attachment_id,state,kind,result,bytes,finished_at,path") }
            try output.line(CSV.row(cells))
        }
        hasHeader = true
    }
}
