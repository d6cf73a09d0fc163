internal import SatchelCore
internal import SystemPackage
internal import Platform
internal import GRDB

extension SQLiteEngine {
    /// SQLite's online backup copies all pages in one step: the copy is of one moment, and no writer waits.
    func snapshot(to path: String, at now: Instant) async throws(AttachmentError) -> StoreReferences {
        try await BlockingWork.run { () throws(AttachmentError) in
            do {
                return try self.connections.copy(to: FilePath(path)) { try $0.references(at: now) }
            } catch let error as SystemError {
                throw AttachmentError(error)
            } catch {
                throw AttachmentError(storing: error)
            }
        }
    }

    /// What the records in a copy refer to.
    static func references(at path: String) throws(StoreError) -> StoreReferences {
        try open(path, toRead: true) { database in
            guard try SQLiteSchema.version(of: database, at: path) > 0 else {
                throw StoreError.malformed(path: path, faults: ["it is empty"])
            }
            return try database.references(at: database.time(at: .wallClock()))
        }
    }

    /// Marks blobs in a copy as damaged.
    static func markDamaged(_ names: [BlobName], at path: String) throws(StoreError) {
        guard !names.isEmpty else { return }
        try open(path, toRead: false) { database in try database.sender.markDamaged(names) }
    }

    /// Whether the records need the keys that they were made with.
    static func needsKeys(at path: String) throws(StoreError) -> Bool {
        try open(path, toRead: true) { database in
            guard try SQLiteSchema.version(of: database, at: path) > 0 else { return false }
            let statement = RecordSchema.needsKeys(at: try database.time(at: .wallClock()))
            return try !database.sender.send([statement])[0].isEmpty
        }
    }

    /// Whether there is no job, no attachment, no good key, no category and no notification in the records.
    static func isEmpty(at path: String) throws(StoreError) -> Bool {
        try open(path, toRead: false) { database in
            guard try SQLiteSchema.version(of: database, at: path) > 0 else { return true }
            return try Row.fetchOne(
                database,
                sql: """
                    SELECT 1 WHERE EXISTS (SELECT 1 FROM jobs) OR EXISTS (SELECT 1 FROM attachments)
                        OR EXISTS (SELECT 1 FROM api_keys WHERE revoked_at IS NULL)
                        OR EXISTS (SELECT 1 FROM categories) OR EXISTS (SELECT 1 FROM notifications)
                    """) == nil
        }
    }

    /// What an upgrade of the records in a file would do.
    static func upgradePlan(at path: String) throws(StoreError) -> SchemaPlan {
        try open(path, toRead: true) { database in SchemaPlan(from: try SQLiteSchema.version(of: database, at: path)) }
    }

    static func open<Value>(
        _ path: String, toRead isReading: Bool, _ body: (Database) throws -> Value
    ) throws(StoreError) -> Value {
        try StoreError.at(path) {
            var configuration = Configuration()
            configuration.readonly = isReading
            configuration.publicStatementArguments = false
            let queue = try DatabaseQueue(path: isReading ? readable(path) : path, configuration: configuration)
            let value = try queue.writeWithoutTransaction { database in
                _ = try SQLiteSchema.version(of: database, at: path)
                return try body(database)
            }
            try queue.close()
            return value
        }
    }
}

extension DatabaseReader {
    /// Writes a durable copy of the database to a new file, and reads from it.
    func copy<Value>(to file: FilePath, reading body: (Database) throws -> Value) throws -> Value {
        _ = try Files.open(
            file, .readWrite, [.create, .exclusiveCreate, .noFollow], permissions: .ownerReadWrite,
            to: "make '\(file)'")
        let copy = try DatabaseQueue(path: file.string)
        try backup(to: copy)
        let value = try copy.writeWithoutTransaction { database in
            // A copy is one file: it is whole without being opened.
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            return try body(database)
        }
        try copy.close()
        try Files.sync(try Files.open(file, .readOnly, to: "sync '\(file)'"), "a copy of the records")
        return value
    }
}

extension Database {
    fileprivate var sender: SQLiteSender { SQLiteSender(database: self, statements: SQLiteStatements()) }

    fileprivate func references(at now: Instant) throws -> StoreReferences {
        StoreReferences(
            blobs: try sender.committedBlobs(), sources: try sender.neededSources(),
            keys: try sender.keysInUse(at: now))
    }
}
