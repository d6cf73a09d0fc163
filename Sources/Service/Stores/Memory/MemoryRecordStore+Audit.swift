public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func audit(
        of tenant: TenantID, where filter: AuditFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AuditEntry> {
        let place = cursor.map { AuditPlace(cursor: $0) }
        let entries = read { tables, _ in
            tables.audits.values.filter { $0.tenant == tenant && filter.includes($0.entry) }.map(\.entry)
        }.map { ($0, AuditPlace($0)) }.filter { _, own in
            place.map { (own.at, own.key) < ($0.at, $0.key) } ?? true
        }.sorted { ($0.1.at, $0.1.key) > ($1.1.at, $1.1.key) }.map(\.0)
        return AuditPlace.page(of: entries, limit: limit)
    }

    public func forgetAudit(olderThan age: Duration, limit: Int) async throws(AttachmentError) -> Int {
        try await write { tables, now in
            let over = tables.audits.filter { $0.value.entry.at <= now - age }.prefix(limit)
            for (key, _) in over { tables.audits[key] = nil }
            return over.count
        }
    }
}

extension MemoryTables {
    struct Audit: Sendable {
        var tenant: TenantID
        var entry: AuditEntry
    }

    mutating func note(_ note: AuditNote?, at now: Instant) {
        guard let note else { return }
        let key = nextKey()
        audits[key] = Audit(
            tenant: note.tenant,
            entry: AuditEntry(
                id: "\(key)", at: now, action: note.action, subject: note.subject, attachment: note.attachment,
                actor: note.actor, detail: note.detail))
    }
}
