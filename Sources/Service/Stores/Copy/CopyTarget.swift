internal import SatchelCore
internal import FoundationEssentials
internal import Postgres

/// How far a copy is: the stage, and the key behind which it goes on.
struct CopyPlace: Hashable, Sendable, Codable {
    var stage: String
    var after: [String]?
}

/// Bytes that were put where the target keeps them, or that are lost.
struct CopiedObject: Sendable {
    struct Blob: Sendable {
        var tenant: String
        var sha256: String
        var name: String
        var bytes: Int64
        var refs: Int64
        var isDamaged: Bool
    }

    enum Loss: String, Sendable {
        case missing
        case damaged
    }

    /// What is to be remembered of a file of the store.
    struct Note: Sendable {
        /// `blob` or `source`.
        var kind: String
        var name: String
        /// Its name at the target.
        var copy: String?
        var loss: Loss?
    }

    var blob: Blob?
    var notes: [Note] = []
}

/// The database that takes a copy, and the row there by which an interrupted one is known.
struct CopyTarget: Sendable {
    let pool: PostgresPool
    /// This process's, which another's that goes on in its place puts an end to.
    let attempt = UUID().uuidString.lowercased()
    private let objects = PostgresGroup<CopiedObject, Bool>()

    init(_ pool: PostgresPool) {
        self.pool = pool
    }

    private var path: String { pool.parameters.description }

    /// - Throws: `unfinishedCopy`.
    static func refuseUnfinished(in pool: PostgresPool) async throws(StoreError) {
        let source: String?
        do throws(PostgresError) {
            source = try await pool.rows("SELECT source FROM copies WHERE ended_at IS NULL").first?.text("source")
        } catch {
            throw .unusableDatabase(reason: "\(error)")
        }
        if let source { throw .unfinishedCopy(path: pool.parameters.description, source: source) }
    }

    // MARK: Beginning

    enum State: Hashable, Sendable {
        /// Nothing is there.
        case vacant
        /// An unfinished copy of this store.
        case begun(CopyPlace)
        /// A copy of this store, which may have been used since.
        case ended
    }

    /// What there is.
    ///
    /// - Throws: `notMigrated`, `newerSchema`, `unusableDatabase`; `occupied`, `otherCopy`, `inUse`.
    func state(_ fingerprint: String) async throws -> State {
        try await PostgresSchema.check(pool)
        return try await pool.transaction { transaction in try state(fingerprint, in: transaction) }
    }

    private func state(_ fingerprint: String, in transaction: PostgresTransaction) throws -> State {
        let row = try transaction.run("SELECT * FROM copies FOR UPDATE").first
        if let row {
            let isEnded = try row.optionalInt("ended_at") != nil
            guard try row.text("fingerprint") == fingerprint else {
                throw isEnded
                    ? StoreError.occupied(path: path) : StoreError.otherCopy(path: path, source: try row.text("source"))
            }
            if isEnded { return .ended }
            return .begun(try Column.value(CopyPlace.self, from: row.text("place")))
        }
        let filled = CopiedTable.all.map(\.name) + ["blobs"]
        let found = try transaction.run(
            """
            SELECT \(filled.map { "EXISTS (SELECT 1 FROM \($0))" }.joined(separator: " OR ")) AS filled,
                EXISTS (SELECT 1 FROM nodes WHERE heartbeat_at > \(PostgresClock.sql) - \(Self.nodeLife)) AS used
            """
        ).first
        guard let found, try !found.bool("filled") else { throw StoreError.occupied(path: path) }
        guard try !found.bool("used") else { throw StoreError.inUse(path: path) }
        return .vacant
    }

    private static let nodeLife = PostgresNode.Timing().deadAfter.wholeMilliseconds

    /// Takes the target for this attempt.
    func begin(_ source: String, _ fingerprint: String, at first: CopyPlace) async throws -> State {
        try await PostgresSchema.check(pool)
        return try await pool.transaction { transaction in
            let state = try state(fingerprint, in: transaction)
            switch state {
            case .vacant:
                try transaction.run(
                    """
                    INSERT INTO copies (only_row, source, fingerprint, attempt, place, began_at)
                    VALUES (1, $1, $2, $3, $4, \(PostgresClock.sql))
                    """, [.text(source), .text(fingerprint), .uuid(attempt), .text(try Column.text(first))])
            case .begun:
                try transaction.run(
                    "UPDATE copies SET attempt = $1, source = $2", [.uuid(attempt), .text(source)])
            case .ended: break
            }
            return state
        }
    }

    // MARK: Going on

    /// Adds rows of a table and notes that they are there, in one transaction.
    func add(
        _ rows: [String], to table: CopiedTable, by insertion: String, thenAt place: CopyPlace
    ) async throws {
        try await advance(to: place) { transaction in
            guard !rows.isEmpty else { return }
            let text = "[" + rows.joined(separator: ",") + "]"
            let added = try transaction.run(insertion, [.text(text)]).changes
            guard added == rows.count else {
                throw StoreError.unequalCopy(path: path, reasons: ["\(table.name): \(added) of \(rows.count) fit"])
            }
        }
    }

    func advance(
        to place: CopyPlace, _ body: @escaping @Sendable (PostgresTransaction) throws -> Void = { _ in }
    ) async throws {
        let next = try Column.text(place)
        try await pool.transaction { transaction in
            let row = try transaction.run(
                "SELECT place FROM copies WHERE attempt = $1 AND ended_at IS NULL FOR UPDATE", [.uuid(attempt)]
            ).first
            guard let row else { throw StoreError.inUse(path: path) }
            // By an attempt at this transaction whose answer was lost.
            if try row.text("place") == next { return }
            try body(transaction)
            try transaction.run("UPDATE copies SET place = $1", [.text(next)])
        }
    }

    /// Which of these the target has, with a name for each.
    func known(_ wanted: [(tenant: String, sha256: String)]) async throws -> Set<String> {
        guard !wanted.isEmpty else { return [] }
        let rows = try await pool.rows(
            """
            SELECT blobs.tenant, encode(blobs.sha256, 'hex') AS hash FROM unnest($1::text[], $2::text[]) AS new (tenant, hash)
                JOIN blobs ON blobs.tenant = new.tenant AND blobs.sha256 = decode(new.hash, 'hex')
            """, [.texts(wanted.map(\.tenant)), .texts(wanted.map(\.sha256))], on: .write)
        return Set(try rows.map { try $0.text("hash") + $0.text("tenant") })
    }

    /// What sources are called at the target, of those that were copied.
    func names(of sources: [String]) async throws -> [String: String] {
        guard !sources.isEmpty else { return [:] }
        let rows = try await pool.rows(
            "SELECT name, copy FROM copied_objects WHERE kind = 'source' AND name = ANY($1::text[])",
            [.texts(sources)], on: .write)
        return Dictionary(try rows.map { (try $0.text("name"), try $0.text("copy")) }) { $1 }
    }

    /// Writes down bytes that are at the target now. Those that come meanwhile are written together.
    func record(_ object: CopiedObject) async throws {
        let isCurrent = try await objects(object) { [pool, attempt] objects throws(PostgresError) in
            try await Self.record(objects, in: pool, by: attempt)
        }
        guard isCurrent else { throw StoreError.inUse(path: path) }
    }

    private static func record(
        _ objects: [CopiedObject], in pool: PostgresPool, by attempt: String
    ) async throws(PostgresError) -> [Bool] {
        let blobs = objects.compactMap(\.blob)
        let notes = objects.flatMap(\.notes)
        // While this is locked, nobody goes on in this attempt's place.
        let isCurrent = "EXISTS (SELECT 1 FROM copies WHERE attempt = $1 AND ended_at IS NULL)"
        let answers = try await pool.batch([
            Statement(
                "SELECT 1 FROM copies WHERE attempt = $1 AND ended_at IS NULL FOR SHARE", [.uuid(attempt)]),
            Statement(
                """
                INSERT INTO blobs (tenant, sha256, name, bytes, refs, damaged)
                SELECT tenant, decode(hash, 'hex'), name, bytes, refs, damaged
                FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::boolean[])
                    AS new (tenant, hash, name, bytes, refs, damaged)
                WHERE \(isCurrent) ON CONFLICT (tenant, sha256, name) DO NOTHING
                """,
                [
                    .uuid(attempt), .texts(blobs.map(\.tenant)), .texts(blobs.map(\.sha256)), .texts(blobs.map(\.name)),
                    .ints(blobs.map(\.bytes)), .ints(blobs.map(\.refs)), .bools(blobs.map(\.isDamaged)),
                ]),
            Statement(
                """
                INSERT INTO copied_objects (kind, name, copy, loss)
                SELECT DISTINCT ON (kind, name) * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
                    AS new (kind, name, copy, loss)
                WHERE \(isCurrent) ON CONFLICT DO NOTHING
                """,
                [
                    .uuid(attempt), .texts(notes.map(\.kind)), .texts(notes.map(\.name)), .texts(notes.map(\.copy)),
                    .texts(notes.map { $0.loss?.rawValue }),
                ]),
        ])
        return objects.map { _ in !answers[0].isEmpty }
    }

    // MARK: Ending

    /// Rows of some tables. Large ones are counted for longer than other statements take.
    func count(_ tables: [String]) async throws -> [String: Int] {
        guard !tables.isEmpty else { return [:] }
        return try await pool.transaction(within: Self.patience) { transaction in
            try transaction.run("SET LOCAL statement_timeout = 0")
            let rows = try transaction.run(
                tables.map { "SELECT '\($0)' AS name, count(*) AS n FROM \($0)" }.joined(separator: " UNION ALL "))
            return Dictionary(try rows.map { (try $0.text("name"), try $0.int("n")) }) { $1 }
        }
    }

    private static let patience: Duration = .seconds(4 * 3600)

    /// Has the target be a store like any other.
    func end() async throws {
        let counted = ["profiles", "jobs", "attachments", "notifications"]
        try await pool.transaction(within: Self.patience) { transaction in
            let row = try transaction.run(
                "SELECT ended_at FROM copies WHERE attempt = $1 FOR UPDATE", [.uuid(attempt)]
            ).first
            guard let row else { throw StoreError.inUse(path: path) }
            if try row.optionalInt("ended_at") != nil { return }
            try transaction.run("SET LOCAL statement_timeout = 0")
            for table in counted {
                // What comes next has a key behind all of these.
                try transaction.run(
                    """
                    SELECT setval(
                        pg_get_serial_sequence('\(table)', 'key'), greatest(1, (SELECT max(key) FROM \(table))))
                    """)
            }
            try transaction.run("DELETE FROM copied_objects WHERE loss IS NULL")
            try transaction.run("UPDATE copies SET ended_at = \(PostgresClock.sql)")
        }
    }

    /// What was lost, by kind and loss.
    func losses() async throws -> [(kind: String, name: String, loss: CopiedObject.Loss)] {
        try await pool.rows(
            "SELECT kind, name, loss FROM copied_objects WHERE loss IS NOT NULL ORDER BY kind, name", on: .write
        ).map { row in
            let row = RecordRow.postgres(row)
            return (try row.text("kind"), try row.text("name"), try row.value("loss"))
        }
    }
}
