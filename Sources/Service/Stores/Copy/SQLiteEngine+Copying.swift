internal import SatchelCore
internal import FoundationEssentials
internal import GRDB
internal import Platform

/// Bytes under a hash that a tenant's records refer to.
struct SharedBytes: Hashable, Sendable {
    var tenant: String
    var sha256: String
    var bytes: Int64
    var refs: Int64
    /// Names of files that hold them, or did.
    var files: [String]
}

/// A part of what there is to copy, and the key behind which the next begins; nil where this was the last.
struct CopiedPart<Element: Sendable>: Sendable {
    var elements: [Element]
    var next: [String]?
}

extension SQLiteEngine {
    /// Rows of a table, each as JSON.
    func copiedRows(
        of table: CopiedTable, after key: [String]?, limit: Int
    ) async throws(AttachmentError) -> CopiedPart<String> {
        try await readForCopy { database in
            let columns = try database.columns(in: table.name)
            var values: [any DatabaseValueConvertible] = []
            for (name, text) in zip(table.key, key ?? []) {
                let isNumber = columns.contains { $0.name == name && $0.type == "INTEGER" }
                if isNumber, let number = Int64(text) { values.append(number) } else { values.append(text) }
            }
            values.append(limit)
            let rows = try Row.fetchAll(
                database, sql: table.selection(columns, isFirst: key == nil), arguments: StatementArguments(values))
            var part = CopiedPart(elements: rows.map { $0["row"] as String }, next: nil)
            if rows.count == limit, let last = rows.last {
                part.next = table.key.map { name in
                    let value = last[name] as DatabaseValue? ?? .null
                    return Int64.fromDatabaseValue(value).map(String.init) ?? String.fromDatabaseValue(value) ?? ""
                }
            }
            return part
        }
    }

    /// The columns of a table, which the target has as well.
    func copiedColumns(of table: CopiedTable) async throws(AttachmentError) -> [ColumnInfo] {
        try await readForCopy { database in try database.columns(in: table.name) }
    }

    /// All bytes of some hashes, by tenant: a hash is in one part alone.
    func copiedBytes(
        after key: [String]?, limit: Int
    ) async throws(AttachmentError) -> CopiedPart<SharedBytes> {
        try await readForCopy { database in
            let start = key?.first ?? ""
            let last = try String.fetchOne(
                database,
                sql: "SELECT lower(hex(sha256)) FROM blobs WHERE name > ? ORDER BY name LIMIT 1 OFFSET ?",
                arguments: [start, limit - 1])
            // Names are the hash and a dot, behind which a slash comes next; nothing comes behind a tilde.
            let end = last.map { $0 + "/" }
            var found: [SharedBytes] = []
            var places: [String: Int] = [:]
            for row in try Row.fetchAll(
                database,
                sql: """
                    SELECT tenant, lower(hex(sha256)) AS hash, bytes, name, refs FROM blobs
                    WHERE name > ? AND name < ? AND refs > 0 ORDER BY name
                    """, arguments: [start, end ?? "~"])
            {
                let one = SharedBytes(
                    tenant: row["tenant"], sha256: row["hash"], bytes: row["bytes"], refs: row["refs"],
                    files: [row["name"]])
                if let place = places[one.sha256 + one.tenant] {
                    found[place].refs += one.refs
                    found[place].files += one.files
                } else {
                    places[one.sha256 + one.tenant] = found.count
                    found.append(one)
                }
            }
            return CopiedPart(elements: found, next: end.map { [$0] })
        }
    }

    /// Sources that work still needs, each with its hash where that is known.
    func copiedSources(
        after key: [String]?, limit: Int
    ) async throws(AttachmentError) -> CopiedPart<(name: String, sha256: String?)> {
        try await readForCopy { database in
            let start = key?.first ?? ""
            let names = try String.fetchAll(
                database,
                sql: """
                    SELECT source FROM attachments WHERE source > ? UNION SELECT name FROM retained_sources WHERE name > ?
                    ORDER BY 1 LIMIT ?
                    """, arguments: [start, start, limit])
            let elements = try names.map { name in
                let hash = try String.fetchOne(
                    database.cachedStatement(sql: Self.hashOfSource), arguments: [name, name, name])
                return (name: name, sha256: hash)
            }
            return CopiedPart(elements: elements, next: names.count == limit ? names.last.map { [$0] } : nil)
        }
    }

    private func readForCopy<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(AttachmentError) -> Value {
        do { return try await connections.read(body) } catch { throw AttachmentError(storing: error) }
    }

    private static let hashOfSource = """
        SELECT max(sha256) FROM (
            SELECT json_extract(queue.submission, '$.attachments[' || ordinal || '].sha256') AS sha256
            FROM attachments JOIN queue ON queue.job = attachments.job WHERE source = ?
            UNION ALL
            SELECT json_extract(value, '$.sha256')
            FROM retained_sources JOIN retained_submissions ON retained_submissions.job = retained_sources.job,
                json_each(retained_submissions.submission, '$.attachments')
            WHERE retained_sources.name = ? AND json_extract(value, '$.location.spool.name') = ?)
        """

    /// How much there is, and what tells this store as it is now from others and from what becomes of it.
    func copiedAmount() async throws(AttachmentError) -> (amount: CopyAmount, fingerprint: String) {
        try await readForCopy { database in
            func count(_ rows: String) throws -> Int {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \(rows)") ?? 0
            }
            var amount = CopyAmount()
            let bytes = "(SELECT DISTINCT tenant, sha256, bytes FROM blobs WHERE refs > 0)"
            amount.blobs = try count(bytes)
            amount.bytes = try Int64.fetchOne(database, sql: "SELECT coalesce(sum(bytes), 0) FROM \(bytes)") ?? 0
            amount.sources = try count(
                """
                (SELECT source FROM attachments WHERE source IS NOT NULL UNION SELECT name FROM retained_sources)
                """)
            for table in CopiedTable.all { amount.rows[table.name] = try count(table.name) }
            amount.interruptedJobs = try count("queue WHERE state = 'running'")
            let marks = try String.fetchAll(
                database,
                sql: """
                    SELECT CAST(last_instant AS TEXT) FROM store
                    UNION ALL SELECT * FROM (SELECT id FROM jobs ORDER BY key LIMIT 1)
                    UNION ALL SELECT * FROM (SELECT id FROM jobs ORDER BY key DESC LIMIT 1)
                    """)
            let rows = amount.rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return (amount, Column.digest((marks + rows).joined(separator: "\n")))
        }
    }
}
