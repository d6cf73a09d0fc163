import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// A call that changed files, or said something; see `Tests/Support/kernel-calls` for the form in which it was written down.
struct Call: Sendable {
    enum Operation: Sendable {
        case create(file: UInt64, in: UInt64, name: String)
        case createUnnamed(file: UInt64)
        case makeDirectory(UInt64, in: UInt64, name: String)
        case link(UInt64, in: UInt64, name: String)
        case rename(from: UInt64, name: String, to: UInt64, newName: String)
        case unlink(in: UInt64, name: String)
        case truncate(file: UInt64, length: Int)
        case write(file: UInt64, offset: Int, bytes: Data)
        case sync(UInt64)
        case output(Data)
        /// Through a socket, to whoever asks or is asked.
        case sent(Data)
        case exit(Int32)
    }

    /// The calls before this one had returned when it began; a sync covers those and no others.
    var began: Int
    var operation: Operation
}

/// What commands did to a machine's files, call by call.
struct Recording: Sendable {
    /// The files and directories that were there before, all of them durable, by their paths beneath the root.
    let start: [String: Original]
    private(set) var calls: [Call] = []
    private(set) var commands: [Command] = []

    struct Original: Sendable {
        var inode: UInt64
        /// Nil for a directory.
        var content: Data?
    }

    struct Command: Sendable {
        var arguments: [String]
        /// The indices of its calls; the last is its exit.
        var calls: Range<Int>
        var output: Data
    }

    /// Begins with the files of a machine as they are.
    init(of machine: borrowing Machine) throws {
        var start: [String: Original] = [:]
        for path in [""] + (try FileManager.default.subpathsOfDirectory(atPath: machine.home)) {
            let whole = path.isEmpty ? machine.home : "\(machine.home)/\(path)"
            let attributes = try FileManager.default.attributesOfItem(atPath: whole)
            let inode = try #require(attributes[.systemFileNumber] as? UInt64)
            let isFile = attributes[.type] as? FileAttributeType == .typeRegular
            start[path] = Original(inode: inode, content: isFile ? try Disk.read(whole) : nil)
        }
        self.start = start
    }

    /// Runs a command on the machine and writes down what it does.
    ///
    /// - Returns: What it printed.
    @discardableResult
    mutating func run(
        program name: String = "satchel", _ arguments: [String], input: Data? = nil, on machine: borrowing Machine
    ) throws -> ProgramResult {
        let result = try machine.run(program: name, followedBy: Self.mode(machine), arguments, input: input)
        try add(arguments, result, on: machine)
        return result
    }

    /// The same with a service, which is told to end when `use` has.
    mutating func serve(
        _ arguments: [String], key: String, on machine: borrowing Machine,
        _ use: (ServiceProcess) async throws -> Void
    ) async throws {
        let service = try await machine.serve(arguments, key: key, followedBy: Self.mode(machine))
        try await use(service)
        try add(["serve"] + arguments, try await service.stop(), on: machine)
    }

    /// How `kernel-calls` is told to write down what a program does.
    private static func mode(_ machine: borrowing Machine) -> [String] {
        ["record", machine.home, "\(machine.path)/log", "\(machine.path)/data"]
    }

    private mutating func add(_ arguments: [String], _ result: ProgramResult, on machine: borrowing Machine) throws {
        try #require(result.status == 0, "\(arguments): \(result.errorText)")
        let bytes = try Disk.read("\(machine.path)/data")
        let first = calls.count
        for line in try String(decoding: Disk.read("\(machine.path)/log"), as: UTF8.self).split(separator: "\n") {
            calls.append(try Self.call(line.split(separator: "\t").map(String.init), data: bytes, after: first))
        }
        commands.append(Command(arguments: arguments, calls: first..<calls.count, output: result.output))
    }

    private static func call(_ fields: [String], data: Data, after first: Int) throws -> Call {
        func number(_ index: Int) throws -> Int { try #require(fields.count > index ? Int(fields[index]) : nil) }
        func inode(_ index: Int) throws -> UInt64 { UInt64(try number(index)) }
        func bytes(_ length: Int, at position: Int) -> Data { data[position..<position + length] }
        let operation: Call.Operation =
            switch fields[1] {
            case "create": .create(file: try inode(2), in: try inode(3), name: fields[4])
            case "unnamed": .createUnnamed(file: try inode(2))
            case "mkdir": .makeDirectory(try inode(2), in: try inode(3), name: fields[4])
            case "link": .link(try inode(2), in: try inode(3), name: fields[4])
            case "rename": .rename(from: try inode(2), name: fields[3], to: try inode(4), newName: fields[5])
            case "unlink": .unlink(in: try inode(2), name: fields[3])
            // These disks have no use for the 16 MB of the reserve.
            case "truncate": .truncate(file: try inode(2), length: try number(3) == 16 << 20 ? 0 : try number(3))
            case "write":
                .write(file: try inode(2), offset: try number(3), bytes: bytes(try number(4), at: try number(5)))
            case "sync": .sync(try inode(2))
            case "output": .output(bytes(try number(2), at: try number(3)))
            case "sent": .sent(bytes(try number(2), at: try number(3)))
            default: .exit(Int32(try number(2)))
            }
        return Call(began: first + (try number(0)), operation: operation)
    }

    /// What went out as the head of a message by HTTP, by the call that sent it.
    var heads: [(call: Int, text: String)] {
        calls.indices.compactMap { index in
            guard case .sent(let bytes) = calls[index].operation, let end = bytes.firstRange(of: Data("\r\n\r\n".utf8))
            else { return nil }
            return (index, String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
        }
    }

    /// The indices of all syncs.
    var syncs: [Int] {
        calls.indices.filter { if case .sync = calls[$0].operation { true } else { false } }
    }
}
