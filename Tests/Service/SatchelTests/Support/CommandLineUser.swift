import Foundation
import TestSupport
import Testing

/// A person at a terminal: the real program with a store, keys and a directory of its own.
struct CommandLineUser: ~Copyable {
    let home: TemporaryDirectory
    let satchel: Program

    init() throws {
        let executable = try Repository.product("satchel")
        home = try TemporaryDirectory()
        satchel = Program(
            executable,
            environment: [
                "SATCHEL_STORE": home.url.appending(path: "store").path(percentEncoded: false),
                "SATCHEL_ACCESS_KEYS": home.url.appending(path: "keys/access.keys").path(percentEncoded: false),
                "SATCHEL_PROFILES": "",
            ],
            in: home.url)
    }

    var store: URL { home.url.appending(path: "store") }

    @discardableResult
    func run(_ arguments: String..., input: Data? = nil) throws -> ProgramResult {
        try satchel.run(arguments, input: input)
    }

    /// Runs the program where the kernel refuses what not every file system has.
    ///
    /// - Parameter refused: What that is, as `refuse-calls` names it, with commas between; empty for nothing.
    func run(_ arguments: [String], refusing refused: String) throws -> ProgramResult {
        guard !refused.isEmpty else { return try satchel.run(arguments) }
        let refusing = Program(
            try Repository.product("refuse-calls"), environment: satchel.environment, in: home.url)
        return try refusing.run([refused, satchel.executable.path(percentEncoded: false)] + arguments)
    }

    /// A file of the user's own.
    @discardableResult
    func file(_ path: String, _ contents: Data) throws -> URL {
        let url = home.url.appending(path: path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try contents.write(to: url)
        return url
    }

    /// A copy of a sample file.
    @discardableResult
    func sample(_ sample: String, as path: String) throws -> URL {
        try file(path, Data(contentsOf: Repository.media.appending(path: sample)))
    }

    /// The lines of a batch as dictionaries.
    func batch(_ arguments: String...) throws -> (status: Int32, lines: [[String: Any]], errors: String) {
        let result = try satchel.run(["batch", "--format", "jsonl"] + arguments)
        let lines = try result.output.split(separator: UInt8(ascii: "\n")).map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
        return (result.status, lines, result.errorText)
    }
}
