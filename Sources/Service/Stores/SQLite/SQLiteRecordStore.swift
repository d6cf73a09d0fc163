public import SatchelCore
internal import SystemPackage
internal import Platform
internal import FoundationEssentials
internal import GRDB

/// Records in an SQLite database in WAL mode with `synchronous=FULL`: one writer at a time in all processes, readers
/// beside it. Writes are committed in groups; each returns when it is durable.
///
/// In memory there is one connection, which reads and writes share.
public struct SQLiteRecordStore: RecordStore {
    /// A pool for a file, one connection in memory.
    let connections: any DatabaseWriter
    let commits: GroupCommit
    let workers: any WorkerLiveness
    let keys: KeyRing
    let clock: @Sendable () -> Instant
    /// Shared by all processes that use the store; nil where the records have to be asked what was taken back.
    let revocationCounter: RevocationCounter?
    let garbage: any GarbageCollector
    /// Rows that a page of a list looks at, at most.
    var longestSearch = 10_000

    /// - Parameters:
    ///   - connections: See ``connect(to:)`` and ``connectInMemory()``.
    ///   - workers: Tells whose claims are taken away.
    ///   - revocations: The count of revocations, which all processes share.
    ///   - garbage: Takes what a commit made superfluous.
    ///   - clock: Where time comes from; the store never lets it go back.
    init(
        _ connections: any DatabaseWriter, workers: any WorkerLiveness, revocations: RevocationCounter?, keys: KeyRing,
        garbage: any GarbageCollector, clock: @escaping @Sendable () -> Instant = Instant.wallClock
    ) {
        self.connections = connections
        revocationCounter = revocations
        commits = GroupCommit(connections, revocations: revocations, clock: clock)
        self.workers = workers
        self.keys = keys
        self.garbage = garbage
        self.clock = clock
    }

    /// Without a count of revocations the records are asked, as one of several machines does.
    public var pace: QueuePace {
        revocationCounter == nil ? QueuePace(work: .milliseconds(100), ends: .milliseconds(50)) : QueuePace()
    }

    public func now() async throws(AttachmentError) -> Instant {
        try await read { _, now in now }
    }

    /// Reads from one snapshot, at the store's time. A cancelled task can read too: it may have to clean up, and to
    /// report that as a failure of the store would be wrong.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database, Instant) throws -> Value
    ) async throws(AttachmentError) -> Value {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                connections.asyncRead { [clock] access in
                    continuation.resume(
                        with: Result {
                            let database = try access.get()
                            return try body(database, database.time(at: clock()))
                        })
                }
            }
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Writes in the next group; durable on return.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, Instant) throws -> Value
    ) async throws(AttachmentError) -> Value {
        do {
            return try await performWrite(body)
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// Like ``write(_:)``, for a write under a claim, which can be lost.
    func writeUnderClaim<Value: Sendable>(
        _ body: @escaping @Sendable (Database, Instant) throws -> Value
    ) async throws -> Value {
        do {
            return try await performWrite(body)
        } catch let error as ClaimError {
            throw error
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    /// A write, and the removal of sources that it made superfluous. If that is cut off, a sweep does it.
    private func performWrite<Value: Sendable>(
        _ body: @escaping @Sendable (Database, Instant) throws -> Value
    ) async throws -> Value {
        // The write is carried out by another task.
        let actor = AuditActor.current
        let (value, released) = try await commits.write { database, now in
            let value = try AuditActor.$current.withValue(actor) { try body(database, now) }
            return (value, try database.takeReleasedSources())
        }
        await garbage.collect(released)
        return value
    }
}

extension SQLiteRecordStore {
    /// How long a write waits for one of another process.
    static let patience: Double = 30

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "satchel.records"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(patience)
        // Values never show in errors: they may be what only the sender knows.
        configuration.publicStatementArguments = false
        configuration.prepareDatabase { database in
            // What was deleted shall not be found in the file.
            try database.execute(sql: "PRAGMA secure_delete = FAST")
            // Each write has a savepoint of its own, whose pages as they were would go to a file in the directory for temporary
            // files: of 10,000 notifications that fired at once this was nine tenths of all that was written.
            try database.execute(sql: "PRAGMA temp_store = MEMORY")
        }
        return configuration
    }

    /// Makes a database in memory, which lasts as long as the connection.
    static func connectInMemory() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(configuration: configuration)
        try queue.writeWithoutTransaction { try SQLiteSchema.upgrade($0, from: 0) }
        return queue
    }

    /// Opens the database at `path`, and makes its tables if it is empty. An older schema is upgraded after the records were
    /// copied to a file beside it.
    ///
    /// - Parameter lock: The store's lock, to upgrade while no other process has the store open.
    /// - Throws: `notAStore`, `developmentStore`, `newerSchema`, `inUse`, and what the file system says.
    static func connect(
        to path: String, lock: StoreLock, steps: [SchemaStep] = Schema.steps
    ) throws(StoreError) -> DatabasePool {
        do {
            return try connectToFile(path, lock, steps)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(error, at: path)
        }
    }

    private static func connectToFile(
        _ path: String, _ lock: StoreLock, _ steps: [SchemaStep]
    ) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
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
        func upgrade() throws {
            try pool.writeWithoutTransaction { try SQLiteSchema.upgrade($0, from: version, steps) }
        }
        guard version > 0 else {
            try upgrade()
            return pool
        }
        try lock.alone {
            let copy = FilePath(SQLiteSchema.copy(of: path, version: version))
            // Of an upgrade that was cut off.
            try Files.remove(copy)
            try pool.copy(to: copy) { _ in }
            try upgrade()
        }
        return pool
    }
}

extension AttachmentError {
    /// What an error of the database means for the attachment.
    init(storing error: any Error) {
        switch error {
        case let error as AttachmentError: self = error
        case let error as DatabaseError:
            switch error.resultCode {
            case .SQLITE_FULL: self = .storeFull
            case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: self = .storeFull
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                self = .storeUnusable(
                    reason:
                        "its database is damaged. Its operator should run 'satchel store verify' and restore a backup")
            case .SQLITE_READONLY: self = .storeUnusable(reason: "it can only be read")
            default: self = .storeFailed(reason: "the records: \(error.message ?? error.resultCode.description)")
            }
        default: self = .storeFailed(reason: "the records: \(type(of: error))")
        }
    }
}

extension StoreError {
    /// What an error of the database means for whoever opens it.
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
        // SQLite doesn't say that it found no room for the index of its log.
        let isFull = [.SQLITE_IOERR, .SQLITE_CANTOPEN].contains(error.resultCode) && Files.isFull(at: FilePath(path))
        switch error.resultCode {
        case .SQLITE_FULL: self = .full(path: path)
        case _ where isFull: self = .full(path: path)
        case .SQLITE_CORRUPT: self = .malformed(path: path, faults: [reason])
        case .SQLITE_NOTADB:
            self = Store.hasParts(beside: path) ? .malformed(path: path, faults: [reason]) : .notAStore(path: path)
        case .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM: self = .inaccessible(path: path, reason: reason)
        case .SQLITE_BUSY: self = .busy(path: path, seconds: Int(SQLiteRecordStore.patience))
        default: self = .database(path: path, reason: reason)
        }
    }
}
