import SatchelCore
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// What somebody does with the program, recorded call by call.
struct PowerCutScenario: Sendable {
    let recording: Recording
    let guarantees: [Guarantee]
    let invariants: Invariants
    /// The disk after each call.
    private let disks: [CachedDisk]

    /// What is tried; each is recorded once for all tests.
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        /// A user's day with the commands, from the first one on.
        case commands
        /// A service that takes uploads, notifications and responses.
        case service
        /// A tenant that is removed, beside another.
        case removal

        var scenario: PowerCutScenario {
            get async throws {
                switch self {
                case .commands: try await PowerCutScenario.commands.value
                case .service: try await RecordedService.shared.value.scenario
                case .removal: try await PowerCutScenario.removal.value
                }
            }
        }

        /// How far apart the calls are after which chance decides, or which are tried although little shows after them.
        var stride: Int { self == .removal ? 3 : 12 }

        var testDescription: String { rawValue }
    }

    static let commands = Task { try await recordCommands() }

    init(_ recording: Recording, _ guarantees: [Guarantee], _ invariants: Invariants) {
        self.recording = recording
        self.guarantees = guarantees
        self.invariants = invariants
        var disk = CachedDisk(recording.start)
        disks = recording.calls.indices.map { index in
            disk.replay(recording.calls[index], at: index)
            return disk
        }
    }

    private static func recordCommands() async throws -> PowerCutScenario {
        let machine = try Machine()
        for name in ["one", "two", "three", "in/four", "in/five", "other/six", "seven"] {
            try machine.source("\(name).txt", name.uppercased())
        }
        var recording = try Recording(of: machine)
        func id(_ result: ProgramResult) throws -> String {
            try #require(try Acknowledged.lines(of: result.output).first?.attachmentId)
        }
        let lines = ["--format", "jsonl"]
        let one = try id(try recording.run(["add", "one.txt", "--profile", "archive"] + lines, on: machine))
        let two = try id(try recording.run(["add", "two.txt", "three.txt"] + lines, on: machine))
        try recording.run(["lease", one, "--for", "1h", "--format", "json"], on: machine)
        let other = try recording.run(["lease", one, "--for", "1h", "--format", "json"], on: machine)
        let lease = try #require(try JSONSerialization.jsonObject(with: other.output) as? [String: Any])
        try recording.run(["revoke", try #require(lease["id"] as? String)], on: machine)
        try recording.run(["batch", "in", "--move", "--profile", "archive"] + lines, on: machine)
        try recording.run(["batch", "other", "--output", "out"] + lines, on: machine)
        let origin = try await LocalOrigin(LocalOrigin.files(in: URL(filePath: machine.home)))
        try recording.run(
            ["add", origin.url("/seven.txt"), "--fetch-allow", "127.0.0.1", "--profile", "archive"] + lines,
            on: machine)
        try recording.run(["rm", two], on: machine)
        try recording.run(["store", "gc"], on: machine)

        var whole: [String: Data] = [:]
        for name in try Disk.files(in: "\(machine.home)/out") {
            whole["out/\(name)"] = try Disk.read("\(machine.home)/out/\(name)")
        }
        let invariants = Invariants(
            moved: ["in/four.txt": "fault: echo IN/FOUR\n", "in/five.txt": "fault: echo IN/FIVE\n"], whole: whole)
        return PowerCutScenario(recording, try recording.guarantees(), invariants)
    }

    /// The disk when the power fails after a call.
    ///
    /// - Parameter syncs: These did nothing.
    func disk(after call: Int, without syncs: [Int] = []) -> CachedDisk {
        guard let first = syncs.first, first <= call else { return disks[call] }
        var disk = first == 0 ? CachedDisk(recording.start) : disks[first - 1]
        for index in first...call where !syncs.contains(index) { disk.replay(recording.calls[index], at: index) }
        return disk
    }

    /// What holds when the power fails after a call.
    func guaranteed(after call: Int) -> Set<Guarantee.Content> {
        Set(guarantees.filter { $0.calls.contains(call) }.map(\.content))
    }

    /// The path of what a call syncs.
    func path(ofSync call: Int) -> String {
        guard case .sync(let inode) = recording.calls[call].operation else { return "" }
        return disks[call].path(of: inode)
    }

    /// Whether a sync is SQLite's own; all others are the program's.
    func isOfSQLite(_ call: Int) -> Bool {
        let path = path(ofSync: call)
        if path.hasPrefix("\(Machine.store)/records.sqlite") { return true }
        // The first sync of the store's directory comes before there are any records, where it is made.
        if path == Machine.store, recording.start[Machine.store] != nil { return true }
        return path == Machine.store && recording.syncs.first { self.path(ofSync: $0) == path } != call
    }

    /// Whether a command removes SQLite's log, which it does after a checkpoint.
    func removesLog(_ command: Recording.Command) -> Bool {
        command.calls.contains { call in
            if case .unlink(_, "records.sqlite-wal") = recording.calls[call].operation { true } else { false }
        }
    }

    /// The calls after a sync until the same file or directory is synced again, which makes up for a sync that did
    /// nothing.
    func calls(concernedBySync call: Int) -> Range<Int> {
        guard case .sync(let inode) = recording.calls[call].operation else { return call..<call }
        let next = recording.calls[(call + 1)...].firstIndex { later in
            if case .sync(inode) = later.operation { later.began > call } else { false }
        }
        return call..<(next ?? recording.calls.count)
    }
}
