public import SatchelCore
internal import Postgres

extension RecordStore {
    /// A tenant's entries, newest first, those behind a cursor of an earlier page.
    public func audit(
        of tenant: TenantID, where filter: AuditFilter, after cursor: String?, limit: Int
    ) async throws(AttachmentError) -> Page<AuditEntry> {
        let place = ListPlace(cursor) ?? ListPlace(at: .max, key: .max)
        let limit = Self.pageLength(limit)
        var conditions = Conditions(of: tenant)
        conditions.require("(at, key) < ($, $)", .int(place.at), .int(place.key))
        if let action = filter.action { conditions.require("action = $", .raw(action)) }
        switch filter.actor {
        case .kind(let kind): conditions.require("actor_kind = $", .raw(kind))
        case .id(let id): conditions.require("actor = $", .text(id))
        case nil: break
        }
        if let since = filter.since { conditions.require("at >= $", .time(since)) }
        return try await read { [conditions] work in
            let rows = try work.run(
                "SELECT * FROM audit WHERE \(conditions.sql) ORDER BY at DESC, key DESC LIMIT \(limit + 1)",
                conditions.values)
            return try Page(
                rows.map { row in
                    let entry = AuditEntry(
                        id: try row.text("key"), at: try row.instant("at"), action: try row.value("action"),
                        subject: .init(try row.value("subject_kind"), try row.text("subject")),
                        attachment: try row.optionalValue("attachment"),
                        actor: AuditActor(try row.value("actor_kind"), id: try row.optionalText("actor")),
                        detail: try row.optionalText("detail"))
                    return (ListPlace(at: try row.int64("at"), key: try row.int64("key")).cursor, entry)
                }, limit)
        }
    }

    /// Deletes entries that are older, at most so many.
    ///
    /// - Returns: How many there were.
    public func forgetAudit(olderThan age: Duration, limit: Int) async throws(AttachmentError) -> Int {
        try await write { work in
            try work.delete(RecordTransaction.RowsToDelete("audit", "key", "at <= $1"), .time(work.now - age), limit)
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
                .time(now), .raws(notes.map(\.tenant)), .raws(notes.map(\.action)), .raws(notes.map(\.subject.kind)),
                .texts(notes.map(\.subject.id)), .texts(notes.map { $0.attachment?.rawValue ?? "" }),
                .raws(actors.map(\.kind)), .texts(actors.map { $0.id ?? "" }), .texts(notes.map { $0.detail ?? "" }),
            ])
    }
}
