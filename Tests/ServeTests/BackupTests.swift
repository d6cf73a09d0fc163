import Foundation
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
    private static func follow(_ title: String, at harness: borrowing ServiceHarness) throws -> ProgramResult {
        let commands = try recipe(title)
            .replacing("/srv/satchel", with: harness.store)
            .replacing("/backup/", with: harness.home.path + "/backup/")
            .replacing("mkdir -p /backup\n", with: "mkdir -p \(harness.home.path)/backup\n")
            .replacing(
                "docker compose -f Docker/compose.yaml run --rm satchel ",
                with: harness.satchel.executable.path(percentEncoded: false) + " ")
        let shell = Program(
            Program.tool("bash").executable, environment: harness.satchel.environment, in: harness.home.url)
        return try shell.start(["-c", commands]).wait(atMost: 60)
    }

    @Test func `a backup while jobs wait is restored, and all that waited is done`() async throws {
        let harness = try ServiceHarness()
        let key = try await harness.makeKey("--name", "backend")
        // A codec that does as its source says.
        let program = Program(
            harness.satchel.executable,
            environment: harness.satchel.environment.merging([
                "SATCHEL_CODEC": try Repository.product("fault-codec").path(percentEncoded: false)
            ]) { $1 },
            in: harness.home.url)
        let listens = ["serve", "--listen", "127.0.0.1:0"]
        let first = try await ServiceProcess(program.start(listens + ["--codecs", "1"]), key: key)
        func submit(_ source: String, wait: Bool) async throws -> String {
            var headers = ["Content-Type": "image/jpeg"]
            if wait { headers["Prefer"] = "wait=20" }
            let answer = try await first.send("POST", "/v1/jobs?profile=archive", headers, body: Data(source.utf8))
            #expect(answer.status == (wait ? 200 : 202), "\(answer.text)")
            return try #require(try answer.json["id"] as? String, "\(answer.text)")
        }
        let done = try await submit("fault: echo done\n", wait: true)
        // The only codec is busy with this one, and all others wait.
        _ = try await submit("fault: sleep\n", wait: false)
        var waiting: [String] = []
        for number in 0..<4 { waiting.append(try await submit("fault: echo \(number)\n", wait: false)) }

        let backup = try Self.follow("Backup", at: harness)
        #expect(backup.status == 0 && backup.errorText.isEmpty, "\(backup.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: harness.home.path + "/backup/spool").count == 5)
        for id in waiting {
            let state = try await first.get("/v1/jobs/\(id)").json["state"] as? String
            #expect(["pending", "running"].contains(state), "it didn't wait any more: \(state ?? "-")")
        }
        _ = try await first.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: harness.store)

        let restored = try Self.follow("Restore", at: harness)
        #expect(restored.status == 0, "\(restored.errorText)")
        #expect(restored.outputText.contains("all are whole"), "\(restored.outputText)")
        let second = try await ServiceProcess(program.start(listens + ["--codecs", "3"]), key: key)
        for id in waiting + [done] {
            let job = try await second.finished(id)
            #expect(job["state"] as? String == "delivered", "\(job)")
        }
        _ = try await second.stop(SIGKILL)
    }
}
