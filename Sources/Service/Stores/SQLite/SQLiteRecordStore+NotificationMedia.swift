public import SatchelCore
internal import FoundationEssentials
internal import GRDB

extension SQLiteRecordStore {
    public func dueMedia(limit: Int) async throws(AttachmentError) -> [NotificationRecord] {
        try await read { [clock] database, _ in
            try database.rows(Database.dueMedia, [clock().milliseconds, limit]).map {
                try Column.value(NotificationRecord.self, from: $0["record"])
            }
        }
    }

    public func mediaSources(
        of id: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> JobSubmission? {
        try await read { [keys] database, _ in try database.mediaSources(of: id, tenant, keys) }
    }

    public func take(_ step: MediaStep, _ read: NotificationRecord) async throws(AttachmentError) -> Bool {
        try await write { database, now in
            guard let found = try database.notification(read.id, of: read.tenant) else { return false }
            let changes = MediaDecision.take(step, read, found.record)
            try database.apply(changes, at: now)
            return !changes.isEmpty
        }
    }
}

extension Database {
    fileprivate static let dueMedia = """
        SELECT record FROM notifications
            LEFT JOIN jobs ON jobs.tenant = notifications.tenant AND jobs.id = notifications.media_job
        WHERE media_at <= ?
            AND (media_job IS NULL OR jobs.key IS NULL OR jobs.state NOT IN ('pending', 'running'))
        ORDER BY media_at LIMIT ?
        """

    fileprivate func mediaSources(of id: NotificationID, _ tenant: TenantID, _ keys: KeyRing) throws -> JobSubmission? {
        guard let found = try notification(id, of: tenant),
            let row = try row("SELECT * FROM notification_sources WHERE notification = ?", [found.key])
        else { return nil }
        var submission = try Column.value(JobSubmission.self, from: row["submission"])
        submission.profile = try profile(key: row["profile"])
        if let box = row["headers"] as Data?, let kid = row["headers_kid"] as String? {
            try SealedSecrets(kid: kid, box: box).open(into: &submission, keys: keys)
        }
        return submission
    }

    /// Keeps what a notification's media are made of, where there is such; the headers for their origins encrypted.
    func keep(_ sources: JobSubmission?, of notification: NewNotification, _ keys: KeyRing) throws {
        guard let sources, let found = try self.notification(notification.id, of: notification.tenant) else { return }
        let stored = try StoredSubmission(sources, keys: keys)
        try run(
            """
            INSERT INTO notification_sources (notification, profile, submission, headers, headers_kid)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                found.key, try profileKey(sources.profile, body: stored.profile), stored.body, stored.secrets?.box,
                stored.secrets?.kid,
            ])
    }

    func forgetSources(of notification: NotificationID, _ tenant: TenantID) throws {
        try run(
            """
            DELETE FROM notification_sources
            WHERE notification = (SELECT key FROM notifications WHERE tenant = ? AND id = ?)
            """, [tenant.rawValue, notification.rawValue])
    }
}
