internal import GRDB

/// A table that a ``StoreCopy`` takes over. Both ends have the same columns; what is another value at the target is ``changed``.
struct CopiedTable: Sendable {
    let name: String
    /// The columns that rows are copied in order of. An interrupted copy continues behind the last.
    let key: [String]
    /// Expressions of SQLite that stand for columns.
    var changed: [String: String] = [:]
    /// Columns with the names of sources, which at the target are others.
    var sources: Set<String> = []

    /// In the order in which they are copied: what is referred to comes first, and what can be claimed last.
    static let all = [
        CopiedTable(name: "profiles", key: ["key"]),
        CopiedTable(name: "jobs", key: ["key"]),
        CopiedTable(name: "attachments", key: ["key"], sources: ["source"]),
        // Bytes have other names there: see ``found``.
        CopiedTable(name: "renditions", key: ["tenant", "attachment", "role"]),
        CopiedTable(name: "access", key: ["id"]),
        CopiedTable(name: "idempotency_keys", key: ["tenant", "key"]),
        CopiedTable(name: "retained_submissions", key: ["job"]),
        CopiedTable(name: "retained_sources", key: ["job", "name"], sources: ["name"]),
        CopiedTable(name: "calls", key: ["id"], changed: ["node": "NULL"]),
        CopiedTable(name: "notifications", key: ["key"]),
        CopiedTable(name: "notification_sources", key: ["notification"]),
        CopiedTable(name: "notification_media", key: ["notification", "attachment"]),
        CopiedTable(name: "firings", key: ["id"]),
        CopiedTable(name: "tenants", key: ["tenant"]),
        CopiedTable(name: "tickets", key: ["id"]),
        CopiedTable(name: "response_sessions", key: ["ticket", "id"]),
        CopiedTable(name: "responses", key: ["tenant", "place"]),
        CopiedTable(name: "pending_notifications", key: ["tenant", "slot"]),
        CopiedTable(name: "audit", key: ["key"]),
        CopiedTable(name: "api_keys", key: ["id"]),
        CopiedTable(name: "categories", key: ["tenant", "id"]),
        // One that still takes bytes has them in a file of this machine, which nobody can go on with there.
        CopiedTable(
            name: "uploads", key: ["tenant", "id"],
            changed: [
                "state": "iif(state = 'open', 'expired', state)", "parts": "NULL",
                "finished_at": "iif(state = 'open', touched_at, finished_at)",
            ], sources: ["source"]),
        CopiedTable(
            name: "upload_usage", key: ["tenant"],
            changed: [
                "open": "0",
                "bytes": """
                (SELECT coalesce(sum(received), 0) FROM uploads
                 WHERE uploads.tenant = upload_usage.tenant AND state = 'complete')
                """,
            ]),
        CopiedTable(name: "labels", key: ["tenant", "key", "value", "job"]),
        CopiedTable(name: "tallies", key: ["tenant", "minute", "lane", "state", "code", "slot"]),
        CopiedTable(name: "usage", key: ["tenant", "slot"]),
        CopiedTable(
            name: "counters", key: ["slot"],
            changed: ["blobs": copied("count(*)"), "blob_bytes": copied("coalesce(sum(bytes), 0)")]),
        CopiedTable(name: "virtual_time", key: ["lane", "priority", "slot"]),
        // What ran is given out anew, as after a crash.
        CopiedTable(
            name: "queue", key: ["job"],
            changed: [
                "state": "'pending'", "interrupted": "max(interrupted, state = 'running')", "claim": "NULL",
                "node": "NULL", "claimed_until": "NULL",
            ]),
    ]

    /// What the target has of bytes, of which there is one for each tenant and hash, in one row.
    private static func copied(_ what: String) -> String {
        """
        iif(slot = (SELECT min(slot) FROM counters),
            (SELECT \(what) FROM (SELECT DISTINCT tenant, sha256, bytes FROM blobs WHERE refs > 0)), 0)
        """
    }

    /// Tables of the records that aren't copied row by row.
    static let left: Set = [
        // `StoreCopy+Bytes` copies these with their bytes.
        "blobs",
        // Bytes have new names at the target, none of which was ever taken back.
        "tombstones",
        // Console sessions and running batches are not copied: people sign in again, and a running batch reports itself again.
        "console_sessions", "run_nodes",
    ]
}

extension CopiedTable {
    /// Reads a part of the rows, each as a JSON object, and their keys.
    ///
    /// - Parameter isFirst: Else it goes on behind a key.
    func selection(_ columns: [ColumnInfo], isFirst: Bool) -> String {
        let values = columns.map { column in
            let name = column.name
            let value =
                switch column.type {
                // PostgreSQL reads bytes in this form.
                case "BLOB": "iif(\(name) IS NULL, NULL, '\\x' || lower(hex(\(name))))"
                // JSON has fewer digits.
                case "REAL": "iif(\(name) IS NULL, NULL, printf('%!.17g', \(name)))"
                case "TEXT" where self.name == "tallies" && ["waiting", "work"].contains(name): "json(\(name))"
                default: name
                }
            return "'\(name)', \(changed[name] ?? value)"
        }
        let names = key.joined(separator: ", ")
        let place = isFirst ? "" : "WHERE (\(names)) > (\(key.map { _ in "?" }.joined(separator: ", ")))"
        return """
            SELECT json_object(\(values.joined(separator: ", "))) AS row, \(names) FROM \(name) \(place)
            ORDER BY \(names) LIMIT ?
            """
    }

    /// Adds rows to the target, which come as a JSON array.
    func insertion(_ columns: [ColumnInfo]) -> String {
        let names = columns.map(\.name)
        let values = names.map { name in
            if self.name == "renditions", name == "blob" { return "blobs.name" }
            guard sources.contains(name) else { return "new.\(name)" }
            return """
                coalesce((SELECT copy FROM copied_objects
                    WHERE kind = 'source' AND copied_objects.name = new.\(name)), new.\(name))
                """
        }
        // There is one for each tenant and hash.
        let bytes = "JOIN blobs ON blobs.tenant = new.tenant AND blobs.sha256 = new.sha256"
        return """
            INSERT INTO \(name) (\(names.joined(separator: ", "))) OVERRIDING SYSTEM VALUE
            SELECT \(values.joined(separator: ", ")) FROM json_populate_recordset(NULL::\(name), $1::json) AS new
            \(name == "renditions" ? bytes : "")
            """
    }
}
