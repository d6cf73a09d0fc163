public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func dueMedia(limit: Int) async throws(AttachmentError) -> [NotificationRecord] {
        read { tables, _ in
            let now = clock()
            return tables.notifications.values.compactMap { record in
                record.mediaDueAt.flatMap { at in
                    at <= now && tables.hasEnded(record.awaitedJob, of: record.tenant) ? (at: at, record) : nil
                }
            }.sorted { $0.at < $1.at }.prefix(limit).map(\.1)
        }
    }

    public func mediaSources(
        of id: NotificationID, tenant: TenantID
    ) async throws(AttachmentError) -> JobSubmission? {
        read { tables, _ in tables.notificationSources[.init(tenant: tenant, id: id)] }
    }

    public func take(_ step: MediaStep, _ read: NotificationRecord) async throws(AttachmentError) -> Bool {
        try await write { tables, now in
            guard let record = tables.notification(read.id, of: read.tenant) else { return false }
            let changes = MediaDecision.take(step, read, record)
            tables.apply(changes, at: now)
            return !changes.isEmpty
        }
    }
}

extension MemoryTables {
    /// Also of one that was deleted, or where there is none.
    fileprivate func hasEnded(_ id: JobID?, of tenant: TenantID) -> Bool {
        id.flatMap { job($0, of: tenant) }?.state.isFinished ?? true
    }
}
