/// A column at the target, and what of a row in SQLite it takes.
struct CopiedColumn: Sendable {
    /// How a value travels: as text, which the target makes into its own type.
    enum Kind: Sendable {
        case text
        case int
        case bool
        case double
        case uuid
        /// Numbers, with commas between.
        case ints
        /// Hexadecimal digits, or bytes that are written so on the way.
        case bytes
        /// A submission's JSON, in which the names of sources are those at the target.
        case submission
        /// A source's name, which at the target is another.
        case source
    }

    /// At the target.
    let name: String
    let kind: Kind
    /// In SQLite.
    let expression: String
    /// Columns in SQLite that the expression is made of.
    let reads: [String]

    /// - Parameters:
    ///   - expression: Nil for the column of the same name.
    ///   - reads: Nil where the expression is a column's name.
    init(_ name: String, _ kind: Kind, from expression: String? = nil, reading reads: [String]? = nil) {
        self.name = name
        self.kind = kind
        self.expression = expression ?? name
        self.reads = reads ?? [self.expression]
    }

    /// What becomes of the text at the target.
    var cast: String {
        switch kind {
        case .text, .submission: "new.\(name)"
        case .int: "new.\(name)::bigint"
        case .bool: "new.\(name)::boolean"
        case .double: "new.\(name)::float8"
        case .uuid: "new.\(name)::uuid"
        case .ints: "string_to_array(new.\(name), ',')::bigint[]"
        case .bytes: "decode(new.\(name), 'hex')"
        case .source:
            """
            coalesce((SELECT copy FROM copied_objects
                WHERE kind = 'source' AND copied_objects.name = new.\(name)), new.\(name))
            """
        }
    }
}

/// A table at the target, and the rows in SQLite that it takes: what a ``StoreCopy`` copies is ``all``, and a test holds
/// that to the columns of both.
struct CopiedTable: Sendable {
    /// By which rows are copied in order, and a copy goes on where it was.
    struct Key: Sendable {
        let name: String
        let isNumber: Bool

        static func number(_ name: String) -> Key { Key(name: name, isNumber: true) }
        static func text(_ name: String) -> Key { Key(name: name, isNumber: false) }
    }

    /// At the target.
    let name: String
    /// In SQLite; other tables have their names before those of their columns.
    let source: String
    /// What else is read beside.
    var join = ""
    /// Which rows are taken.
    var condition = "true"
    let key: [Key]
    let columns: [CopiedColumn]
    /// A column at the target that is found there.
    var found: (column: String, value: String, join: String)?

    /// Its rows in SQLite.
    var rows: String { "\(source) \(join) WHERE \(condition)" }

    /// In the order in which they are copied: what is referred to comes first, and what can be claimed last.
    static let all = [
        CopiedTable(
            name: "profiles", source: "profiles", key: [.number("key")],
            columns: [
                CopiedColumn("key", .int), CopiedColumn("digest", .text), CopiedColumn("name", .text),
                CopiedColumn("body", .text),
            ]),
        CopiedTable(
            name: "jobs", source: "jobs", key: [.number("key")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("key", .int), CopiedColumn("id", .text),
                CopiedColumn("work_key", .text), CopiedColumn("run", .text), CopiedColumn("generation", .int),
                CopiedColumn("body_digest", .text), CopiedColumn("profile", .int), CopiedColumn("mode", .text),
                CopiedColumn("priority", .int), CopiedColumn("metadata", .text),
                CopiedColumn("state", .text, from: "iif(state = 'running', 'pending', state)", reading: ["state"]),
                // Of what is unfinished, the queue knows.
                CopiedColumn("attempt", .int, from: "iif(submission IS NULL, attempt, 0)", reading: ["attempt"]),
                CopiedColumn("delivered_claim", .uuid), CopiedColumn("created_at", .int),
                CopiedColumn("deadline_at", .int), CopiedColumn("finished_at", .int), CopiedColumn("expires_at", .int),
            ]),
        CopiedTable(
            name: "attachments", source: "attachments", key: [.number("key")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("id", .uuid), CopiedColumn("key", .int),
                CopiedColumn("job", .int), CopiedColumn("generation", .int), CopiedColumn("ordinal", .int),
                CopiedColumn("run", .text), CopiedColumn("identifier", .text),
                CopiedColumn("source", .source, from: "spool"),
                CopiedColumn("state", .text, from: "iif(state = 'running', 'pending', state)", reading: ["state"]),
                CopiedColumn("code", .text), CopiedColumn("fidelity", .text), CopiedColumn("kind", .text),
                CopiedColumn("best", .text),
                CopiedColumn("details", .text), CopiedColumn("created_at", .int), CopiedColumn("finished_at", .int),
                CopiedColumn("expires_at", .int),
            ]),
        CopiedTable(
            name: "renditions", source: "renditions", join: "JOIN blobs ON blobs.name = renditions.blob",
            key: [.text("renditions.tenant"), .text("attachment"), .text("role")],
            columns: [
                CopiedColumn("tenant", .text, from: "renditions.tenant"), CopiedColumn("attachment", .uuid),
                CopiedColumn("role", .text), CopiedColumn("sha256", .bytes, from: "blobs.sha256"),
                CopiedColumn("bytes", .int, from: "blobs.bytes"), CopiedColumn("media_type", .text),
                CopiedColumn("width", .int), CopiedColumn("height", .int), CopiedColumn("duration", .double),
                CopiedColumn("scheme", .text), CopiedColumn("key", .bytes), CopiedColumn("key_kid", .text),
            ],
            // Of a tenant and a hash there is one.
            found: (
                "blob", "blobs.name",
                "JOIN blobs ON blobs.tenant = new.tenant AND blobs.sha256 = decode(new.sha256, 'hex')"
            )),
        CopiedTable(
            name: "access", source: "access", key: [.text("id")],
            columns: [
                CopiedColumn("id", .text), CopiedColumn("kind", .text), CopiedColumn("tenant", .text),
                CopiedColumn("attachment", .uuid), CopiedColumn("parent", .text), CopiedColumn("renditions", .text),
                CopiedColumn("lease_limit", .int), CopiedColumn("kid", .text), CopiedColumn("delivery", .text),
                CopiedColumn("by_job", .bool), CopiedColumn("created_at", .int), CopiedColumn("expires_at", .int),
                CopiedColumn("ended_at", .int),
            ]),
        CopiedTable(
            name: "idempotency_keys", source: "idempotency_keys", key: [.text("tenant"), .text("key")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("key", .text), CopiedColumn("body_digest", .text),
                CopiedColumn("job", .int), CopiedColumn("created_at", .int),
            ]),
        CopiedTable(
            name: "retained_submissions", source: "retained_submissions", key: [.number("job")],
            columns: [
                CopiedColumn("job", .int), CopiedColumn("generation", .int), CopiedColumn("submission", .submission),
                CopiedColumn("kept_until", .int),
            ]),
        CopiedTable(
            name: "retained_sources", source: "retained_spool", key: [.number("job"), .text("name")],
            columns: [CopiedColumn("job", .int), CopiedColumn("name", .source)]),
        CopiedTable(
            name: "calls", source: "calls", key: [.text("id")],
            columns: [
                CopiedColumn("id", .text), CopiedColumn("tenant", .text), CopiedColumn("type", .text),
                CopiedColumn("job", .int), CopiedColumn("generation", .int), CopiedColumn("subject", .text),
                CopiedColumn("url", .text), CopiedColumn("traceparent", .text), CopiedColumn("created_at", .int),
                CopiedColumn("give_up_at", .int), CopiedColumn("state", .text), CopiedColumn("attempt", .int),
                CopiedColumn("due_at", .int), CopiedColumn("underway", .bool), CopiedColumn("finished_at", .int),
                CopiedColumn("reason", .text), CopiedColumn("is_kept", .bool), CopiedColumn("body", .bytes),
                CopiedColumn("answers", .text),
            ]),
        CopiedTable(
            name: "notifications", source: "notifications", key: [.number("key")],
            columns: [
                CopiedColumn("key", .int), CopiedColumn("tenant", .text), CopiedColumn("id", .text),
                CopiedColumn("revision", .int), CopiedColumn("generation", .int), CopiedColumn("state", .text),
                CopiedColumn("category", .text),
                CopiedColumn("next_at", .int), CopiedColumn("rules", .text), CopiedColumn("shown_at", .int),
                CopiedColumn("finished_at", .int), CopiedColumn("media_at", .int), CopiedColumn("media_job", .text),
                CopiedColumn("record", .text),
            ]),
        CopiedTable(
            name: "notification_sources", source: "notification_sources", key: [.number("notification")],
            columns: [
                CopiedColumn("notification", .int), CopiedColumn("profile", .int), CopiedColumn("submission", .text),
                CopiedColumn("headers", .bytes), CopiedColumn("headers_kid", .text),
            ]),
        CopiedTable(
            name: "notification_media", source: "notification_media",
            key: [.number("notification"), .text("attachment")],
            columns: [
                CopiedColumn("notification", .int), CopiedColumn("tenant", .text), CopiedColumn("attachment", .uuid),
            ]),
        CopiedTable(
            name: "firings", source: "firings", key: [.text("id")],
            columns: [
                CopiedColumn("id", .uuid), CopiedColumn("tenant", .text), CopiedColumn("notification", .int),
                CopiedColumn("generation", .int), CopiedColumn("number", .int), CopiedColumn("state", .text),
                CopiedColumn("scheduled_at", .int), CopiedColumn("is_manual", .bool),
                CopiedColumn("idempotency_key", .text), CopiedColumn("waits_until", .int),
                CopiedColumn("place", .int), CopiedColumn("created_at", .int), CopiedColumn("record", .text),
            ]),
        CopiedTable(
            name: "tenants", source: "tenants", key: [.text("tenant")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("last_place", .int), CopiedColumn("last_response", .int),
                CopiedColumn("signing", .text), CopiedColumn("removed_at", .int),
            ]),
        CopiedTable(
            name: "tickets", source: "tickets", key: [.text("id")],
            columns: [
                CopiedColumn("id", .text), CopiedColumn("tenant", .text), CopiedColumn("notification", .int),
                CopiedColumn("kind", .text), CopiedColumn("kid", .text), CopiedColumn("expires_at", .int),
                CopiedColumn("ended_at", .int), CopiedColumn("record", .text),
            ]),
        CopiedTable(
            name: "response_sessions", source: "response_sessions", key: [.text("ticket"), .text("id")],
            columns: [CopiedColumn("ticket", .text), CopiedColumn("id", .uuid), CopiedColumn("record", .text)]),
        CopiedTable(
            name: "responses", source: "responses", key: [.text("tenant"), .number("place")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("place", .int), CopiedColumn("notification", .int),
                CopiedColumn("ticket", .text), CopiedColumn("id", .uuid), CopiedColumn("session", .uuid),
                CopiedColumn("firing", .int), CopiedColumn("is_preview", .bool), CopiedColumn("received_at", .int),
                CopiedColumn("record", .text),
            ]),
        CopiedTable(
            name: "pending_notifications", source: "tenants", key: [.text("tenant")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("slot", .int, from: "0", reading: []),
                CopiedColumn("count", .int, from: "pending_notifications"),
            ]),
        CopiedTable(
            name: "audit", source: "audit", key: [.number("key")],
            columns: [
                CopiedColumn("key", .int), CopiedColumn("tenant", .text), CopiedColumn("at", .int),
                CopiedColumn("action", .text), CopiedColumn("subject_kind", .text), CopiedColumn("subject", .text),
                CopiedColumn("attachment", .uuid), CopiedColumn("actor_kind", .text), CopiedColumn("actor", .text),
                CopiedColumn("detail", .text),
            ]),
        CopiedTable(
            name: "api_keys", source: "api_keys", key: [.text("id")],
            columns: [
                CopiedColumn("id", .text), CopiedColumn("tenant", .text), CopiedColumn("name", .text),
                CopiedColumn("roles", .text), CopiedColumn("sha256", .text), CopiedColumn("created_at", .int),
                CopiedColumn("expires_at", .int), CopiedColumn("revoked_at", .int),
            ]),
        CopiedTable(
            name: "categories", source: "categories", key: [.text("tenant"), .text("id")],
            columns: [CopiedColumn("tenant", .text), CopiedColumn("id", .text), CopiedColumn("body", .text)]),
        // One that still takes bytes has them in a file of this machine, which nobody can go on with there.
        CopiedTable(
            name: "uploads", source: "uploads", key: [.number("key")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("id", .uuid), CopiedColumn("ticket", .text),
                CopiedColumn("kid", .text),
                CopiedColumn("state", .text, from: "iif(state = 'open', 'expired', state)", reading: ["state"]),
                CopiedColumn("length", .int), CopiedColumn("received", .int), CopiedColumn("source", .source),
                CopiedColumn("writer", .uuid),
                CopiedColumn("used_by", .text), CopiedColumn("is_closed", .bool), CopiedColumn("sha256", .text),
                CopiedColumn("created_at", .int), CopiedColumn("touched_at", .int), CopiedColumn("expires_at", .int),
                CopiedColumn(
                    "finished_at", .int, from: "iif(state = 'open', touched_at, finished_at)",
                    reading: ["state", "touched_at", "finished_at"]),
                CopiedColumn("terms", .text), CopiedColumn("error", .text),
            ]),
        CopiedTable(
            name: "upload_usage", source: "upload_usage", key: [.text("tenant")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("open", .int, from: "0", reading: ["open"]),
                CopiedColumn(
                    "bytes", .int,
                    from: """
                        (SELECT coalesce(sum(received), 0) FROM uploads
                         WHERE uploads.tenant = upload_usage.tenant AND state = 'complete')
                        """, reading: ["bytes"]),
            ]),
        CopiedTable(
            name: "labels", source: "labels",
            key: [.text("tenant"), .text("key"), .text("value"), .number("job")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("key", .text), CopiedColumn("value", .text),
                CopiedColumn("job", .int),
            ]),
        CopiedTable(
            name: "tallies", source: "tallies",
            key: [.text("tenant"), .number("minute"), .text("lane"), .text("state"), .text("code")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("minute", .int), CopiedColumn("lane", .text),
                CopiedColumn("state", .text), CopiedColumn("code", .text),
                CopiedColumn("slot", .int, from: "0", reading: []), CopiedColumn("count", .int),
                CopiedColumn("waiting", .ints), CopiedColumn("work", .ints),
            ]),
        CopiedTable(
            name: "usage", source: "usage", key: [.text("tenant")],
            columns: [
                CopiedColumn("tenant", .text), CopiedColumn("slot", .int, from: "0", reading: []),
                CopiedColumn("stored_bytes", .int), CopiedColumn("unfinished_jobs", .int),
                CopiedColumn("open_leases", .int),
            ]),
        CopiedTable(
            name: "counters", source: "holdings", key: [.number("only")],
            columns: [
                CopiedColumn("slot", .int, from: "0", reading: []), CopiedColumn("leases_left_to_expire", .int),
                CopiedColumn(
                    "unfinished_jobs", .int, from: "(SELECT coalesce(sum(unfinished_jobs), 0) FROM usage)", reading: []),
            ]),
        CopiedTable(
            name: "virtual_time", source: "lines", key: [.text("lane"), .number("priority")],
            columns: [
                CopiedColumn("lane", .text), CopiedColumn("priority", .int),
                CopiedColumn("slot", .int, from: "0", reading: []), CopiedColumn("rank", .int, from: "claimed_rank"),
            ]),
        // What ran is given out anew, as after a crash.
        CopiedTable(
            name: "queue", source: "jobs", condition: "state IN ('pending', 'running')", key: [.number("key")],
            columns: [
                CopiedColumn("job", .int, from: "key"), CopiedColumn("tenant", .text), CopiedColumn("run", .text),
                CopiedColumn("lane", .text), CopiedColumn("priority", .int),
                CopiedColumn("rank", .int, from: "iif(run = '', rank, key)", reading: ["rank"]),
                CopiedColumn("due_at", .int), CopiedColumn("state", .text, from: "'pending'", reading: []),
                CopiedColumn("generation", .int), CopiedColumn("attempt", .int),
                CopiedColumn(
                    "interrupted", .bool, from: "max(interrupted, state = 'running')", reading: ["interrupted"]),
                CopiedColumn("deadline_at", .int), CopiedColumn("submission", .submission),
                CopiedColumn("headers", .bytes), CopiedColumn("headers_kid", .text),
                CopiedColumn(
                    "has_callback", .bool, from: "json_extract(submission, '$.callback') IS NOT NULL",
                    reading: ["submission"]),
            ]),
    ]

    /// What of SQLite isn't copied: tables, and columns of others.
    static let left: Set<String> = [
        // Nothing refers to an upload by its row.
        "uploads.key",
        // Of a bucket; a directory has none.
        "uploads.parts",
        // The worker is gone.
        "jobs.claim", "jobs.worker", "jobs.claimed_until",
        // By hash and tenant, with their bytes: `StoreCopy+Bytes`. References are counted anew.
        "renditions.blob", "blobs.name", "blobs.tenant", "blobs.refs", "blobs.damaged",
        // Bytes have new names at the target, none of which was ever taken back.
        "tombstones",
        // Empty between two transactions.
        "released_spool",
        // The target counts these when it is asked.
        "lanes", "open_access", "holdings.blobs", "holdings.blob_bytes", "holdings.pending_calls",
        // The target's server has the time, and each node asks what was taken back.
        "store",
        // Computed from the URL.
        "calls.receiver",
        // Whoever is signed in signs in again.
        "console_sessions",
    ]

    /// What of the target isn't filled from a row of SQLite.
    static let made: Set<String> = [
        // Written with the bytes: `StoreCopy+Bytes`.
        "blobs",
        // None takes bytes there.
        "uploads.parts",
        // Nobody has anything in hand.
        "queue.claim", "queue.node", "queue.claimed_until",
        // Computed from the URL.
        "calls.receiver",
        // Whoever is signed in signs in again.
        "console_sessions",
        // Of nodes, and what they leave behind.
        "nodes", "runs", "run_nodes", "leaders", "tombstones", "garbage",
        "schema_version", "migration", "copies", "copied_objects",
    ]
}

extension CopiedTable {
    /// Adds rows, of which each column's values come as one array of texts.
    var insertion: String {
        let names = columns.map(\.name)
        let values = columns.map(\.cast) + (found.map { [$0.value] } ?? [])
        return """
            INSERT INTO \(name) (\((names + (found.map { [$0.column] } ?? [])).joined(separator: ", ")))
            OVERRIDING SYSTEM VALUE
            SELECT \(values.joined(separator: ", "))
            FROM unnest(\(columns.indices.map { "$\($0 + 1)::text[]" }.joined(separator: ", ")))
                AS new (\(names.joined(separator: ", "))) \(found?.join ?? "")
            """
    }

    /// Reads a part of the rows: the columns, then the key.
    ///
    /// - Parameter isFirst: Else it goes on behind a key.
    func selection(isFirst: Bool) -> String {
        let names = key.map(\.name).joined(separator: ", ")
        let place = isFirst ? "" : "AND (\(names)) > (\(key.map { _ in "?" }.joined(separator: ", ")))"
        return """
            SELECT \((columns.map(\.expression) + key.map(\.name)).joined(separator: ", "))
            FROM \(rows) \(place) ORDER BY \(names) LIMIT ?
            """
    }
}
