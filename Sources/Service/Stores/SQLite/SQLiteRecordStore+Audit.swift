public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func audit(
        of tenant: TenantID, where filter: AuditFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AuditEntry> {
        let place = AuditPlace(cursor: cursor ?? "")
        var conditions = "tenant = ? AND (at, key) < (?, ?)"
        var arguments: StatementArguments = [tenant.rawValue, place.at, place.key]
        func require(_ condition: String, _ value: any DatabaseValueConvertible) {
            conditions += " AND \(condition)"
            arguments += [value]
        }
        if let action = filter.action { require("action = ?", action.rawValue) }
        switch filter.actor {
        case .kind(let kind): require("actor_kind = ?", kind.rawValue)
        case .id(let id): require("actor = ?", id)
        case nil: break
        }
        if let since = filter.since { require("at >= ?", since.milliseconds) }
        return try await read { [conditions, arguments] database, _ in
            let entries = try database.rows(
                "SELECT * FROM audit WHERE \(conditions) ORDER BY at DESC, key DESC LIMIT ?",
                arguments + [min(max(limit, 1), AuditPlace.most) + 1]
            ).map { row in
                guard let action = AuditEntry.Action(rawValue: row["action"]),
                    let kind = AuditEntry.Subject.Kind(rawValue: row["subject_kind"]),
                    let actor = AuditActor.Kind(rawValue: row["actor_kind"])
                else { throw DatabaseError(message: "an entry of the audit list can't be read") }
                return AuditEntry(
                    id: String(row["key"] as Int64), at: Instant(milliseconds: row["at"]), action: action,
                    subject: .init(kind, row["subject"]),
                    attachment: (row["attachment"] as String?).map(AttachmentID.init(rawValue:)),
                    actor: AuditActor(actor, id: row["actor"]), detail: row["detail"])
            }
            return AuditPlace.page(of: entries, limit: limit)
        }
    }

    public func forgetAudit(olderThan age: Duration, limit: Int) async throws(AttachmentError) -> Int {
        try await write { database, now in
            try database.run(
                "DELETE FROM audit WHERE key IN (SELECT key FROM audit WHERE at <= ? LIMIT ?)",
                [(now - age).milliseconds, limit])
            return database.changesCount
        }
    }
}

extension Database {
    func note(_ note: AuditNote?, at now: Instant) throws {
        guard let note else { return }
        try run(
            """
            INSERT INTO audit (tenant, at, action, subject_kind, subject, attachment, actor_kind, actor, detail)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                note.tenant.rawValue, now.milliseconds, note.action.rawValue, note.subject.kind.rawValue,
                note.subject.id, note.attachment?.rawValue, note.actor.kind.rawValue, note.actor.id, note.detail,
            ])
    }
}
