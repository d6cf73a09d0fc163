public import SatchelCore
internal import Postgres

extension SQLRecordStore {
    public func audit(
        of tenant: TenantID, where filter: AuditFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AuditEntry> {
        let place = AuditPlace(cursor: cursor ?? "")
        var conditions = "tenant = $1 AND (at, key) < ($2, $3)"
        var values: [SQLValue] = [
            .text(tenant.rawValue), .int(place.at), .int(place.key), .int(min(max(limit, 1), AuditPlace.most) + 1),
        ]
        func require(_ condition: String, _ value: SQLValue) {
            values.append(value)
            conditions += " AND \(condition) $\(values.count)"
        }
        if let action = filter.action { require("action =", .text(action.rawValue)) }
        switch filter.actor {
        case .kind(let kind): require("actor_kind =", .text(kind.rawValue))
        case .id(let id): require("actor =", .text(id))
        case nil: break
        }
        if let since = filter.since { require("at >=", .int(since.milliseconds)) }
        return try await read { [conditions, values] work in
            let entries = try work.run(
                "SELECT * FROM audit WHERE \(conditions) ORDER BY at DESC, key DESC LIMIT $4", values
            ).map { row in
                AuditEntry(
                    id: String(try row.int64("key")), at: try row.instant("at"), action: try row.choice("action"),
                    subject: .init(try row.choice("subject_kind"), try row.text("subject")),
                    attachment: try row.optionalText("attachment").map(AttachmentID.init(rawValue:)),
                    actor: AuditActor(try row.choice("actor_kind"), id: try row.optionalText("actor")),
                    detail: try row.optionalText("detail"))
            }
            return AuditPlace.page(of: entries, limit: limit)
        }
    }

    public func forgetAudit(olderThan age: Duration, limit: Int) async throws(AttachmentError) -> Int {
        try await write { work in
            try work.run(
                """
                DELETE FROM audit WHERE key IN (
                    SELECT key FROM audit WHERE at <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
                """, [.int((work.now - age).milliseconds), .int(limit)]
            ).changes
        }
    }
}

extension RecordTransaction {
    /// Writes what was noted, all at once.
    func writeNotes() throws {
        guard !notes.isEmpty else { return }
        let actors = notes.compactMap(\.actor)
        // An array has no nulls: an empty text stands for none.
        try run(
            """
            INSERT INTO audit (tenant, at, action, subject_kind, subject, attachment, actor_kind, actor, detail)
            SELECT tenant, $1, action, subject_kind, subject, nullif(attachment, '')::uuid, actor_kind,
                nullif(actor, ''), nullif(detail, '')
            FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
                WITH ORDINALITY AS note (
                    tenant, action, subject_kind, subject, attachment, actor_kind, actor, detail, place)
            ORDER BY place
            """,
            [
                .int(now.milliseconds), .texts(notes.map(\.tenant.rawValue)), .texts(notes.map(\.action.rawValue)),
                .texts(notes.map(\.subject.kind.rawValue)), .texts(notes.map(\.subject.id)),
                .texts(notes.map { $0.attachment?.rawValue ?? "" }), .texts(actors.map(\.kind.rawValue)),
                .texts(actors.map { $0.id ?? "" }), .texts(notes.map { $0.detail ?? "" }),
            ])
    }
}
