import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FullDiskTests {
    @Test(.enabled(if: geteuid() == 0, "only root can mount a small disk"))
    func `on a full disk the commands that free space work, and all others say that it is full`() async throws {
        let harness = try ServiceHarness()
        let disk = harness.home.path + "/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        #expect(unsafe mount("satchel-test", disk, "tmpfs", 0, "size=64m") == 0)
        defer { unsafe umount2(disk, Int32(MNT_DETACH)) }
        let store = disk + "/store"
        var program = harness.satchel
        program.environment["SATCHEL_STORE"] = store
        program.environment["SATCHEL_INTAKE_FREE_BYTES"] = "100k"
        func run(_ arguments: String...) async throws -> ProgramResult { try await program.start(arguments).end() }
        func object(_ arguments: String...) async throws -> [String: String] {
            let result = try await program.start(arguments + ["--format", "json"]).end()
            let object = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
            return try #require(object, "\(result.errorText)").compactMapValues { $0 as? String }
        }
        func reserve() throws -> Int {
            try #require(FileManager.default.attributesOfItem(atPath: store + "/reserve")[.size] as? Int)
        }
        func isFull(_ arguments: String...) async throws {
            let result = try await program.start(arguments).end()
            #expect(
                result.status == 3 && result.errorText.contains(/disk .*is full/),
                "\(arguments): \(result.status) \(result.errorText)")
            #expect(try reserve() >= 12 << 20, "\(arguments) used the reserve")
        }
        func isDone(_ arguments: String...) async throws {
            let result = try await program.start(arguments).end()
            #expect(result.status == 0, "\(arguments): \(result.errorText)")
            #expect(try reserve() >= 12 << 20, "\(arguments) did not make the reserve again")
        }

        let key = try #require(try await object("key", "create")["key"])
        for name in ["png/alpha.png", "jpeg/444.jpg"] {
            let added = try await run("add", Repository.media.appending(path: name).path(percentEncoded: false))
            #expect(added.status == 0, "\(added.errorText)")
        }
        let listed = try await run("list", "--format", "csv").outputText.split(separator: "\n").dropFirst()
        let ids = listed.map { String($0.prefix(36)) }
        try #require(ids.count == 2)
        let lease = try #require(try await object("lease", ids[1])["id"])
        let other = try #require(try await object("key", "create")["id"])
        #expect(try reserve() == 16 << 20)

        // The last process to end removes the log, unless it ended before its connections were closed. Without the log there
        // is no space for a new one.
        while FileManager.default.fileExists(atPath: store + "/records.sqlite-wal") { _ = try await run("list") }
        try fill(disk + "/filler0")
        try await isFull("list")
        try await isFull("serve", "--listen", "127.0.0.1:0")
        try FileManager.default.removeItem(atPath: disk + "/filler0")

        let server = try await ServiceProcess(program.start(["serve", "--listen", "127.0.0.1:0"]), key: key)
        // The log begins here, and each further write makes it longer.
        #expect(try await run("lease", ids[1]).status == 0)
        try fill(disk + "/filler1")
        try await isFull("lease", ids[1])
        try await isFull("key", "create")
        #expect(try await run("list").outputText.contains(ids[1]))
        #expect(try await server.send("POST", "/v1/jobs", ["Content-Type": "image/png"], body: Data([1])).status == 507)
        try await isDone("rm", ids[0])
        #expect(try await !run("list").outputText.contains(ids[0]))
        try fill(disk + "/filler2")
        try await isDone("revoke", lease)
        try await isDone("key", "revoke", other)
        try await isDone("store", "gc")
        try fill(disk + "/filler3")
        try await isFull("lease", ids[1])
        #expect(try await server.accepts())
        #expect(try await server.stop().status == 0)

        try await isDone("rm", ids[1])
        for number in 1...3 { try FileManager.default.removeItem(atPath: "\(disk)/filler\(number)") }
        #expect(try await run("store", "verify").status == 0)
        #expect(try reserve() == 16 << 20)
    }

    /// Fills the file system that `path` is on.
    private func fill(_ path: String) throws {
        try Data().write(to: URL(filePath: path))
        let file = try #require(FileHandle(forWritingAtPath: path))
        for size in [65_536, 4096, 1] {
            while (try? file.write(contentsOf: Data(repeating: 1, count: size))) != nil {}
        }
        try file.close()
    }

    /// Why a store can't be written to.
    enum Refusal: String, CaseIterable, CustomTestStringConvertible {
        case mount, permission
        var testDescription: String { rawValue }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can mount, and give up rights"), arguments: Refusal.allCases,
        [false, true])
    func `a store that can't be written to is listed, read and verified`(refusal: Refusal, wasKilled: Bool) async throws
    {
        let harness = try ServiceHarness()
        let added = try await harness.run(
            "add", Repository.media.appending(path: "png/alpha.png").path(percentEncoded: false))
        #expect(added.status == 0)
        let listed = try await harness.run("list", "--format", "csv").outputText
        let id = String(try #require(listed.split(separator: "\n").dropFirst().first?.split(separator: ",").first))
        let bytes = try await harness.run("get", id).output
        if wasKilled {
            // The log stays.
            try await harness.serve().stop(SIGKILL)
            #expect(FileManager.default.fileExists(atPath: harness.store + "/records.sqlite-wal"))
        }
        switch refusal {
        case .mount:
            #expect(unsafe mount(harness.store, harness.store, nil, UInt(MS_BIND), nil) == 0)
            #expect(unsafe mount(nil, harness.store, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0)
        case .permission: #expect(unsafe chmod(harness.store, 0o500) == 0)
        }
        defer {
            switch refusal {
            case .mount: unsafe umount2(harness.store, Int32(MNT_DETACH))
            case .permission: unsafe chmod(harness.store, 0o700)
            }
        }
        // Permissions don't bind root unless it gives up these capabilities.
        let program = Program(
            Program.tool("setpriv").executable, environment: harness.satchel.environment, in: harness.home.url)
        let bounded = [
            "--bounding-set", "-dac_override,-dac_read_search", harness.satchel.executable.path(percentEncoded: false),
        ]
        func run(_ arguments: String...) async throws -> ProgramResult {
            try await program.start(bounded + arguments).end()
        }
        #expect(try await run("list", "--format", "csv").outputText == listed)
        #expect(try await run("get", id).output == bytes)
        for arguments in [["show", id], ["store", "verify"], ["jobs"], ["failures"], ["audit"], ["key", "list"]] {
            let result = try await program.start(bounded + arguments).end()
            #expect(result.status == 0, "\(arguments): \(result.errorText)")
        }
        let refused = try await run("rm", id)
        #expect(refused.status == 3 && refused.errorText.contains("it can only be read"), "\(refused.errorText)")
        // If the log is there already, SQLite creates no file.
        if refusal == .mount {
            let none = try await run("key", "create")
            #expect(none.status == 3 && none.errorText.contains("can't be used as a store"), "\(none.errorText)")
        }
        #expect(try await run("list", "--format", "csv").outputText == listed)
    }
}
