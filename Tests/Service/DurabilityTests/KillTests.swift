import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// What SIGKILL at any moment leaves behind.
///
/// The real program runs under `kernel-calls`, which follows all of its threads with ptrace and counts, over all of
/// them together, the calls that change files: writes, syncs, truncations, openings that create, links, renames,
/// removals, new directories. (strace's `--inject=…:when=N` counts for each thread by itself, so that a number would
/// name many places or none.) At the N-th call the program is killed while the calling thread stands at the call's
/// entry: call N has not happened, call N - 1 has, and the other threads are wherever they were. With N from 1 until
/// the program survives, every call is thus killed before and after.
///
/// After each kill the store is opened and examined, the same command is run again to its end, and one sweep follows:
///
/// - nothing that was acknowledged (a whole line on standard output) is lost;
/// - nothing is delivered twice;
/// - nothing dangles: each blob that a record refers to is there and whole;
/// - after one sweep alone with the store, no orphan, staged file, spool file or temporary file is left.
///
/// `add` of one file into a store that exists is killed at every call. The others are killed at some of their calls,
/// from every second to every 37th of a first `add`, which makes 256 directories one like the other; they begin with
/// another call every day. `SATCHEL_DURABILITY=full` kills each at every call.
@Suite struct KillTests {
    @Test func `a killed add delivers once when it is run again`() async throws {
        try await Scenario(["add", "a.txt", "--identifier", "a"], every: 1, lines: 1).kill { machine in
            try machine.source("a.txt", "A")
        } then: { after in
            #expect(after.delivered == ["a", "before"], "\(after.place)")
        }
    }

    @Test func `a killed first add, which makes the store, delivers once when it is run again`() async throws {
        let scenario = Scenario(["add", "a.txt", "--identifier", "a"], every: 47, lines: 1, hasStore: false)
        try await scenario.kill { machine in
            try machine.source("a.txt", "A")
        } then: { after in
            #expect(after.delivered == ["a"], "\(after.place)")
        }
    }

    @Test func `a killed add of two files as one job delivers both once`() async throws {
        let command = ["add", "a.txt", "b.txt", "--identifier", "a", "--identifier", "b"]
        try await Scenario(command, every: 9, lines: 2).kill { machine in
            try machine.source("a.txt", "A")
            try machine.source("b.txt", "B")
        } then: { after in
            #expect(after.delivered == ["a", "b", "before"], "\(after.place)")
        }
    }

    @Test func `a killed add that keeps the original keeps it whole`() async throws {
        let command = ["add", "a.txt", "--identifier", "a", "--profile", "archive"]
        try await Scenario(command, every: 9, lines: 1).kill { machine in
            try machine.source("a.txt", "A")
        } then: { after in
            #expect(after.delivered == ["a", "before"], "\(after.place)")
            #expect(after.contents.contains("fault: echo A\n"), "\(after.place)")
        }
    }

    @Test func `a killed add of a URL leaves nothing of it in the spool`() async throws {
        let server = try Machine()
        try server.source("a.txt", "A")
        let origin = try await LocalOrigin(LocalOrigin.files(in: URL(filePath: server.home)))
        let command = ["add", origin.url("/a.txt"), "--identifier", "a", "--fetch-allow", "127.0.0.1"]
        try await Scenario(command, every: 9, lines: 1).kill { _ in
        } then: { after in
            #expect(after.delivered == ["a", "before"], "\(after.place)")
        }
    }

    @Test func `a killed rm has deleted all or nothing, and nothing of another`() async throws {
        try await Scenario(["rm", "ID"], every: 4, lines: nil).kill { machine in
            try machine.source("other.txt", "OTHER")
            let added = try machine.run(["add", "other.txt", "--identifier", "other"])
            try #require(added.status == 0, "\(added.errorText)")
        } then: { after in
            #expect(after.delivered == ["other"], "\(after.place)")
            #expect(after.contents == ["main OTHER", "thumbnail OTHER"], "\(after.place): bytes stayed")
        }
    }

    @Test func `a killed batch that moves its sources loses none`() async throws {
        try await Scenario(["batch", "in", "--move", "--profile", "archive"], every: 11, lines: 2).kill { machine in
            try machine.source("in/a.txt", "A")
            try machine.source("in/b.txt", "B")
        } then: { after in
            #expect(after.delivered == ["a.txt", "b.txt", "before"], "\(after.place)")
            #expect(after.contents.isSuperset(of: ["fault: echo A\n", "fault: echo B\n"]), "\(after.place)")
            let left = try Disk.files(in: "\(after.home)/in")
            #expect(left.isEmpty, "\(after.place)")
        }
    }

    @Test func `a killed batch with a mirror leaves whole renditions alone in it`() async throws {
        try await Scenario(["batch", "in", "--output", "out"], every: 11, lines: 2).kill { machine in
            try machine.source("in/a.txt", "A")
            try machine.source("in/b.txt", "B")
        } then: { after in
            #expect(after.delivered == ["a.txt", "b.txt", "before"], "\(after.place)")
            let out = try Disk.files(in: "\(after.home)/out")
            let expected = ["a", "b"].flatMap { ["\($0).txt.main.jpg", "\($0).txt.thumbnail.jpg"] }
            #expect(out == Set(expected), "\(after.place)")
            for name in out.intersection(expected) {
                let content = String(decoding: try Disk.read("\(after.home)/out/\(name)"), as: UTF8.self)
                let role = name.contains("main") ? "main" : "thumbnail"
                #expect(content == "\(role) \(name.prefix(1).uppercased())", "\(after.place): \(name)")
            }
        }
    }

    @Test func `a killed store gc removes nothing that is referred to`() async throws {
        try await Scenario(["store", "gc"], every: 2, lines: nil).kill { machine in
            // What interrupted work leaves, in the store of somebody who has more.
            let hash = String(repeating: "ab", count: 32)
            for index in 0..<3 {
                let name = "\(hash).00000000-0000-7000-8000-00000000000\(index)"
                try Disk.write("orphan", to: "\(machine.home)/\(Machine.store)/blobs/ab/\(name)")
            }
            try Disk.write("staged", to: "\(machine.home)/\(Machine.store)/staging/left")
            try Disk.write("spooled", to: "\(machine.home)/\(Machine.store)/spool/left.part")
            try Disk.write("", to: "\(machine.home)/\(Machine.store)/workers/left")
        } then: { after in
            #expect(after.delivered == ["before"], "\(after.place)")
            #expect(after.contents == ["main BEFORE", "thumbnail BEFORE"], "\(after.place)")
        }
    }
}
