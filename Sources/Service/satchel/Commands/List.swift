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
        let isTable = format.format == .table
        var writer = ListWriter<AttachmentRecord>(
            format.format,
            [
                ListColumn("ATTACHMENT", "attachment_id", 36) { $0.id.rawValue },
                ListColumn("STATE", "state", 9) { $0.state.rawValue },
                ListColumn("KIND", "kind", 9) { $0.kind?.rawValue ?? "-" },
                ListColumn("RESULT", "result", 26) {
                    (isTable ? $0.result : $0.fidelity?.rawValue ?? $0.error?.code.rawValue) ?? "-"
                },
                ListColumn("BYTES", "bytes", 7, isNumber: true) { record in
                    let bytes = record.renditions.values.reduce(0) { $0 + $1.bytes }
                    return isTable ? Quantity.bytes(record.renditions.isEmpty ? nil : bytes) : "\(bytes)"
                },
                ListColumn("FINISHED", "finished_at", 24) { $0.finishedAt?.description ?? "-" },
                ListColumn("PATH", "path", 0) { Data($0.shownPath.utf8).displayPath },
            ])
        let filter = search.filter(state: state, kind: kind, at: try await store.records.now())
        let paths = PathFilter(include: path.all())
        try await Listing(limit: limit, what: "attachments").run(
            { cursor, count in
                try await store.records.attachments(of: tenant.id, where: filter, after: cursor, limit: count)
            }, isSparse: !path.isEmpty,
            where: { !$0.wasPassedOver && paths.accepts(file: Data($0.shownPath.utf8)) },
            write: { try writer.write($0, json: $0) })
    }
}

extension AttachmentRecord {
    /// The path given on the command line, or else the name of the source.
    fileprivate var shownPath: String { source.path ?? source.name ?? "-" }

    /// Whether a batch reported the file as `skipped`.
    fileprivate var wasPassedOver: Bool {
        guard source.path != nil, state == .failed, let error else { return false }
        return LineError(error).code.isSkipped || source.bytes == 0
    }
}
