import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// A machine with the real program on it, a store, keys, and files of a person: all in one directory, which can be
/// copied as it is.
///
/// In the codec's place is the fault codec in its honest mode: what it does is of no matter here, and it is quick. A
/// source `fault: echo WORD` becomes a thumbnail and a main image that hold that word.
struct Machine: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        let directory = try TemporaryDirectory(inMemory: true)
        for name in ["data", "config"] { try Disk.makeDirectory("\(directory.path)/home/\(name)") }
        self.directory = directory
    }

    /// A copy of another, as it is now.
    init(copying other: borrowing Machine) throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let copied = try Program.tool("cp").run(["-a", "\(other.path)/home", directory.path])
        try #require(copied.status == 0, "\(copied.errorText)")
        self.directory = directory
    }

    /// One whose files are these.
    init(holding tree: Tree) throws {
        let directory = try TemporaryDirectory(inMemory: true)
        try Disk.makeDirectory("\(directory.path)/home")
        try tree.write(to: "\(directory.path)/home")
        self.directory = directory
    }

    var path: String { directory.path.hasSuffix("/") ? String(directory.path.dropLast()) : directory.path }
    var home: String { "\(path)/home" }

    /// Where the store and the keys are, beneath `home`. Of the way to each a part is missing at first.
    static let store = "data/store"
    static let keys = "config/satchel/access.keys"

    func source(_ name: String, _ word: String) throws {
        try Disk.write("fault: echo \(word)\n", to: "\(home)/\(name)")
    }

    private static func environment(home: String) throws -> [String: String] {
        [
            "SATCHEL_STORE": "\(home)/\(store)", "SATCHEL_ACCESS_KEYS": "\(home)/\(keys)", "SATCHEL_PROFILES": "",
            "SATCHEL_CONFIG": "",
            "SATCHEL_CODEC": try Repository.product("fault-codec").path(percentEncoded: false),
        ]
    }

    /// Runs `satchel` to its end.
    @discardableResult
    func run(_ arguments: [String]) throws -> ProgramResult {
        let program = Program(
            try Repository.product("satchel"), environment: try Self.environment(home: home), in: URL(filePath: home))
        return try program.run(arguments)
    }

    /// Runs `satchel`, or another program of the package, under the eyes of `kernel-calls`.
    func run(
        program name: String = "satchel", followedBy mode: [String], _ arguments: [String], input: Data? = nil
    ) throws -> ProgramResult {
        let program = Program(
            try Repository.product("kernel-calls"), environment: try Self.environment(home: home),
            in: URL(filePath: home))
        return try program.run(
            mode + [try Repository.product(name).path(percentEncoded: false)] + arguments, input: input)
    }

    /// A key that may do everything in its tenant.
    func key(for tenant: TenantID) throws -> String {
        let made = try run(["key", "create", "--tenant", tenant.rawValue, "--role", "admin", "--format", "json"])
        let answer = try #require(
            try JSONSerialization.jsonObject(with: made.output) as? [String: Any], "\(made.errorText)")
        return try #require(answer["key"] as? String)
    }

    /// Starts the service on a port of its own, and waits until it listens.
    ///
    /// - Parameter mode: Of `kernel-calls`, under whose eyes it runs; nil for nobody's.
    func serve(_ arguments: [String], key: String, followedBy mode: [String]? = nil) async throws -> ServiceProcess {
        let satchel = try Repository.product("satchel")
        let program = Program(
            mode == nil ? satchel : try Repository.product("kernel-calls"),
            environment: try Self.environment(home: home), in: URL(filePath: home))
        let followed = mode.map { $0 + [satchel.path(percentEncoded: false)] } ?? []
        let options = ["serve", "--listen", "127.0.0.1:0", "--codecs", "1", "--memory", "256M"]
        return try await ServiceProcess(program.start(followed + options + arguments), key: key)
    }

    /// Kills `satchel` when it is about to make its `number`-th call that changes a file.
    func kill(at number: Int, _ arguments: [String]) throws -> KilledRun {
        let report = "\(path)/calls"
        let result = try run(followedBy: ["kill", "\(number)", report], arguments)
        let calls = try String(decoding: Disk.read(report), as: UTF8.self).split(separator: "\n")
            .compactMap { $0.split(separator: "\t").last.map(String.init) }
        try #require(
            result.status == 137 || calls.count < number || number == 0,
            "status \(result.status): \(result.errorText)")
        return KilledRun(calls: calls, wasKilled: result.status == 137, result: result)
    }

    /// Opens the store as the next process would.
    func open(exclusively: Bool = false) throws -> Store {
        try Store.open(at: "\(home)/\(Self.store)", keys: "\(home)/\(Self.keys)", exclusively: exclusively)
    }
}

/// What a run that was to be killed did.
struct KilledRun {
    /// The calls that it began, up to the one at which it died.
    var calls: [String]
    var wasKilled: Bool
    var result: ProgramResult

    /// Where it died.
    var place: String { "call \(calls.count), \(calls.last ?? "none")" }
}

/// A line of results that the program has printed: from then on a person relies on it.
struct Acknowledged: Decodable, Hashable {
    var path: String
    var state: String
    var attachmentId: String?

    /// The whole lines of an output in JSON; what came after the last line break was not said.
    static func lines(of output: Data) throws -> [Acknowledged] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let end = output.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? output.startIndex
        return try output[..<end].split(separator: UInt8(ascii: "\n")).map {
            try decoder.decode(Acknowledged.self, from: Data($0))
        }
    }
}

/// Files, without the caution that a program of the product needs.
enum Disk {
    static func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    static func write(_ text: String, to path: String) throws {
        try makeDirectory(URL(filePath: path).deletingLastPathComponent().path(percentEncoded: false))
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    static func read(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path))
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// The paths of all files beneath a directory, relative to it; none where it is missing.
    static func files(in path: String) throws -> Set<String> {
        guard exists(path) else { return [] }
        return Set(
            try FileManager.default.subpathsOfDirectory(atPath: path).filter { name in
                var isDirectory: ObjCBool = false
                let isThere = unsafe FileManager.default.fileExists(
                    atPath: "\(path)/\(name)", isDirectory: &isDirectory)
                return isThere && !isDirectory.boolValue
            })
    }
}
