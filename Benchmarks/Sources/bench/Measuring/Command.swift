import Foundation
import Glibc

/// A program with its arguments, as it is measured.
struct Command: Sendable {
    var executable: String
    var arguments: [String]
    /// Beside the environment of this process, over which it wins.
    var environment: [String: String] = [:]
    /// Processors that it may run on; nil for all.
    var cores: [Int]?
    /// Where its standard output goes; nil for nowhere.
    var output: URL?
    /// With which it has done what it was to do.
    var acceptedStatuses: Set<Int32> = [0]

    init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }

    func on(_ cores: [Int]) -> Command {
        var command = self
        command.cores = cores
        return command
    }

    /// What is executed: the program itself, or `taskset`, which becomes it.
    var line: [String] {
        guard let cores else { return [executable] + arguments }
        return ["taskset", "-c", cores.map(String.init).joined(separator: ","), executable] + arguments
    }

    /// Runs to the end and says what it took.
    ///
    /// - Parameter watchingMemory: Looks at the peak of the program's own memory while it runs, which costs a little
    ///   processor time in this process.
    /// - Throws: ``CommandFailure`` unless it exits with a status that is accepted.
    @discardableResult
    func run(watchingMemory: Bool = false) throws -> Usage {
        try RunningCommand(self).wait(watchingMemory: watchingMemory)
    }
}

extension Command {
    /// Starts it and leaves it running; what it says is lost, but for its standard output.
    func start() throws -> pid_t {
        try RunningCommand.spawn(self, errors: "/dev/null")
    }
}

/// What one command took, all its descendants included that were waited for.
struct Usage: Sendable {
    /// Seconds from start to end.
    var wall: Double
    /// Seconds of processors, of user and system.
    var cpu: Double
    /// Bytes: the peak of the largest process among them.
    var largestProcess: Int64
    /// Bytes: the peak of the command's first process alone; nil where it wasn't watched.
    var ownPeak: Int64?

    /// One after the other.
    static func + (first: Usage, second: Usage) -> Usage {
        Usage(
            wall: first.wall + second.wall, cpu: first.cpu + second.cpu,
            largestProcess: max(first.largestProcess, second.largestProcess),
            ownPeak: [first.ownPeak, second.ownPeak].compactMap(\.self).max())
    }

    static let none = Usage(wall: 0, cpu: 0, largestProcess: 0)
}

/// A command didn't do what is measured.
struct CommandFailure: Error, CustomStringConvertible {
    var command: [String]
    var reason: String

    var description: String { "\(command.joined(separator: " ")): \(reason)" }
}

/// A command that was started, until it is waited for.
struct RunningCommand: ~Copyable {
    private let command: Command
    private let process: pid_t
    private let start = ContinuousClock.now
    private let errors: URL
    /// Seconds.
    private static let patience = 1800.0

    init(_ command: Command) throws {
        self.command = command
        errors = FileManager.default.temporaryDirectory.appending(path: "bench-\(UUID().uuidString)")
        process = try Self.spawn(command, errors: errors.path(percentEncoded: false))
    }

    fileprivate static func spawn(_ command: Command, errors: String) throws -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let output = command.output?.path(percentEncoded: false) ?? "/dev/null"
        let writing = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, output, writing, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, errors, writing, 0o600)

        let environment = ProcessInfo.processInfo.environment.merging(command.environment) { $1 }
        var arguments = unsafe command.line.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer {
            unsafe (arguments + variables).forEach { unsafe free($0) }
        }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, command.line[0], &actions, nil, &arguments, &variables)
        guard code == 0 else { throw CommandFailure(command: command.line, reason: reason(code)) }
        return process
    }

    private static func reason(_ code: Int32) -> String {
        unsafe String(cString: strerror(code))
    }

    /// - Throws: ``CommandFailure`` unless it exits with a status that is accepted.
    consuming func wait(watchingMemory: Bool = false) throws -> Usage {
        defer { try? FileManager.default.removeItem(at: errors) }
        // Whoever hangs is to cost its own figure and not those of the parts that follow.
        let alarm = DispatchWorkItem { [process] in kill(process, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: alarm)
        defer { alarm.cancel() }
        var status: Int32 = 0
        var resources = rusage()
        var peak: Int64?
        if watchingMemory {
            while unsafe wait4(process, &status, WNOHANG, &resources) == 0 {
                // The last word of the kernel before the process ends; the peak only grows.
                peak = Self.peakMemory(of: process) ?? peak
                usleep(2_000)
            }
        } else {
            while unsafe wait4(process, &status, 0, &resources) < 0 && errno == EINTR {}
        }
        let wall = start.duration(to: .now)
        let hasExited = status & 0x7F == 0
        guard hasExited, command.acceptedStatuses.contains((status >> 8) & 0xFF) else {
            let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
            let how = hasExited ? "exit status \((status >> 8) & 0xFF)" : "signal \(status & 0x7F)"
            throw CommandFailure(command: command.line, reason: "\(how)\n\(text.suffix(2_000))")
        }
        return Usage(
            wall: wall / .seconds(1), cpu: Self.seconds(resources.ru_utime) + Self.seconds(resources.ru_stime),
            largestProcess: Int64(resources.ru_maxrss) * 1024, ownPeak: peak)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    /// Bytes, `VmHWM`; nil where the process is ending.
    private static func peakMemory(of process: pid_t) -> Int64? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int64($0.filter(\.isNumber)) }.map { $0 * 1024 }
    }
}

/// Loops of commands: side by side, and in each one after the other.
enum Loops {
    /// - Returns: The processor time of all, and the wall time from the first start to the last end.
    static func run(_ loops: [[Command]]) throws -> Usage {
        let results = Results(count: loops.count)
        let start = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: loops.count) { index in
            results[index] = Result {
                try loops[index].reduce(Usage.none) { try $0 + $1.run() }
            }
        }
        let wall = start.duration(to: .now)
        var usage = try results.all.reduce(Usage.none) { try $0 + $1.get() }
        usage.wall = wall / .seconds(1)
        return usage
    }

    private final class Results: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [Int: Result<Usage, any Error>] = [:]

        init(count: Int) {
            values.reserveCapacity(count)
        }

        var all: [Result<Usage, any Error>] { lock.withLock { Array(values.values) } }

        subscript(index: Int) -> Result<Usage, any Error>? {
            get { lock.withLock { values[index] } }
            set { lock.withLock { values[index] = newValue } }
        }
    }
}
