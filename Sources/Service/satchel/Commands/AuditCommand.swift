import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List who made, took back, rotated and deleted what, and who signed in, newest first.",
        discussion: """
            It is kept for as long as the setting audit.keep says. For example:

              satchel audit --tenant default --since 7d
              satchel audit --tenant default --action revoked --format jsonl
              satchel audit --tenant default --actor command
            """)

    @OptionGroup(title: "Where") var store: StoreOptions
    @OptionGroup(title: "Where") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only this: made, revoked, rotated, deleted or signed_in.")
    var action: AuditEntry.Action?

    @Option(
        help: ArgumentHelp(
            "Only what was done by this key or grant, or by all of a kind: key, grant, command, service.",
            valueName: "id"))
    var actor: String?

    @Option(
        help: ArgumentHelp(
            "Only what was done since then: a time as RFC 3339 writes it, or so long ago, such as 90, 30m, 24h or 7d.",
            valueName: "time"))
    var since: PastTime?

    @Option(help: ArgumentHelp("At most this many; 0 for all.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        let store = try await openStore(store)
        let now = try await store.records.now()
        let filter = AuditFilter(
            action: action, actor: actor.map(AuditActorFilter.init), since: since?.instant(at: now))
        var writer = ListWriter(
            format.format,
            columns: [
                .init(title: "AT", width: 24), .init(title: "ACTION", width: 9), .init(title: "WHAT", width: 10),
                .init(title: "ID", width: 36), .init(title: "BY", width: 7), .init(title: "WHO", width: 22),
                .init(title: "DETAIL", width: 0),
            ], isProse: true, header: "at,action,what,id,by,who,detail")
        try await Listing(limit: limit, what: "entries").run(
            { cursor, count in
                try await store.records.audit(of: tenant.id, where: filter, after: cursor, limit: count)
            }, write: { try writer.write($0, cells: $0.cells) })
    }
}

extension AuditEntry {
    fileprivate var cells: [String] {
        [
            at.description, action.rawValue, subject.kind.rawValue, subject.id, actor.kind.rawValue, actor.id ?? "-",
            detail ?? "-",
        ]
    }
}
