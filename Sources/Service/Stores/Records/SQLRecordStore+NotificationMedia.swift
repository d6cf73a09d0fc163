public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension SQLRecordStore {
    public func dueMedia(limit: Int) async throws(AttachmentError) -> [NotificationRecord] {
        try await read { work in
            try work.run(
                RecordTransaction.dueMedia,
                [
                    .int((engine.machineTime ?? work.now).milliseconds), .int(limit), .bytes(node.share.share.bits),
                    .int(node.firingPatience.wholeMilliseconds),
                ]
            ).map { try Column.value(NotificationRecord.self, from: try $0.text("record")) }
        }
    }

    public func mediaSources(
        of id: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> JobSubmission? {
        try await read { [keys] work in try work.mediaSources(of: id, tenant, keys) }
    }

    public func take(_ step: MediaStep, _ read: NotificationRecord) async throws(AttachmentError) -> Bool {
        try await write { work in
            guard let found = try work.lockNotification(read.id, of: read.tenant) else { return false }
            let changes = MediaDecision.take(step, read, found.record)
            try work.apply(changes)
            return !changes.isEmpty
        }
    }
}

extension RecordTransaction {
    /// Shared like those that are due to fire.
    fileprivate static let dueMedia = """
        WITH own AS MATERIALIZED (
            SELECT media_at, record FROM \(waitingForMedia)
                AND media_at <= $1 AND \(isOwn("notifications.key", in: "$3"))
            ORDER BY media_at LIMIT $2),
        others AS MATERIALIZED (
            SELECT media_at, record FROM \(waitingForMedia)
                AND media_at <= $1 - $4::bigint AND \(isOthers("notifications.key", in: "$3"))
            ORDER BY media_at DESC LIMIT greatest(0, $2 - (SELECT count(*) FROM own)))
        SELECT * FROM own UNION ALL SELECT * FROM others ORDER BY media_at
        """

    private static let waitingForMedia = """
        notifications LEFT JOIN jobs ON jobs.tenant = notifications.tenant AND jobs.id = notifications.media_job
        WHERE (media_job IS NULL OR jobs.key IS NULL OR jobs.state <> 'pending')
        """

    fileprivate func mediaSources(
        of id: NotificationID, _ tenant: TenantID, _ keys: KeyRing
    ) throws -> JobSubmission? {
        let row = try run(
            """
            SELECT submission, body, headers, headers_kid FROM notifications
                JOIN notification_sources ON notification_sources.notification = notifications.key
                JOIN profiles ON profiles.key = notification_sources.profile
            WHERE notifications.tenant = $1 AND notifications.id = $2
            """, [.text(tenant.rawValue), .text(id.rawValue)]
        ).first
        guard let row else { return nil }
        var submission = try Column.value(JobSubmission.self, from: try row.text("submission"))
        submission.profile = try ProfileColumn.value(from: try row.text("body"))
        if let kid = try row.optionalText("headers_kid"), let box = try row.optionalBytes("headers") {
            try SealedSecrets(kid: kid, box: Data(box)).open(into: &submission, keys: keys)
        }
        return submission
    }

    /// Keeps what a notification's media are made of, where there is such; the headers for their origins encrypted.
    func keep(_ sources: JobSubmission?, of notification: NewNotification, _ keys: KeyRing) throws {
        guard let sources else { return }
        let stored = try StoredSubmission(sources, keys: keys)
        let profile = try profileKey(sources.profile, body: stored.profile)
        try run(
            """
            INSERT INTO notification_sources (notification, profile, submission, headers, headers_kid)
            SELECT key, $3, $4, $5, $6 FROM notifications WHERE tenant = $1 AND id = $2
            """,
            [
                .text(notification.tenant.rawValue), .text(notification.id.rawValue), .int(profile),
                .text(stored.body), .bytes(stored.secrets.map { Array($0.box) }), .text(stored.secrets?.kid),
            ])
    }

    func forgetting(sourcesOf notification: NotificationID, _ tenant: TenantID) -> Statement {
        Statement(
            """
            DELETE FROM notification_sources
            WHERE notification = (SELECT key FROM notifications WHERE tenant = $1 AND id = $2)
            """, [.text(tenant.rawValue), .text(notification.rawValue)])
    }
}
