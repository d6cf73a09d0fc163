internal import SatchelCore
internal import GRDB
internal import Synchronization

/// What the writes of a transaction have to add to the tallies: written at its end, once for each key.
final class GatheredTallies: Sendable {
    /// Those of the transaction that is underway.
    @TaskLocal static var current: GatheredTallies?

    private let gathered = Mutex(TallySheet())

    var sheet: TallySheet {
        get { gathered.withLock(\.self) }
        set { gathered.withLock { $0 = newValue } }
    }

    func add(_ change: (inout TallySheet) -> Void) {
        gathered.withLock { change(&$0) }
    }
}

extension Database {
    /// One writer at a time has them: what is there is read, and written with what is new.
    func add(_ sheet: TallySheet) throws {
        for (key, new) in sheet.tallies {
            let names: StatementArguments = [
                key.tenant.rawValue, key.minute.milliseconds, key.lane.rawValue, key.state.rawValue,
                key.code?.rawValue ?? "",
            ]
            var tally = new
            if let row = try row(
                """
                SELECT count, waiting, work FROM tallies
                WHERE tenant = ? AND minute = ? AND lane = ? AND state = ? AND code = ?
                """, names)
            {
                tally.add(Tally(row))
            }
            try run(
                """
                INSERT OR REPLACE INTO tallies (tenant, minute, lane, state, code, count, waiting, work)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """, names + [tally.count, tally.waiting.text, tally.work.text])
        }
    }

    /// The tallies of a tenant from a minute on.
    func tallies(of tenant: TenantID, since minute: Instant) throws -> [Tally.Key: Tally] {
        var tallies: [Tally.Key: Tally] = [:]
        for row in try rows(Self.talliesSince, [tenant.rawValue, minute.milliseconds]) {
            let code: String = row["code"]
            let key = Tally.Key(
                tenant: tenant, minute: Instant(milliseconds: row["minute"]), lane: try row.choice("lane"),
                state: try row.choice("state"), code: code.isEmpty ? nil : try row.choice("code"))
            tallies[key] = Tally(row)
        }
        return tallies
    }

    static let talliesSince = "SELECT * FROM tallies WHERE tenant = ? AND minute >= ?"
}

extension Tally {
    fileprivate init(_ row: Row) {
        self.init(
            count: row["count"], waiting: Histogram(text: row["waiting"]), work: Histogram(text: row["work"]))
    }
}
