extension PostgresSchema {
    /// What each node does, so that it is divided among those that do it; and what nodes would else count or walk through again
    /// and again.
    static let sharing = Migration(
        version: 15, leastNode: 1,
        steps: [
            // Of an older version's nodes nobody knows.
            .together([
                "ALTER TABLE nodes ADD COLUMN role text, ADD COLUMN draining boolean NOT NULL DEFAULT false"
            ]),
            // Of all tenants. What an older version's nodes change meanwhile is made up for by a sweep.
            .together([
                "ALTER TABLE counters ADD COLUMN unfinished_jobs bigint NOT NULL DEFAULT 0",
                "ALTER TABLE counters SET (fillfactor = 50)",
                """
                INSERT INTO counters (slot, leases_left_to_expire, unfinished_jobs)
                SELECT 0, 0, sum(unfinished_jobs) FROM usage HAVING sum(unfinished_jobs) <> 0
                ON CONFLICT (slot) DO UPDATE SET unfinished_jobs = excluded.unfinished_jobs
                """,
            ]),
            // A run's jobs are in all lanes: none of the other indexes has them in their order.
            .index(
                "queue_of_runs", on: "queue (run, priority, rank, job) WHERE state = 'pending' AND run <> ''"),
        ])
}
