public import Foundation
internal import PostgresTestSupport
public import TestSupport
import Testing

/// What keeps the store of a service.
public enum StoreKind: String, CaseIterable, Sendable {
    /// A directory, for processes of one machine.
    case directory
    /// PostgreSQL and a bucket, for nodes on any number of machines.
    case cluster

    /// Those that this run tries.
    public static var allCases: [StoreKind] { TestSelection.cases([.directory, .cluster]) { $0 == .cluster } }
}

/// Where a service is tried: a directory with keys and files of its own, a store, and the real program.
public struct ServiceHarness: ~Copyable, Sendable {
    public let home: TemporaryDirectory
    public let satchel: Program
    public let kind: StoreKind

    public init(_ kind: StoreKind = .directory) throws {
        let executable = try Repository.product("satchel")
        let cluster = try kind == .cluster ? Self.cluster() : [:]
        let home = try TemporaryDirectory(inMemory: true)
        let environment = [
            "SATCHEL_STORE": home.path + "/store", "SATCHEL_ACCESS_KEYS": home.path + "/keys/access.keys",
            "SATCHEL_PROFILES": "", "SATCHEL_CONFIG": "", "HOME": home.path,
            "SATCHEL_SPOOL": kind == .cluster ? home.path + "/store" : "",
        ]
        let satchel = Program(executable, environment: environment.merging(cluster) { $1 }, in: home.url)
        if kind == .cluster { try Self.migrate(satchel) }
        self.home = home
        self.satchel = satchel
        self.kind = kind
    }

    private static func migrate(_ satchel: Program) throws {
        let made = try satchel.run(["store", "migrate"])
        guard made.status == 0 else { throw Unmade(errors: made.errorText) }
    }

    /// The database has no schema.
    public struct Unmade: Error, CustomStringConvertible {
        var errors: String
        public var description: String { errors }
    }

    /// A database and a part of a bucket that nobody else has, on the servers of this process.
    public static func cluster() throws -> [String: String] {
        let server = try PostgresServer.shared()
        let gateway = try S3Gateway.shared()
        return [
            "SATCHEL_STORE": server.url(try server.makeDatabase()),
            "SATCHEL_BLOBS": "s3://\(S3Gateway.bucket)/\(UUID().uuidString.lowercased())",
            "SATCHEL_S3_ENDPOINT": gateway.endpoint, "SATCHEL_S3_PATH_STYLE": "true",
            "AWS_ACCESS_KEY_ID": gateway.accessKey, "AWS_SECRET_ACCESS_KEY": gateway.secretKey,
        ]
    }

    /// Where a store in a directory lies, and where a node of another receives and makes.
    public var store: String { home.path + "/store" }

    /// Runs a command beside the service.
    @discardableResult
    public func run(_ arguments: String...) async throws -> ProgramResult {
        try await satchel.start(arguments).end()
    }

    /// A file of the harness's own.
    @discardableResult
    public func file(_ path: String, _ contents: Data) throws -> URL {
        let url = home.url.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: url)
        return url
    }

    public func file(_ path: String, text: String) throws -> URL {
        try file(path, Data(text.utf8))
    }

    /// Starts the service, on a port of its own where none is given, and waits until it listens.
    ///
    /// - Parameter key: Whose key requests bear; nil: the development key that the service makes.
    public func serve(_ arguments: String..., key: String? = nil) async throws -> ServiceProcess {
        let listens = arguments.contains("--listen") ? [] : ["--listen", "127.0.0.1:0"]
        return try await ServiceProcess(satchel.start(["serve"] + listens + arguments), key: key)
    }

    /// A lasting key, by the command.
    public func makeKey(_ arguments: String...) async throws -> String {
        let result = try await satchel.start(["key", "create", "--format", "json"] + arguments).end()
        let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        return try #require(object["key"] as? String)
    }
}
