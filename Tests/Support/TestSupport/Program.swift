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

    /// A tool of the system, by its name or its path; where it is missing, running it fails.
    ///
    /// The distribution's own is taken, which `install-dependencies.sh` installs, also where something else stands before it:
    /// a version manager's shim alone takes longer than most of the tools do.
    public static func tool(_ name: String) -> Program {
        if name.hasPrefix("/") { return Program(URL(filePath: name), environment: ["PATH": searchPath]) }
        let found = searchPath.split(separator: ":").map { URL(filePath: String($0)).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path(percentEncoded: false)) }
        return Program(found ?? URL(filePath: "/usr/bin/\(name)"), environment: ["PATH": searchPath])
    }

    /// Where tools look for tools: the distribution's first.
    static let searchPath = "/usr/bin:/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/sbin:/sbin")

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
        // Satchel warns of variables with its prefix that are no settings, as those of the tests are.
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SATCHEL_TEST") }
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
        do { return try wait(within: seconds) } catch is Overdue { return try wait() }
    }

    /// Waits for the end, however it comes: `Process` itself waits for whatever still holds a descriptor of its.
    ///
    /// - Throws: ``Overdue`` where that takes more than `seconds`; the program is killed then.
    public func wait(within seconds: Double = 300) throws -> ProgramResult {
        let end = ContinuousClock.now + .seconds(seconds)
        var pause: UInt32 = 1_000
        while true {
            if let result = try resultSoFar { return result }
            guard ContinuousClock.now < end else { throw try overdue(seconds) }
            usleep(pause)
            pause = min(pause * 2, 20_000)
        }
    }

    /// The same for a program that this process has to do something for meanwhile, on the threads that tests run on.
    public func end(within seconds: Double = 300) async throws -> ProgramResult {
        let end = ContinuousClock.now + .seconds(seconds)
        while true {
            if let result = try resultSoFar { return result }
            guard ContinuousClock.now < end else { throw try overdue(seconds) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Nil where it runs.
    private var resultSoFar: ProgramResult? {
        get throws {
            var ended = unsafe siginfo_t()
            let result = unsafe waitid(
                P_PID, id_t(process.processIdentifier), &ended, WEXITED | WNOHANG | WNOWAIT)
            if result == 0 {
                guard unsafe ended._sifields._sigchld.si_pid != 0 else { return nil }
                return try unsafe self.result(
                    ended._sifields._sigchld.si_status, wasKilled: ended.si_code != CLD_EXITED)
            }
            // `Process` was the first to hear of the end.
            guard !process.isRunning else { return nil }
            return try self.result(
                process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal)
        }
    }

    private func overdue(_ seconds: Double) throws -> Overdue {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        return Overdue(
            program: process.executableURL?.lastPathComponent ?? "", seconds: seconds,
            errors: String(try errorsSoFar.suffix(2000)))
    }

    private func result(_ status: Int32, wasKilled: Bool) throws -> ProgramResult {
        ProgramResult(
            status: wasKilled ? -1 : status, signal: wasKilled ? status : nil,
            output: try Data(contentsOf: scratch.appending(path: "output")),
            errors: try Data(contentsOf: scratch.appending(path: "errors")))
    }

    /// A program that did not end.
    public struct Overdue: Error {
        public var program: String
        public var seconds: Double
        /// The last that it said to standard error.
        public var errors: String
    }
}
