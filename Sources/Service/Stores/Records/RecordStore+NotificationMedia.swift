public import SatchelCore
internal import FoundationEssentials
internal import Postgres

extension RecordStore {
    /// Pending notifications of all tenants about whose media something is to be done, the longest due first: by the clock
    /// itself, as firings are. Those that wait for their job's end are among them when it has ended.
    public func dueMedia(limit: Int) async throws(AttachmentError) -> [NotificationRecord] {
        try await read { work in
            try work.run(
                RecordTransaction.dueMedia,
                [
                    .time(engine.machineTime ?? work.now), .int(limit), .bytes(node.share.share.bits),
                    .int(node.firingPatience.wholeMilliseconds),
                ]
            ).map { try $0.json("record") }
        }
    }

    /// What a notification's media are made of, with the headers for their origins; nil where nothing is prepared or tried
    /// again any more.
    public func mediaSources(
        of id: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> JobSubmission? {
        try await read { [keys] work in
            let row = try work.run(
                """
                SELECT submission, body, headers, headers_kid FROM notifications
                    JOIN notification_sources ON notification_sources.notification = notifications.key
                    JOIN profiles ON profiles.key = notification_sources.profile
                WHERE notifications.tenant = $1 AND notifications.id = $2
                """, [.raw(tenant), .raw(id)]
            ).first
            guard let row else { return nil }
            var submission: JobSubmission = try row.json("submission")
            submission.profile = try ProfileColumn.value(from: try row.text("body"))
            try row.secrets()?.open(into: &submission, keys: keys)
            return submission
        }
    }

    /// Records a step, and enqueues its call in the same transaction: see ``MediaDecision/take(_:_:_:)``.
    ///
    /// - Parameter read: The record by which it was decided.
    /// - Returns: Whether it was taken: nothing has changed meanwhile.
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
    fileprivate static let dueMedia = due(
        "media_at", "record",
        from: """
            notifications LEFT JOIN jobs ON jobs.tenant = notifications.tenant AND jobs.id = notifications.media_job
            """, where: "(media_job IS NULL OR jobs.key IS NULL OR jobs.state <> 'pending')")

    /// Keeps what a notification's media are made of, where there is such; the headers for their origins encrypted.
    func keep(_ sources: JobSubmission?, of notification: NewNotification, _ keys: KeyRing) throws {
        guard let sources else { return }
        let stored = try StoredSubmission(sources, keys: keys)
        let profile = try profileKey(sources.profile, body: stored.profile)
        try run(
            .insert(
                into: "notification_sources",
                [
                    "profile": .int(profile), "submission": .text(stored.body),
                    "headers": .bytes(stored.secrets.map { Array($0.box) }), "headers_kid": .text(stored.secrets?.kid),
                ], ["notification": "key"], from: "notifications WHERE tenant = $ AND id = $",
                [.raw(notification.tenant), .raw(notification.id)]))
    }

    func forgetting(sourcesOf notification: NotificationID, _ tenant: TenantID) -> Statement {
        Statement(
            """
            DELETE FROM notification_sources
            WHERE notification = (SELECT key FROM notifications WHERE tenant = $1 AND id = $2)
            """, [.raw(tenant), .raw(notification)])
    }
}
