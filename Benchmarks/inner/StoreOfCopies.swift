import SatchelCore
import GRDB
import Stores

/// A store that holds a great many of the same: rows that the product wrote, copied within its own schema, so that its
/// rules and counts hold for them as well.
struct StoreOfCopies {
    let store: Store
    let samples: SampleRecords
    private let path: String
    private let job: JobRecord
    private let pending: JobID
    private(set) var count = 1

    init(in directory: String) async throws {
        path = directory + "/store/records.sqlite"
        store = try Store.open(at: directory + "/store", keys: directory + "/keys")
        samples = SampleRecords(store: store)
        job = try await samples.deliver(try await samples.claim(accepting: 1))
        _ = try await samples.startLease(on: job.attachments[0].id)
        try await samples.accept(1)
        let waiting = try await store.records.jobs(
            of: SampleRecords.tenant, where: RecordFilter(state: .pending), after: nil, limit: 1)
        pending = waiting.elements[0].id
        // It must stay what it is, and so belongs to a run that claims nothing: its copies are the service's.
        let queue = try DatabaseQueue(path: path)
        try await queue.write { [pending] database in
            let key = "(SELECT key FROM jobs WHERE id = '\(pending.rawValue)')"
            for (table, column) in [("queue", "job"), ("attachments", "job"), ("jobs", "key")] {
                try database.execute(sql: "UPDATE \(table) SET run = 'sample' WHERE \(column) = \(key)")
            }
        }
        try queue.close()
    }

    /// Makes it hold `count` pending jobs, delivered attachments with a job and two renditions each, and live leases.
    mutating func grow(to count: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            // Nobody needs it after a power cut.
            try database.execute(
                sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA temp_store = MEMORY")
        }
        // A transaction each, so that the journal stays small.
        for start in stride(from: self.count, to: count, by: 50_000) {
            try queue.write { try copy(into: $0, from: start, to: min(start + 50_000, count)) }
            try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        self.count = count
        try queue.close()
    }

    /// The ids of leases, spread over all.
    func leases(_ wanted: Int) throws -> [String] {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { database in
            // Ids are random, so any stretch of them is spread over all in time.
            try String.fetchAll(
                database, sql: "SELECT id FROM access WHERE kind = 'lease' AND ended_at IS NULL LIMIT ?",
                arguments: [wanted])
        }
    }

    private func copy(into database: Database, from start: Int, to end: Int) throws {
        let times = try Int64.fetchOne(database, sql: "SELECT created_at FROM jobs ORDER BY key LIMIT 1") ?? 0
        // Ids as version 7 of UUIDs has them: the time first. The copies are older than what they were copied from.
        try database.execute(
            sql: """
                CREATE TEMP TABLE copies AS
                WITH RECURSIVE numbers(i) AS (SELECT :start UNION ALL SELECT i + 1 FROM numbers WHERE i < :last)
                SELECT i, printf('%012x', :time - 86400000 + i) AS time, lower(hex(randomblob(8))) AS salt,
                    randomblob(32) AS main, randomblob(32) AS thumbnail,
                    lower(hex(randomblob(11))) AS lease
                FROM numbers
                """, arguments: ["start": start, "last": end - 1, "time": times])
        func id(_ version: Int) -> String {
            "substr(time, 1, 8) || '-' || substr(time, 9) || '-7\(version)' || substr(salt, 1, 2) || '-8' || substr(salt, 3, 3) || '-' || substr(salt, 5, 12)"
        }
        let waiting = pending.rawValue
        let done = job.id.rawValue
        let attachment = job.attachments[0].id.rawValue
        try insert("jobs", of: waiting, ["key": "NULL", "id": id(1), "run": "''"], into: database)
        try insert("jobs", of: done, ["key": "NULL", "id": id(2)], into: database)
        let tenant = SampleRecords.tenant.rawValue
        func key(_ version: Int) -> String {
            "(SELECT key FROM jobs WHERE tenant = '\(tenant)' AND id = \(id(version)))"
        }
        try insert(
            "queue", where: "job = (SELECT key FROM jobs WHERE tenant = '\(tenant)' AND id = '\(waiting)')",
            ["job": key(1), "run": "''"], into: database)
        try insert(
            "attachments", where: "job = (SELECT key FROM jobs WHERE tenant = '\(tenant)' AND id = '\(waiting)')",
            ["key": "NULL", "id": id(3), "job": key(1), "run": "''"], into: database)
        try insert(
            "attachments", of: attachment, ["key": "NULL", "id": id(4), "job": key(2)], into: database)
        for role in ["main", "thumbnail"] {
            let of = "(SELECT blob FROM renditions WHERE attachment = '\(attachment)' AND role = '\(role)')"
            func name(_ column: String) -> String { "lower(hex(\(role))) || '.' || substr(sample.\(column), 66)" }
            try insert(
                "blobs", where: "name = \(of)", ["name": name("name"), "sha256": role, "refs": "1"], into: database)
            try insert(
                "renditions", where: "attachment = '\(attachment)' AND role = '\(role)'",
                ["attachment": id(4), "blob": name("blob"), "sha256": role], into: database)
        }
        try insert(
            "access", where: "attachment = '\(attachment)'", ["id": "lease", "attachment": id(4)], into: database)
        try database.execute(
            sql: """
                UPDATE usage SET unfinished_jobs = unfinished_jobs + :count, open_leases = open_leases + :count,
                    stored_bytes = stored_bytes
                        + :count * (SELECT sum(bytes) FROM renditions WHERE attachment = :attachment)
                WHERE tenant = :tenant AND slot = (SELECT min(slot) FROM usage WHERE tenant = :tenant);
                UPDATE counters SET fetch_jobs = fetch_jobs + :count, leases = leases + :count, blobs = blobs + 2 * :count
                WHERE slot = (SELECT min(slot) FROM counters);
                DROP TABLE copies
                """, arguments: ["count": end - start, "attachment": attachment, "tenant": tenant])
    }

    private func insert(
        _ table: String, of id: String, _ changes: [String: String], into database: Database
    ) throws {
        try insert(table, where: "id = '\(id)'", changes, into: database)
    }

    /// A copy of one row for each row of `copies`, with some columns as SQL makes them.
    private func insert(
        _ table: String, where condition: String, _ changes: [String: String], into database: Database
    ) throws {
        let columns = try database.columns(in: table).map(\.name)
        let values = columns.map { changes[$0] ?? "sample.\($0)" }
        try database.execute(
            sql: """
                INSERT INTO \(table) (\(columns.joined(separator: ", ")))
                SELECT \(values.joined(separator: ", "))
                FROM (SELECT * FROM \(table) WHERE \(condition) LIMIT 1) AS sample CROSS JOIN copies ORDER BY i
                """)
    }
}
