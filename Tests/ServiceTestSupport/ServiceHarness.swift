public import Foundation
public import TestSupport
import Testing

/// Where a service is tried: a directory with a store, keys and files of its own, and the real program.
public struct ServiceHarness: ~Copyable, Sendable {
    public let home: TemporaryDirectory
    public let satchel: Program

    public init() throws {
        let executable = try Repository.product("satchel")
        home = try TemporaryDirectory(inMemory: true)
        satchel = Program(
            executable,
            environment: [
                "SATCHEL_STORE": home.path + "/store", "SATCHEL_ACCESS_KEYS": home.path + "/keys/access.keys",
                "SATCHEL_PROFILES": "", "SATCHEL_CONFIG": "", "HOME": home.path,
            ],
            in: home.url)
    }

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
