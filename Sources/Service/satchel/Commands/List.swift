import ArgumentParser
import SatchelCore
import Foundation
import Ingest
import Stores

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the attachments in the store, newest first.",
        discussion: """
            Files that a batch skipped (empty, or not media) are not attachments and are not listed.

            Examples:

              satchel list
              satchel list --state failed --format jsonl
              satchel list --kind video --limit 10
              satchel list --tenant default --code corrupt --since 7d
              satchel list --path '2024/*'
            """)

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only attachments in this state.")
    var state: WorkState?

    @Option(help: "Only attachments of this kind.")
    var kind: MediaKind?

    @OptionGroup var search: SearchOptions

    @Option(
        help: ArgumentHelp(
            "Only files with a matching path (comma-separated or repeated). '*' also matches '/'.",
            valueName: "pattern"))
    var path: [Several<String>] = []

    @Option(help: ArgumentHelp("Maximum number of attachments; 0 for all.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        let store = try await openStore(store)
        var writer = ListWriter.attachments(format.format)
        let filter = search.filter(state: state, kind: kind, at: try await store.records.now())
        let paths = PathFilter(include: path.all())
        try await Listing(limit: limit, what: "attachments").run(
            { cursor, count in
                try await store.records.attachments(of: tenant.id, where: filter, after: cursor, limit: count)
            }, isSparse: !path.isEmpty,
            where: { !$0.wasPassedOver && paths.accepts(file: Data($0.shownPath.utf8)) },
            write: { try writer.write($0, cells: $0.cells(format.format)) })
    }
}

extension AttachmentRecord {
    /// The path given on the command line, or else the name of the source.
    fileprivate var shownPath: String { source.path ?? source.name ?? "-" }

    fileprivate func cells(_ format: OutputFormat) -> [String] {
        let bytes = renditions.values.reduce(0) { $0 + $1.bytes }
        return [
            id.rawValue, state.rawValue, kind?.rawValue ?? "-",
            (format == .table ? result : fidelity?.rawValue ?? error?.code.rawValue) ?? "-",
            format == .table ? Quantity.bytes(renditions.isEmpty ? nil : bytes) : "\(bytes)",
            finishedAt?.description ?? "-", Data(shownPath.utf8).displayPath,
        ]
    }

    /// Whether a batch reported the file as `skipped`.
    fileprivate var wasPassedOver: Bool {
        guard source.path != nil, state == .failed, let error else { return false }
        return LineError(error).code.isSkipped || source.bytes == 0
    }
}

extension ListWriter {
    fileprivate static func attachments(_ format: OutputFormat) -> ListWriter {
        ListWriter(
            format,
            columns: [
                .init(title: "ATTACHMENT", width: 36), .init(title: "STATE", width: 9), .init(title: "KIND", width: 9),
                .init(title: "RESULT", width: 26), .init(title: "BYTES", width: 7, isNumber: true),
                .init(title: "FINISHED", width: 24), .init(title: "PATH", width: 0),
            ], header: "attachment_id,state,kind,result,bytes,finished_at,path")
    }
}
