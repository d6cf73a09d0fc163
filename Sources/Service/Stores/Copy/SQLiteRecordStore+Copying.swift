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

extension SQLiteRecordStore {
    /// Rows of a table, as texts.
    func copiedRows(
        of table: CopiedTable, after key: [String]?, limit: Int
    ) async throws(AttachmentError) -> CopiedPart<[String?]> {
        try await read { database, _ in
            var values: [(any DatabaseValueConvertible)?] = []
            for (part, text) in zip(table.key, key ?? []) {
                if part.isNumber { values.append(Int64(text)) } else { values.append(text) }
            }
            values.append(limit)
            let rows = try database.rows(table.selection(isFirst: key == nil), StatementArguments(values))
            let texts: [[String?]] = rows.map { row in row.databaseValues.map(\.copiedText) }
            var part = CopiedPart(elements: texts.map { Array($0.prefix(table.columns.count)) }, next: nil)
            if rows.count == limit {
                part.next = texts.last.map { $0.suffix(table.key.count).map { $0 ?? "" } }
            }
            return part
        }
    }

    /// All bytes of some hashes, by tenant: a hash is in one part alone.
    func copiedBytes(
        after key: [String]?, limit: Int
    ) async throws(AttachmentError) -> CopiedPart<SharedBytes> {
        try await read { database, _ in
            let start = key?.first ?? ""
            let last = try database.texts(
                "SELECT sha256 FROM blobs WHERE name > ? ORDER BY name LIMIT 1 OFFSET ?", [start, limit - 1]
            ).first
            // Names are the hash and a dot, behind which a slash comes next; nothing comes behind a tilde.
            let end = last.map { $0 + "/" }
            var found: [SharedBytes] = []
            var places: [String: Int] = [:]
            for row in try database.rows(
                """
                SELECT renditions.tenant, blobs.sha256, blobs.bytes, blobs.name, count(*) AS refs
                FROM blobs JOIN renditions ON renditions.blob = blobs.name
                WHERE blobs.name > ? AND blobs.name < ?
                GROUP BY blobs.name, renditions.tenant ORDER BY blobs.name, renditions.tenant
                """, [start, end ?? "~"])
            {
                let one = SharedBytes(
                    tenant: row["tenant"], sha256: row["sha256"], bytes: row["bytes"], refs: row["refs"],
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
        try await read { database, _ in
            let start = key?.first ?? ""
            let names = try database.texts(
                """
                SELECT spool FROM attachments WHERE spool > ? UNION SELECT name FROM retained_spool WHERE name > ?
                ORDER BY 1 LIMIT ?
                """, [start, start, limit])
            let elements = try names.map { name in
                let hash = try String.fetchOne(
                    database.cachedStatement(sql: Self.hashOfSource), arguments: [name, name, name])
                return (name: name, sha256: hash)
            }
            return CopiedPart(elements: elements, next: names.count == limit ? names.last.map { [$0] } : nil)
        }
    }

    private static let hashOfSource = """
        SELECT max(sha256) FROM (
            SELECT json_extract(jobs.submission, '$.attachments[' || ordinal || '].sha256') AS sha256
            FROM attachments JOIN jobs ON jobs.key = attachments.job WHERE spool = ?
            UNION ALL
            SELECT json_extract(value, '$.sha256')
            FROM retained_spool JOIN retained_submissions ON retained_submissions.job = retained_spool.job,
                json_each(retained_submissions.submission, '$.attachments')
            WHERE retained_spool.name = ? AND json_extract(value, '$.location.spool.name') = ?)
        """

    /// How much there is, and what tells this store as it is now from others and from what becomes of it.
    func copiedAmount() async throws(AttachmentError) -> (amount: CopyAmount, fingerprint: String) {
        try await read { database, _ in
            var amount = CopyAmount()
            if let row = try database.row(
                """
                SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM (
                    SELECT DISTINCT renditions.tenant, sha256, bytes
                    FROM renditions JOIN blobs ON blobs.name = renditions.blob)
                """)
            {
                amount.blobs = row["n"]
                amount.bytes = row["bytes"]
            }
            amount.sources = Int(
                try database.number(
                    """
                    SELECT count(*) FROM (
                        SELECT spool FROM attachments WHERE spool IS NOT NULL UNION SELECT name FROM retained_spool)
                    """) ?? 0)
            for table in CopiedTable.all {
                amount.rows[table.name] = Int(try database.number("SELECT count(*) FROM \(table.rows)") ?? 0)
            }
            amount.interruptedJobs = Int(try database.number("SELECT count(*) FROM jobs WHERE state = 'running'") ?? 0)
            let marks = try database.texts(
                """
                SELECT last_instant || ' ' || revocations FROM store
                UNION ALL SELECT * FROM (SELECT id FROM jobs ORDER BY key LIMIT 1)
                UNION ALL SELECT * FROM (SELECT id FROM jobs ORDER BY key DESC LIMIT 1)
                """)
            let rows = amount.rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return (amount, Column.digest((marks + rows).joined(separator: "\n")))
        }
    }
}

extension DatabaseValue {
    /// As it travels.
    fileprivate var copiedText: String? {
        switch storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data): data.hexadecimal
        }
    }
}
