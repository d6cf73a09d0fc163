import Foundation
import Bytes
import PostgresTestSupport
import S3
import Stores
import TestSupport

/// PostgreSQL and a bucket in the place of a store's directory, for all tests of this target that ask for no other: with
/// `SATCHEL_TEST_STORE=cluster` in the environment. Time is the server's there.
enum SharedEngines {
    static let areUsed = ProcessInfo.processInfo.environment["SATCHEL_TEST_STORE"] == "cluster"

    /// A database with the schema, which is copied for each.
    private static let template = Task {
        let server = try PostgresServer.shared()
        let name = try server.makeDatabase()
        _ = try await Store.migrate(StoreDatabase(server.url(name)))
        return name
    }

    /// A store of its own, as one of its nodes.
    static func open(in home: borrowing TemporaryDirectory) async throws -> Store {
        let (keys, scratch) = (home.path + "/keys", home.path + "/store")
        let template = try await template.value
        let (url, gateway) = try await onThread {
            let server = try PostgresServer.shared()
            return (server.url(try server.makeDatabase(like: template)), try S3Gateway.shared())
        }
        let client = try S3Client(
            S3Configuration(
                "s3://\(S3Gateway.bucket)/\(UUID().uuidString.lowercased())", endpoint: gateway.endpoint,
                usesPathStyle: true),
            credentials: S3Credentials(accessKey: gateway.accessKey, secretKey: gateway.secretKey))
        var database = try StoreDatabase(url)
        database.garbageDelay = .zero
        return try await Store.open(
            database, keys: keys, scratch: scratch,
            bytes: ByteStores(
                blobs: S3BlobStore(client), sources: S3SourceStore(client, scratch: scratch + "/spool")))
    }
}
