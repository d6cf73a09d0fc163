public import Foundation
import Glibc

/// What a program that was run to its end said.
public struct ProgramResult: Sendable {
    public var status: Int32
    /// The number of the signal that ended it; nil where it exited.
    public var signal: Int32?
    public var output: Data
    public var errors: Data

    public var outputText: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errors, as: UTF8.self) }
}

/// A program of this package or of the system, run as a person would run it.
public struct Program: Sendable {
    public var executable: URL
    public var environment: [String: String]
    public var directory: URL?

    public init(_ executable: URL, environment: [String: String] = [:], in directory: URL? = nil) {
        self.executable = executable
        self.environment = environment
        self.directory = directory
    }

    /// A tool of the system; where it is missing, running it fails.
    public static func tool(_ name: String) -> Program {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let found = places.map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
        return Program(found ?? URL(filePath: "/usr/bin/\(name)"))
    }

    /// Starts the program; see ``RunningProgram/wait()``.
    public func start(_ arguments: [String], input: Data? = nil) throws -> RunningProgram {
        try RunningProgram(self, arguments, input: input)
    }

    /// Runs the program to its end.
    @discardableResult
    public func run(_ arguments: [String], input: Data? = nil) throws -> ProgramResult {
        try start(arguments, input: input).wait()
    }
}

/// A program that was started. Its output goes to files, so that it never waits for its reader.
public final class RunningProgram {
    public let process = Process()
    private let scratch: URL

    fileprivate init(_ program: Program, _ arguments: [String], input: Data?) throws {
        scratch = FileManager.default.temporaryDirectory.appending(path: "satchel-run-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        process.executableURL = program.executable
        process.arguments = arguments
        if let directory = program.directory { process.currentDirectoryURL = directory }
        var environment = ProcessInfo.processInfo.environment
        for (name, value) in program.environment { environment[name] = value }
        process.environment = environment
        process.standardOutput = try file("output")
        process.standardError = try file("errors")
        if let input {
            try input.write(to: scratch.appending(path: "input"))
            process.standardInput = try FileHandle(forReadingFrom: scratch.appending(path: "input"))
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
    }

    deinit {
        // A thread of the tests may block the signals that ask, and what it starts inherits that.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: scratch)
    }

    private func file(_ name: String) throws -> FileHandle {
        let url = scratch.appending(path: name)
        try Data().write(to: url)
        return try FileHandle(forWritingTo: url)
    }

    /// What it has written to standard output by now.
    public var outputSoFar: String {
        get throws {
            String(decoding: try Data(contentsOf: scratch.appending(path: "output")), as: UTF8.self)
        }
    }

    /// What it has written to standard error by now.
    public var errorsSoFar: String {
        get throws {
            String(decoding: try Data(contentsOf: scratch.appending(path: "errors")), as: UTF8.self)
        }
    }

    /// Waits for the end, which comes by force where it hasn't come after `seconds`.
    public func wait(atMost seconds: Double) throws -> ProgramResult {
        let end = Date(timeIntervalSinceNow: seconds)
        while process.isRunning, Date() < end { Thread.sleep(forTimeInterval: 0.02) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        return try wait()
    }

    /// Waits for the end.
    public func wait() throws -> ProgramResult {
        process.waitUntilExit()
        let wasKilled = process.terminationReason == .uncaughtSignal
        return ProgramResult(
            status: wasKilled ? -1 : process.terminationStatus, signal: wasKilled ? process.terminationStatus : nil,
            output: try Data(contentsOf: scratch.appending(path: "output")),
            errors: try Data(contentsOf: scratch.appending(path: "errors")))
    }
}
