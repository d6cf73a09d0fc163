internal import SatchelCore
internal import Postgres

extension RecordTransaction {
    /// What adds to the tallies, in an order in which no two wait for each other.
    func statements(adding sheet: TallySheet) -> [Statement] {
        func order(_ key: Tally.Key) -> (String, Int64, String, String, String) {
            (
                key.tenant.rawValue, key.minute.milliseconds, key.lane.rawValue, key.state.rawValue,
                key.code?.rawValue ?? ""
            )
        }
        return sheet.tallies.sorted { order($0.key) < order($1.key) }.map { key, tally in
            Statement(
                """
                INSERT INTO tallies (tenant, minute, lane, state, code, slot, count, waiting, work)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8::bigint[], $9::bigint[])
                ON CONFLICT (tenant, minute, lane, state, code, slot) DO UPDATE
                SET count = tallies.count + excluded.count, waiting = \(store.engine.sum(of: "waiting")),
                    work = \(store.engine.sum(of: "work"))
                """,
                [
                    .raw(key.tenant), .time(key.minute), .raw(key.lane), .raw(key.state),
                    .text(key.code?.rawValue ?? ""), .int(store.node.slot), .int(tally.count),
                    .ints(tally.waiting.counts.map { $0 }), .ints(tally.work.counts.map { $0 }),
                ])
        }
    }

    /// The tallies of a tenant from a minute on, of all nodes together.
    func tallies(of tenant: TenantID, since minute: Instant) throws -> [Tally.Key: Tally] {
        var tallies: [Tally.Key: Tally] = [:]
        let rows = try run(
            """
            SELECT minute, lane, state, code, count, array_to_string(waiting, ',') AS waiting,
                array_to_string(work, ',') AS work
            FROM tallies WHERE tenant = $1 AND minute >= $2
            """, [.raw(tenant), .time(minute)])
        for row in rows {
            let code = try row.text("code")
            let key = Tally.Key(
                tenant: tenant, minute: try row.instant("minute"), lane: try row.value("lane"),
                state: try row.value("state"), code: code.isEmpty ? nil : try row.value("code"))
            tallies[key, default: Tally()].add(
                Tally(
                    count: try row.int64("count"), waiting: Histogram(text: try row.text("waiting")),
                    work: Histogram(text: try row.text("work"))))
        }
        return tallies
    }
}
