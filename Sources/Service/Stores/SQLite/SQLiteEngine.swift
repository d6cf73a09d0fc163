internal import SatchelCore
internal import Bytes
internal import FoundationEssentials
internal import GRDB
internal import Postgres
internal import Synchronization
internal import SystemPackage
internal import Platform

/// Records in an SQLite database in WAL mode with `synchronous=FULL`, or in memory: one writer at a time in all processes,
/// readers beside it. Writes are committed in groups; each returns when it is durable.
final class SQLiteEngine: RecordEngine {
    /// A pool for a file, one connection in memory.
    let connections: any DatabaseWriter
    let commits: GroupCommit
    let members: SQLiteNode
    let statements = SQLiteStatements()
    /// Shared by all processes that use the store; nil where the records have to be asked what was taken back.
    let revocationCounter: RevocationCounter?
    private let clock: @Sendable () -> Instant
    /// What the store gave last, as far as this process knows.
    private let latest = LatestInstant()

    /// - Parameters:
    ///   - connections: See ``connect(to:workers:lock:steps:)`` and ``connectInMemory(workers:)``.
    ///   - workers: Tells whose claims are taken away.
    ///   - revocations: The count of revocations, which all processes share.
    ///   - clock: Where time comes from; the store never lets it go back.
    init(
        _ connections: any DatabaseWriter, workers: WorkerLocks, revocations: RevocationCounter?,
        clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) {
        self.connections = connections
        members = SQLiteNode(workers: workers)
        revocationCounter = revocations
        self.clock = clock
        commits = GroupCommit(connections, revocations: revocations, statements: statements, clock: clock)
        try? connections.read { try latest.note($0.time(at: clock())) }
    }

    var node: any StoreNode { members }

    // MARK: Transactions

    /// A cancelled task can read too: it may have to clean up, and to report that as a failure of the store would be wrong.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Value
    ) async throws -> Value {
        try await findingRoom {
            try await withCheckedThrowingContinuation { continuation in
                connections.asyncRead { [clock, statements] access in
                    continuation.resume(
                        with: Result {
                            let database = try access.get()
                            return try body(
                                SQLiteSender(database: database, statements: statements), database.time(at: clock()))
                        })
                }
            }
        }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any StatementSender, Instant) throws -> Written<Value>
    ) async throws -> Value {
        try await findingRoom {
            try await commits.write { [latest] sender, now in
                latest.note(now)
                return try body(sender, now)
            }
        }
    }

    private func findingRoom<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch let error as DatabaseError {
            throw error.isOfFullDisk(at: FilePath(connections.path)) ? AttachmentError.storeFull : error
        }
    }

    func look<Value: Sendable>(
        _ statement: @escaping @Sendable (Instant?) throws -> Postgres.Statement,
        _ answer: @escaping @Sendable (RecordRows) throws -> Value
    ) async throws -> Value {
        try await read { sender, now in try answer(sender.send([statement(now)])[0]) }
    }

    func send<Value: Sendable>(
        _ statements: @escaping @Sendable (Instant?) throws -> [Postgres.Statement],
        _ answer: @escaping @Sendable ([RecordRows]) throws -> Value
    ) async throws -> Value {
        try await write { sender, now in Written(value: try answer(sender.send(statements(now)))) }
    }

    // MARK: What is told otherwise than in PostgreSQL

    var hasOneWriter: Bool { true }
    var revocations: UInt64? { revocationCounter?.value }

    /// Without a count of revocations, the engine looks as often as one of several machines does.
    var pace: QueuePace {
        revocationCounter == nil ? QueuePace(work: .milliseconds(100), ends: .milliseconds(50)) : QueuePace()
    }

    var cluster: PostgresEngine? { nil }

    var time: Instant { max(clock(), latest.time) }
    func clock(_ value: String) -> String { value }
    var machineTime: Instant? { clock() }
    func sum(of column: String) -> String { "add_bins(tallies.\(column), excluded.\(column))" }
    func committed(_ waste: RecordTransaction.Waste) {}

    func forgetEndedNodes() async throws {
        try members.workers.forgetEnded()
        _ = try await send { [members] _ in
            [Postgres.Statement("DELETE FROM run_nodes WHERE NOT \(members.lives("node"))")]
        } _: { _ in
        }
    }
    func guarding(_ blobs: any BlobStore) -> any BlobStore { blobs }
}

/// The latest of some times.
private final class LatestInstant: Sendable {
    private let value = Mutex(Instant(milliseconds: .min))

    var time: Instant { value.withLock(\.self) }

    func note(_ time: Instant) { value.withLock { $0 = max($0, time) } }
}

/// The locks of live nodes. A lock ends with its process.
final class SQLiteNode: StoreNode {
    let id = UUID().uuidString.lowercased()
    let workers: WorkerLocks
    private let runs = Mutex<Set<RunID>>([])

    init(workers: WorkerLocks) {
        self.workers = workers
    }

    func hasAnnounced(_ run: RunID) -> Bool { runs.withLock { $0.contains(run) } }
    func announced(_ run: RunID) { runs.withLock { _ = $0.insert(run) } }

    func live() async throws(AttachmentError) { try workers.register(WorkerID(rawValue: id)) }

    func lives(_ id: String) -> String { "node_lives(\(id))" }
}

extension SQLiteEngine {
    /// How long a write waits for one of another process.
    static let patience: Double = 30

    private static func configuration(_ workers: WorkerLocks) -> Configuration {
        var configuration = Configuration()
        configuration.label = "satchel.records"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(patience)
        // Values never show in errors: they may be what only the sender knows.
        configuration.publicStatementArguments = false
        let isAlive = DatabaseFunction("node_lives", argumentCount: 1) { values in
            String.fromDatabaseValue(values[0]).map { workers.lives(WorkerID(rawValue: $0)) } ?? false
        }
        configuration.prepareDatabase { database in
            // What was deleted shall not be found in the file.
            try database.execute(sql: "PRAGMA secure_delete = FAST")
            // Each write has a savepoint of its own, whose pages as they were would go to a file in the directory for temporary
            // files: of 10,000 notifications that fired at once this was nine tenths of all that was written.
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
            for function in SQLiteStatement.functions + [isAlive] { database.add(function: function) }
        }
        return configuration
    }

    /// Makes a database in memory, which lasts as long as the connection.
    static func connectInMemory(workers: WorkerLocks) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration(workers))
        try queue.writeWithoutTransaction { try SQLiteSchema.upgrade($0, from: 0) }
        return queue
    }

    /// Opens the database at `path`, and makes its tables if it is empty. An older schema is upgraded after the records were
    /// copied to a file beside it.
    ///
    /// - Parameter lock: The store's lock, to upgrade while no other process has the store open.
    /// - Throws: `notAStore`, `developmentStore`, `newerSchema`, `inUse`, and what the file system says.
    static func connect(
        to path: String, workers: WorkerLocks, lock: StoreLock, steps: [SchemaStep] = Schema.steps
    ) throws(StoreError) -> DatabasePool {
        try StoreError.at(path) { try connectToFile(path, workers, lock, steps) }
    }

    /// What SQLite opens to read the database at `path`. If it can't create a log, and there is none, it must be told that
    /// nothing changes the file.
    static func readable(_ path: String) -> String {
        let log = try? Files.facts(of: FilePath(path + "-wal"))
        if log != nil || Files.isWritable(FilePath(path).removingLastComponent()) { return path }
        let escaped = ["%": "%25", "?": "%3F", "#": "%23"]
        return "file:\(path.map { escaped[String($0)] ?? String($0) }.joined())?immutable=1"
    }

    private static func connectToFile(
        _ path: String, _ workers: WorkerLocks, _ lock: StoreLock, _ steps: [SchemaStep]
    ) throws -> DatabasePool {
        var configuration = Self.configuration(workers)
        configuration.readonly = lock.isReadOnly
        let pool = try DatabasePool(
            path: lock.isReadOnly ? readable(path) : path, configuration: configuration)
        let version = try pool.writeWithoutTransaction { database in
            // The pool has just set NORMAL, which may lose an acknowledged commit when the power fails.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // What many write together changes more than the 500 pages of SQLite's own choice, and those over it are written and read
            // again while it goes on: 8 MB, for as long as a transaction needs them (of a multiple of 256 pages SQLite
            // understands that none may be written early). Pages that change again and again are
            // copied out of the log less often where it may grow to 16 MB, not 4. Of 10,000 firings at once each wrote a third less.
            try database.execute(sql: "PRAGMA cache_spill = 2000; PRAGMA wal_autocheckpoint = 4000")
            return try SQLiteSchema.version(of: database, at: path, steps)
        }
        guard version < steps.last?.version ?? 0 else { return pool }
        if lock.isReadOnly { throw StoreError.olderSchema(path: path) }
        func upgrade() throws {
            try pool.writeWithoutTransaction { try SQLiteSchema.upgrade($0, from: version, steps) }
        }
        guard version > 0 else {
            try upgrade()
            return pool
        }
        try lock.alone {
            let copy = FilePath(SQLiteSchema.copy(of: path, version: version))
            // An upgrade that was cut off left it.
            try Files.remove(copy)
            try pool.copy(to: copy) { _ in }
            try upgrade()
        }
        return pool
    }
}

extension StoreError {
    /// Does something with what is at a path, whose errors tell so.
    static func at<Value>(_ path: String, _ body: () throws -> Value) throws(StoreError) -> Value {
        do { return try body() } catch { throw error as? StoreError ?? StoreError(error, at: path) }
    }

    /// What an error of the database means for the command or service that opens it.
    init(_ error: any Error, at path: String) {
        if let error = error as? SystemError {
            self = error.isOutOfSpace ? .full(path: path) : .inaccessible(path: path, reason: error.reason)
            return
        }
        guard let error = error as? DatabaseError else {
            self = .database(path: path, reason: "\(error)")
            return
        }
        let reason = error.message ?? error.resultCode.description
        switch error.resultCode {
        case _ where error.isOfFullDisk(at: FilePath(path)):
            self = .full(path: FilePath(path).removingLastComponent().string)
        case .SQLITE_CORRUPT: self = .malformed(path: path, faults: [reason])
        case .SQLITE_NOTADB:
            self = Store.hasParts(beside: path) ? .malformed(path: path, faults: [reason]) : .notAStore(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM: self = .inaccessible(path: path, reason: reason)
        case .SQLITE_BUSY: self = .busy(path: path, seconds: Int(SQLiteEngine.patience))
        default: self = .database(path: path, reason: reason)
        }
    }
}

extension DatabaseError {
    /// Whether it is because the disk is full. SQLite calls some of these failures input or output errors.
    fileprivate func isOfFullDisk(at path: FilePath) -> Bool {
        resultCode == .SQLITE_FULL || [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(resultCode) && Files.isFull(at: path)
    }
}
