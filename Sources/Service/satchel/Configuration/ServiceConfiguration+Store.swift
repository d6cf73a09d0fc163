import SatchelCore
internal import Bytes
import Foundation
import S3
import Stores

/// Opens the store that the options name.
///
/// - Parameters:
///   - create: Whether to create a missing store in a directory.
///   - freesSpace: Whether the command may use the store's reserve on a full disk.
/// - Throws: ``CommandFailure`` if the store can't be opened.
func openStore(
    _ options: StoreOptions, create: Bool = false, exclusively: Bool = false, freesSpace: Bool = false
) async throws -> Store {
    if options.location == .memory, !create {
        throw CommandFailure(
            "a store in memory is discarded when its process exits, so this command would find nothing in it.",
            status: .usage)
    }
    var configuration = StoreOptions.configured
    if let store = options.store { configuration.store = store }
    return try await configuration.openStore(create: create, exclusively: exclusively, freesSpace: freesSpace)
}

extension ServiceConfiguration {
    /// Opens the store that the settings name.
    ///
    /// A database must have its schema, which ``migrateStore()`` creates.
    ///
    /// - Parameter serves: Whether other nodes may send requests to this one.
    /// - Throws: ``CommandFailure`` or ``StoreError`` if the store can't be opened.
    func openStore(
        create: Bool = true, exclusively: Bool = false, freesSpace: Bool = false, serves: Bool = false
    ) async throws -> Store {
        switch StoreLocation(store) {
        case .memory: return try Store(in: StoreMemory())
        case .directory(let path):
            let store = try Store.open(
                at: path, keys: accessKeys, create: create, exclusively: exclusively, freesSpace: freesSpace)
            store.keepReserve()
            return store
        case .database(let url):
            let bytes = try await openBucket()
            var database = try database(url)
            let host = ProcessInfo.processInfo.hostName
            database.advertises =
                serves ? self.database.advertises?.replacingOccurrences(of: "{host}", with: host) : ""
            return try await Store.open(database, keys: accessKeys, scratch: spool, bytes: bytes)
        }
    }

    /// Upgrades the records to this version's schema, and creates the schema of a new store.
    func migrateStore() async throws {
        guard case .database(let url) = StoreLocation(store) else {
            _ = try await openStore(create: false)
            return
        }
        try await Store.migrate(try database(url))
    }

    /// What ``migrateStore()`` would do.
    func upgradePlan() async throws -> SchemaPlan? {
        switch StoreLocation(store) {
        case .memory: nil
        case .directory(let path): try Store.upgradePlan(at: path)
        case .database(let url): try await Store.upgradePlan(of: try database(url))
        }
    }

    func database(_ url: String) throws(StoreError) -> StoreDatabase {
        var node = try StoreDatabase(
            url, application: "satchel \(Version.current) on \(ProcessInfo.processInfo.hostName)",
            isPooled: database.isPooled, writers: database.connections, readers: max(1, database.connections / 2))
        node.notifies = database.wakeups == .auto
        node.deadAfter = database.deadAfter
        node.garbageDelay = database.garbageDelay
        return node
    }

    /// Opens the bucket and lists it once, so that problems are reported now.
    func openBucket() async throws -> ByteStores {
        guard let blobs else {
            throw CommandFailure(
                "a store in PostgreSQL needs a bucket. Set SATCHEL_BLOBS, or 'blobs' in the settings file, to s3://bucket/prefix.",
                status: .usage)
        }
        do throws(S3Error) {
            let client = try S3Client(
                bucket.configuration(of: blobs, ProcessInfo.processInfo.environment))
            _ = try await client.list(client.configuration.prefix, limit: 1)
            return ByteStores(
                blobs: S3BlobStore(client), sources: S3SourceStore(client, scratch: spool + "/spool"))
        } catch {
            throw CommandFailure(error, of: "the bucket '\(blobs)'")
        }
    }
}
