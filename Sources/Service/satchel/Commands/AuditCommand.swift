import ArgumentParser
import SatchelCore
import Foundation
import Stores

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List administrative actions and console sign-ins, newest first.",
        discussion: """
            The log records what was created, revoked, rotated or deleted, and by which key, command or service. The \
            setting audit.keep says how long entries are kept.

            Examples:

              satchel audit --tenant default --since 7d
              satchel audit --tenant default --action revoked --format jsonl
              satchel audit --tenant default --actor command
            """)

    @OptionGroup(title: "Store") var store: StoreOptions
    @OptionGroup(title: "Store") var tenant: TenantOptions
    @OptionGroup(title: "Results") var format: FormatOptions

    @Option(help: "Only this action.")
    var action: AuditEntry.Action?

    @Option(
        help: ArgumentHelp(
            "Only actions by this key or grant, or by one kind of actor: key, grant, command or service.",
            valueName: "id"))
    var actor: String?

    @Option(
        help: ArgumentHelp(
            "Only actions since a time (2026-11-28T12:00:00Z) or an age (90s, 30m, 24h, 7d).",
            valueName: "time"))
    var since: PastTime?

    @Option(help: ArgumentHelp("Maximum number of entries; 0 for all.", valueName: "count"))
    var limit = 100

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit must not be negative.") }
    }

    func run() async throws {
        let store = try await openStore(store)
        let now = try await store.records.now()
        let filter = AuditFilter(
            action: action, actor: actor.map(AuditActorFilter.init), since: since?.instant(at: now))
        var writer = ListWriter<AuditEntry>(
            format.format, isProse: true,
            [
                ListColumn("AT", "at", 24) { $0.at.description },
                ListColumn("ACTION", "action", 9) { $0.action.rawValue },
                ListColumn("WHAT", "what", 10) { $0.subject.kind.rawValue },
                ListColumn("ID", "id", 36) { $0.subject.id },
                ListColumn("BY", "by", 7) { $0.actor.kind.rawValue },
                ListColumn("WHO", "who", 22) { $0.actor.id ?? "-" },
                ListColumn("DETAIL", "detail", 0) { $0.detail ?? "-" },
            ])
        try await Listing(limit: limit, what: "entries").run(
            { cursor, count in
                try await store.records.audit(of: tenant.id, where: filter, after: cursor, limit: count)
            }, write: { try writer.write($0, json: $0) })
    }
}
