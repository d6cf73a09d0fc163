import SatchelCore
import Foundation
import Stores
import TestSupport
import Testing

/// A command that is killed at one call after the other.
struct Scenario {
    /// `ID` stands for the id of the attachment `before`.
    var command: [String]
    /// How far apart the calls are at which it is killed.
    var stride: Int
    /// The results that it prints; nil for a command that prints none of them.
    var lines: Int?
    /// Whether the store is there before, with an attachment `before` in it.
    var hasStore: Bool

    /// What there is after a kill, another run of the command and a sweep.
    struct Aftermath {
        /// Where it was killed.
        var place: String
        var home: String
        /// The identifiers of the attachments.
        var delivered: [String]
        /// What the blobs hold.
        var contents: Set<String>
    }

    init(_ command: [String], every stride: Int, lines: Int?, hasStore: Bool = true) {
        self.command = command
        self.lines = lines
        self.hasStore = hasStore
        self.stride = ProcessInfo.processInfo.environment["SATCHEL_DURABILITY"] == "full" ? 1 : stride
    }

    /// Another one every day, so that in time all calls have been the place.
    private var first: Int { 1 + Int(Date().timeIntervalSince1970 / 86_400) % stride }

    func kill(
        prepare: (borrowing Machine) throws -> Void, then check: (Aftermath) async throws -> Void
    ) async throws {
        let template = try Machine()
        var command = command
        if hasStore {
            try template.source("before.txt", "BEFORE")
            let result = try template.run(["add", "before.txt", "--identifier", "before", "--format", "jsonl"])
            let id = try Acknowledged.lines(of: result.output).first?.attachmentId
            command = command.map { $0 == "ID" ? id ?? "" : $0 }
        }
        try prepare(template)
        if lines != nil { command += ["--format", "jsonl"] }
        var number = first
        while try await kill(command, at: number, copying: template, then: check) { number += stride }
    }

    /// - Returns: False where the command made fewer calls and lived.
    private func kill(
        _ command: [String], at number: Int, copying template: borrowing Machine,
        then check: (Aftermath) async throws -> Void
    ) async throws -> Bool {
        let machine = try Machine(copying: template)
        let killed = try machine.kill(at: number, command)
        guard killed.wasKilled else {
            #expect(killed.result.status == 0, "\(killed.result.errorText)")
            return false
        }
        var acknowledged = try Acknowledged.lines(of: lines == nil ? Data() : killed.result.output)
        do {
            let examination = Examination(store: try machine.open(), place: killed.place)
            try await examination.nothingDangles()
            try await examination.nothingIsLost(acknowledged)
        }
        // Whoever has all results doesn't ask again.
        if acknowledged.count != lines {
            let again = try machine.run(command)
            let isGone = command.first == "rm" && again.errorText.contains("there is no")
            #expect(again.status == 0 || isGone, "\(killed.place): run again, it says \(again.errorText)")
            acknowledged += try Acknowledged.lines(of: lines == nil ? Data() : again.output)
        }
        let examination = Examination(store: try machine.open(exclusively: true), place: killed.place)
        try await examination.nothingDangles()
        try await examination.nothingIsLost(acknowledged)
        try await examination.nothingIsUnfinished()
        try await examination.oneSweepLeavesNothingBehind(home: machine.home)
        try await check(
            Aftermath(
                place: killed.place, home: machine.home, delivered: try await examination.delivered(),
                contents: try await examination.contents(home: machine.home)))
        return true
    }
}
