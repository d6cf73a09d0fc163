import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct BackupTests {
    /// The commands of a section of the page on running Satchel, as they stand there.
    private static func recipe(_ title: String) throws -> String {
        let page = try String(contentsOf: Repository.root.appending(path: "Docker/README.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "**\(title)**").dropFirst().first)
        return try #require(section.components(separatedBy: "```\n").dropFirst().first)
    }

    /// Carries a recipe out with the directories and the program of a test in place of those of a host.
    private static func follow(_ title: String, at harness: borrowing ServiceHarness) async throws -> ProgramResult {
        let commands = try recipe(title)
            .replacing(
                "docker compose -f Docker/compose.yaml run --rm --volume /backup:/backup satchel ",
                with: harness.satchel.executable.path(percentEncoded: false) + " "
            )
            .replacing("/backup/", with: harness.home.path + "/backup/")
        let shell = Program(
            Program.tool("bash").executable, environment: harness.satchel.environment, in: harness.home.url)
        return try await shell.start(["-c", "set -e\n" + commands]).end(within: 300)
    }

    /// A codec that does as its source says.
    private static func program(of harness: borrowing ServiceHarness) throws -> Program {
        Program(
            harness.satchel.executable,
            environment: harness.satchel.environment.merging([
                "SATCHEL_CODEC": try Repository.product("fault-codec").path(percentEncoded: false)
            ]) { $1 },
            in: harness.home.url)
    }

    private static func submit(
        _ source: String, to server: some ServiceRequests, wait: Bool = false
    ) async throws -> String {
        var headers = ["Content-Type": "image/jpeg"]
        if wait { headers["Prefer"] = "wait=20" }
        let answer = try await server.send("POST", "/v1/jobs?profile=archive", headers, body: Data(source.utf8))
        try #require(answer.status == (wait ? 200 : 202), "\(answer.text)")
        return try #require(try answer.json["id"] as? String, "\(answer.text)")
    }

    @Test func `a backup while jobs wait is restored, and all that waited is done`() async throws {
        let harness = try ServiceHarness()
        let key = try await harness.makeKey("--name", "backend")
        let program = try Self.program(of: harness)
        let listens = ["serve", "--listen", "127.0.0.1:0"]
        let first = try await ServiceProcess(program.start(listens + ["--codecs", "1"]), key: key)
        let done = try await Self.submit("fault: echo done\n", to: first, wait: true)
        // The only codec is busy with this one, and all others wait.
        _ = try await Self.submit("fault: sleep\n", to: first)
        var waiting: [String] = []
        for number in 0..<4 { waiting.append(try await Self.submit("fault: echo \(number)\n", to: first)) }

        let backup = try await Self.follow("Backup", at: harness)
        #expect(backup.status == 0, "\(backup.errorText)")
        #expect(backup.outputText.contains("5 sources"), "\(backup.outputText)")
        #expect(backup.errorText.contains(harness.home.path + "/keys/access.keys"), "\(backup.errorText)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: harness.home.path + "/backup/satchel/spool").count == 5)
        for id in waiting {
            let state = try await first.get("/v1/jobs/\(id)").json["state"] as? String
            #expect(["pending", "running"].contains(state), "it didn't wait any more: \(state ?? "-")")
        }
        let refused = try await harness.satchel.start(["store", "restore", harness.home.path + "/backup/satchel"]).end()
        #expect(refused.status == 3 && refused.errorText.contains("uses"), "\(refused.errorText)")
        _ = try await first.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: harness.store)

        let restored = try await Self.follow("Restore", at: harness)
        #expect(restored.status == 0, "\(restored.errorText)")
        #expect(restored.outputText.contains("5 sources"), "\(restored.outputText)")
        #expect(restored.errorText.contains("belong to this store"), "\(restored.errorText)")
        let verified = try await harness.satchel.start(["store", "verify"]).end()
        #expect(verified.status == 0 && verified.outputText.contains("all are intact"), "\(verified.outputText)")
        let second = try await ServiceProcess(program.start(listens + ["--codecs", "3"]), key: key)
        for id in waiting + [done] {
            let job = try await second.finished(id)
            #expect(job["state"] as? String == "delivered", "\(job)")
        }
        _ = try await second.stop(SIGKILL)
    }

    /// Killed at moments that come closer and closer to its end, or after it: at each the directory is a whole backup, the
    /// one before or the new one.
    @Test func `a backup that is killed while the service is under load leaves the one before`() async throws {
        let harness = try ServiceHarness()
        let key = try await harness.makeKey("--name", "backend")
        let program = try Self.program(of: harness)
        let server = try await ServiceProcess(program.start(["serve", "--listen", "127.0.0.1:0"]), key: key)
        let backup = harness.home.path + "/backup"
        var delivered: [String] = []
        for number in 0..<30 {
            delivered.append(try await Self.submit("fault: echo \(number)\n", to: server, wait: true))
        }
        #expect(try await harness.satchel.start(["store", "backup", backup]).end().status == 0)
        let client = server.requester
        let load = Task {
            var number = 0
            while !Task.isCancelled {
                let id = try await Self.submit("fault: echo load \(number)\n", to: client, wait: number % 2 == 0)
                if number % 4 == 0 { _ = try await client.send("DELETE", "/v1/jobs/\(id)") }
                number += 1
            }
        }
        for round in 0..<8 {
            let running = try harness.satchel.start(["store", "backup", backup])
            try await Task.sleep(for: .milliseconds(10 + 15 * round))
            _ = Glibc.kill(running.process.processIdentifier, SIGKILL)
            _ = try await running.end()
            let target = "\(harness.home.path)/restored-\(round)"
            let restored = try await harness.satchel.start(["store", "restore", backup, "--store", target]).end()
            #expect(restored.status == 0, "round \(round): \(restored.errorText)")
            let verified = try await harness.satchel.start(["store", "verify", "--store", target]).end()
            #expect(verified.status == 0 && !verified.outputText.contains("unused"), "\(verified.outputText)")
            let jobs = try await harness.satchel.start([
                "jobs", "--store", target, "--tenant", "default", "--limit", "0", "--format", "csv",
            ]).end()
            for id in delivered { #expect(jobs.outputText.contains(id)) }
        }
        load.cancel()
        _ = await load.result
        #expect(try await harness.satchel.start(["store", "backup", backup]).end().status == 0)
        #expect(try await server.stop().status == 0)
        let verified = try await harness.satchel.start(["store", "verify"]).end()
        #expect(verified.status == 0, "\(verified.errorText)")
    }
}
