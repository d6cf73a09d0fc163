internal import SatchelCore
public import Bytes
internal import Postgres
internal import SystemPackage
internal import Platform

/// A database that keeps a store's records, and how a node talks to it.
public struct StoreDatabase: Sendable, CustomStringConvertible {
    let parameters: PostgresParameters
    var writers: Int
    var readers: Int
    /// Whether nodes wake each other where that is found to work; else they look more often.
    public var notifies = true
    /// Without a heartbeat for so long a node is dead, and what it had is begun anew elsewhere.
    public var deadAfter: Duration = .seconds(10)
    /// How long bytes outlive their last record, so that a failover that lost a deletion finds them.
    public var garbageDelay: Duration = .seconds(60)
    /// Where other nodes reach this one, without a slash at the end; empty where none wants to, as nobody follows what is done
    /// there; nil where somebody may, and it doesn't say.
    public var advertises: String?

    /// - Parameters:
    ///   - url: As libpq has it: `postgres://user@host/database`.
    ///   - application: By which the database's administrator knows the node.
    ///   - isPooled: Whether a pooler in transaction mode is between.
    ///   - writers: Connections of this node for writes.
    ///   - readers: Connections of this node for reads.
    /// - Throws: `unusableDatabase`, without the URL: it may hold a password.
    public init(
        _ url: String, application: String = "satchel", isPooled: Bool = false, writers: Int = 4, readers: Int = 2
    ) throws(StoreError) {
        do throws(PostgresError) {
            parameters = try PostgresParameters(url, application: application, isPooled: isPooled)
        } catch {
            throw .unusableDatabase(reason: error.description)
        }
        self.writers = writers
        self.readers = readers
    }

    /// A URL without a password.
    public var description: String { parameters.description }

    func makePool() -> PostgresPool { PostgresPool(parameters, writers: writers, readers: readers) }

    /// Does something with connections that are closed afterwards.
    func withPool<Value, Failure: Error>(
        _ body: (PostgresPool) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let pool = makePool()
        do throws(Failure) {
            let value = try await body(pool)
            await pool.close()
            return value
        } catch {
            await pool.close()
            throw error
        }
    }
}

extension Store {
    /// Opens a store whose records are in PostgreSQL, as one of its nodes.
    ///
    /// - Parameters:
    ///   - database: With this version's schema: ``migrate(_:)`` makes it.
    ///   - keys: The file with the keys of tokens, which all nodes share.
    ///   - scratch: A directory for what is being received and made, on this machine; made on first use, and worth nothing
    ///     afterwards.
    ///   - bytes: What keeps blobs and sources for all nodes.
    public static func open(
        _ database: StoreDatabase, keys: String, scratch: String, bytes: ByteStores
    ) async throws(StoreError) -> Store {
        let pool = database.makePool()
        do throws(StoreError) {
            try await PostgresSchema.check(pool)
            try await CopyTarget.refuseUnfinished(in: pool)
            do throws(SystemError) {
                for name in ["spool", "staging"] { try Files.makeDirectories(FilePath(scratch).appending(name)) }
            } catch {
                throw StoreError(error, at: scratch)
            }
            let statement = RecordSchema.needsKeys(at: .wallClock())
            var needsKeys = false
            do throws(PostgresError) {
                if KeyFile(path: keys).version == nil {
                    needsKeys = try await !pool.rows(statement.sql, statement.values).isEmpty
                }
            } catch {
                throw StoreError(error)
            }
            return try Store(scratch: scratch, keys: keys, bytes: bytes, needsKeys: needsKeys) {
                RecordStore(
                    pool, keys: $0, garbage: $1, garbageDelay: database.garbageDelay, notifies: database.notifies,
                    timing: PostgresNode.Timing(deadAfter: database.deadAfter, steadiness: database.deadAfter),
                    advertising: database.advertises)
            }
        } catch {
            await pool.close()
            throw error
        }
    }

    /// Makes the schema, or upgrades it to this version's. Nodes of the version before go on beside it, unless a step says
    /// that they can't.
    public static func migrate(_ database: StoreDatabase) async throws(StoreError) {
        try await PostgresSchema.migrate(database.parameters)
    }

    /// What ``migrate(_:)`` would do; changes nothing.
    public static func upgradePlan(of database: StoreDatabase) async throws(StoreError) -> SchemaPlan {
        try await database.withPool { pool throws(StoreError) in
            SchemaPlan(from: try await PostgresSchema.version(in: pool).version)
        }
    }
}
