public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs {
        // A look first: who asks again and again must not keep others from writing.
        let next = try await read { database, now in try database.timeToDeadline(at: now) }
        guard let next, next <= .zero else { return OverdueJobs(next: next) }
        return try await write { database, now in
            let ended = try database.rows(Database.pendingByDeadline, [now.milliseconds, limit]).map { row in
                try database.end(row, at: now)
            }
            return OverdueJobs(ended: ended, next: try database.timeToDeadline(at: now))
        }
    }
}

extension Database {
    private static let hasDeadline =
        "state = 'pending' AND run = '' AND interrupted = 0 AND deadline_at IS NOT NULL"
    static let pendingByDeadline = """
        SELECT * FROM jobs WHERE \(hasDeadline) AND deadline_at <= ? ORDER BY deadline_at LIMIT ?
        """
    static let nextDeadline = "SELECT deadline_at FROM jobs WHERE \(hasDeadline) ORDER BY deadline_at LIMIT 1"

    /// Until the next deadline of a pending job; nil where none has one.
    fileprivate func timeToDeadline(at now: Instant) throws -> Duration? {
        try number(Self.nextDeadline).map { Instant(milliseconds: $0) - now }
    }

    /// Ends a pending job whose time is up.
    fileprivate func end(_ job: Row, at now: Instant) throws -> JobRecord {
        let key: Int64 = job["key"]
        let submission = try submission(job)
        let attachments = try rows(
            "SELECT id, ordinal, created_at FROM attachments WHERE job = ? AND generation = ? AND state = 'pending'",
            [key, job["generation"] as Int])
        let conclusion = try JobConclusion(
            overdue: submission,
            attachments.map { (AttachmentID(rawValue: $0["id"]), submission.attachments[$0["ordinal"]]) },
            createdAt: Instant(milliseconds: job["created_at"]), at: now)
        let submittedAt = attachments.first?.instant("created_at") ?? now
        _ = try record(conclusion, of: job, submission, submittedAt: submittedAt, at: now)
        return try jobRecord(key: key)
    }
}
