import SatchelCore
import Postgres
import PostgresTestSupport

@testable import Stores

/// Tells what a server reads for a store's records: entries of indexes, rows of scans, and pages, which are the same on every machine.
struct ReadMeter {
    let records: RecordStore
    private let pool: PostgresPool
    private let database: RecordDatabase

    /// Opens the store, as a node of its own.
    ///
    /// - Parameter room: After how long it looks again how many jobs wait.
    init(_ database: RecordDatabase, _ clock: TestClock, room: Duration = .zero) throws {
        // As plans are for large tables.
        for way in ["seqscan", "hashjoin", "mergejoin"] {
            try database.server.execute("ALTER DATABASE \(database.name) SET enable_\(way) = off", in: database.name)
        }
        // What is done now and then, however much passes, is not to be done meanwhile.
        var timing = PostgresNode.Timing(deadAfter: .seconds(300), steadiness: .zero, rescue: .seconds(300))
        timing.lows.interval = .seconds(300)
        timing.lows.shortInterval = .seconds(300)
        (timing.room.interval, timing.room.shortInterval) = (room, room)
        // Of one connection, which tells what it read whenever it is asked.
        records = try database.open(bytesIn: StoreMemory(), clock, writers: 1, timing: timing).records
        pool = records.pool
        self.database = database
    }

    /// By table or index.
    func reads(_ work: () async throws -> Void) async throws -> [String: Int] {
        let before = try await counts()
        try await work()
        return try await counts().merging(before) { max(0, $0 - $1) }
    }

    private func counts() async throws -> [String: Int] {
        _ = try await pool.rows("SELECT pg_stat_force_next_flush()", on: .write)
        let rows = try database.server.execute(
            """
            SELECT indexrelname || ' (entries)', idx_tup_read FROM pg_stat_user_indexes WHERE relname <> 'nodes'
            UNION ALL SELECT relname || ' (scanned)', seq_tup_read FROM pg_stat_user_tables WHERE relname <> 'nodes'
            UNION ALL SELECT relname || ' (pages)', heap_blks_read + heap_blks_hit
                + coalesce(idx_blks_read, 0) + coalesce(idx_blks_hit, 0)
                FROM pg_statio_user_tables WHERE relname <> 'nodes'
            """, in: database.name)
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1].flatMap { Int($0) } ?? 0) })
    }
}
