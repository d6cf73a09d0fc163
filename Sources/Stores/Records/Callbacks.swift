public import Attachments
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func dueCallbacks(
        _ count: Int, for duration: Duration, except busy: Set<TenantID> = []
    ) async throws(AttachmentError) -> [CallbackDelivery] {
        guard count > 0 else { return [] }
        // A look first: who asks again and again must not wear out the disk.
        let isWorthwhile = try await read { database, now in
            try !database.rows(Database.callbacksDue, [now.milliseconds, Column.text(busy), 1]).isEmpty
        }
        guard isWorthwhile else { return [] }
        return try await write { database, now in
            try database.rows(Database.callbacksDue, [now.milliseconds, Column.text(busy), count]).map { row in
                let id: String = row["id"]
                try database.run(
                    "UPDATE callbacks SET attempt = attempt + 1, due_at = ? WHERE id = ?",
                    [(now + duration).milliseconds, id])
                return CallbackDelivery(
                    id: id, tenant: TenantID(rawValue: row["tenant"]),
                    job: try database.jobID(key: row["job"]), url: row["url"], attempt: (row["attempt"] as Int) + 1,
                    createdAt: Instant(milliseconds: row["created_at"]), traceparent: row["traceparent"])
            }
        }
    }

    public func record(
        _ outcome: CallbackOutcome, of callback: CallbackDelivery
    ) async throws(AttachmentError) {
        try await write { database, now in
            switch outcome {
            case .delivered:
                // Whoever was told was told, even if somebody else has it in hand by now.
                try database.run(
                    """
                    UPDATE callbacks SET state = 'delivered', finished_at = ?, reason = NULL
                    WHERE id = ? AND tenant = ? AND state = 'pending'
                    """, [now.milliseconds, callback.id, callback.tenant.rawValue])
            case .again(let delay, let reason):
                try database.run(
                    """
                    UPDATE callbacks SET due_at = ?, reason = ?
                    WHERE id = ? AND tenant = ? AND state = 'pending' AND attempt = ?
                    """,
                    [
                        (now + delay).milliseconds, reason, callback.id, callback.tenant.rawValue, callback.attempt,
                    ])
            case .failed(let reason):
                try database.run(
                    """
                    UPDATE callbacks SET state = 'failed', finished_at = ?, reason = ?
                    WHERE id = ? AND tenant = ? AND state = 'pending' AND attempt = ?
                    """,
                    [now.milliseconds, reason, callback.id, callback.tenant.rawValue, callback.attempt])
            }
        }
    }

    public func replayCallback(of job: JobID, tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            let id = try database.texts(
                """
                SELECT callbacks.id FROM jobs
                    JOIN callbacks ON callbacks.job = jobs.key AND callbacks.generation = jobs.generation
                WHERE jobs.tenant = ? AND jobs.id = ? AND jobs.finished_at IS NOT NULL
                """, [tenant.rawValue, job.rawValue]
            ).first
            guard let id else { return false }
            try database.run(
                """
                UPDATE callbacks SET state = 'pending', attempt = 0, due_at = ?, finished_at = NULL, reason = NULL
                WHERE id = ?
                """, [now.milliseconds, id])
            return true
        }
    }
}

extension Database {
    static let callbacksDue = """
        SELECT * FROM callbacks
        WHERE state = 'pending' AND due_at <= ? AND tenant NOT IN (SELECT value FROM json_each(?))
        ORDER BY due_at LIMIT ?
        """

    /// How far the callback of a row of `jobs` is; nil where the job has none, or was called long ago.
    func callbackReport(of job: Row) throws -> CallbackReport? {
        let key: Int64 = job["key"]
        if (job["finished_at"] as Int64?) == nil {
            let isWanted = try number(
                "SELECT 1 FROM jobs WHERE key = ? AND json_extract(submission, '$.callback') IS NOT NULL", [key])
            return isWanted == nil ? nil : CallbackReport(state: .waiting)
        }
        let row = try row(
            "SELECT state, attempt, due_at, reason FROM callbacks WHERE job = ? AND generation = ?",
            [key, job["generation"] as Int])
        guard let row else { return nil }
        let isPending = row["state"] == "pending"
        return CallbackReport(
            state: isPending ? .waiting : try row.choice("state"), attempts: row["attempt"],
            nextAt: isPending ? row.instant("due_at") : nil, reason: row["reason"])
    }

    /// Has a job's sender told that it came to its end, which is recorded in the same transaction.
    func enqueueCallback(_ submission: JobSubmission, of job: Row, at now: Instant) throws {
        guard let url = submission.callback else { return }
        try run(
            """
            INSERT INTO callbacks (id, tenant, job, generation, url, traceparent, created_at, due_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                UUID.version7(at: now).uuidString.lowercased(), job["tenant"] as String, job["key"] as Int64,
                job["generation"] as Int, url, submission.traceparent, now.milliseconds, now.milliseconds,
            ])
    }
}
