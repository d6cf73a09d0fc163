import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

/// A service's store is moved from a directory to a database and a bucket, by the command.
@Suite(.needs(.ceph), .timeLimit(.minutes(10))) struct MovingTests {
    private static func submit(_ source: String, to server: some ServiceRequests, wait: Bool) async throws -> String {
        var headers = ["Content-Type": "image/jpeg"]
        if wait { headers["Prefer"] = "wait=20" }
        let answer = try await server.send("POST", "/v1/jobs?profile=archive", headers, body: Data(source.utf8))
        try #require(answer.status == (wait ? 200 : 202), "\(answer.text)")
        return try #require(try answer.json["id"] as? String, "\(answer.text)")
    }

    /// The path of a job's main rendition.
    private static func path(of job: [String: Any]) throws -> String {
        let attachments = try #require(job["attachments"] as? [[String: Any]])
        let renditions = try #require(attachments.first?["renditions"] as? [String: [String: Any]])
        return try #require((renditions["main"]?["url"] as? String).flatMap { URL(string: $0)?.path() })
    }

    @Test func `a service goes on in the copy of its store, however often the copy was killed`() async throws {
        let harness = try ServiceHarness()
        let key = try await harness.makeKey("--name", "backend")
        let codec = try Repository.product("fault-codec").path(percentEncoded: false)
        let cluster = try ServiceHarness.cluster().merging([
            "SATCHEL_CODEC": codec, "SATCHEL_SPOOL": harness.home.path + "/node",
        ]) { $1 }
        let old = Program(
            harness.satchel.executable,
            environment: harness.satchel.environment.merging(["SATCHEL_CODEC": codec]) { $1 }, in: harness.home.url)
        let new = Program(
            old.executable, environment: old.environment.merging(cluster) { $1 }, in: harness.home.url)
        #expect(try await new.start(["store", "migrate"]).end().status == 0)
        let listens = ["serve", "--listen", "127.0.0.1:0"]
        let first = try await ServiceProcess(old.start(listens + ["--codecs", "1"]), key: key)
        var done: [String: Data] = [:]
        for number in 0..<30 {
            let id = try await Self.submit("fault: echo \(number)\n", to: first, wait: true)
            let path = try Self.path(of: try await first.get("/v1/jobs/\(id)").json)
            done[path] = try await first.get(path).data
        }
        // The only codec is busy with this one, and all others wait.
        let slow = try await Self.submit("fault: sleep\n", to: first, wait: false)
        var waiting: [String] = []
        for number in 0..<6 {
            waiting.append(try await Self.submit("fault: echo w\(number)\n", to: first, wait: false))
        }

        let copy = ["store", "copy", harness.store]
        let refused = try await new.start(copy).end()
        #expect(refused.status == 3 && refused.errorText.contains("Another process uses"), "\(refused.errorText)")
        let amount = try await new.start(copy + ["--dry-run"]).end()
        #expect(
            amount.status == 0 && amount.outputText.contains(/blobs .*37 jobs \(7 unfinished.*7 sources/),
            "\(amount.outputText)\(amount.errorText)")
        _ = try await first.stop(SIGKILL)

        var pause = 20
        var kills = 0
        while true {
            let running = try new.start(copy)
            try await Task.sleep(for: .milliseconds(pause))
            let killed = Glibc.kill(running.process.processIdentifier, SIGKILL) == 0
            let result = try await running.end()
            if result.status == 0 {
                #expect(result.outputText.contains("37 jobs") || result.outputText.contains("already copied"))
                break
            }
            // Killed on its way out, with all of it done and said.
            if killed, result.errorText.contains("no longer up to date") { break }
            try #require(killed && result.errorText.isEmpty, "\(result.errorText)")
            kills += 1
            pause += 40 + pause / 4
        }
        #expect(kills > 2)
        let again = try await new.start(copy).end()
        #expect(again.status == 0 && again.outputText.contains("already copied"), "\(again.errorText)")
        let verified = try await new.start(["store", "verify"]).end()
        #expect(verified.status == 0 && verified.outputText.contains("all are intact"), "\(verified.errorText)")

        let second = try await ServiceProcess(new.start(listens + ["--codecs", "3"]), key: key)
        for (path, data) in done {
            let content = try await second.get(path)
            #expect(content.status == 200 && content.data == data)
        }
        for id in waiting {
            let job = try await second.finished(id)
            #expect(job["state"] as? String == "delivered", "\(job)")
        }
        #expect(["pending", "running"].contains(try await second.get("/v1/jobs/\(slow)").json["state"] as? String))
        _ = try await second.stop(SIGKILL)

        // The copy is a store of its own now.
        let other = try ServiceHarness()
        _ = try await other.makeKey("--name", "backend")
        let foreign = try await new.start(["store", "copy", other.store]).end()
        #expect(foreign.status == 2 && foreign.errorText.contains("already has records"), "\(foreign.errorText)")
    }

    @Test func `what the store has lost is named, and all else is copied`() async throws {
        let harness = try ServiceHarness()
        let photo = Repository.media.appending(path: "jpeg/coffee.jpg").path(percentEncoded: false)
        #expect(try await harness.run("add", photo).status == 0)
        let backup = harness.home.path + "/backup"
        #expect(try await harness.run("store", "backup", backup).status == 0)
        let shelves = harness.home.url.appending(path: "store/blobs")
        let names = try FileManager.default.subpathsOfDirectory(atPath: shelves.path(percentEncoded: false))
            .filter { $0.contains(".") }
        try FileManager.default.removeItem(at: shelves.appending(path: try #require(names.first)))
        let new = Program(
            harness.satchel.executable,
            environment: harness.satchel.environment.merging(try ServiceHarness.cluster()) { $1 }.merging([
                "SATCHEL_SPOOL": harness.home.path + "/node"
            ]) { $1 }, in: harness.home.url)
        let unmade = try await new.start(["store", "copy", harness.store]).end()
        #expect(unmade.status == 2 && unmade.errorText.contains("store migrate"), "\(unmade.errorText)")
        #expect(try await new.start(["store", "migrate"]).end().status == 0)
        for _ in 0..<2 {
            let copied = try await new.start(["store", "copy", harness.store]).end()
            #expect(copied.status == 1 && copied.outputText.contains("missing  "), "\(copied.outputText)")
            #expect(copied.errorText.contains("1 file missing and 0 damaged"), "\(copied.errorText)")
        }
        let told = [
            try await harness.run("list", "--format", "csv").outputText,
            try await new.start(["list", "--format", "csv"]).end().outputText,
        ]
        #expect(told[0] == told[1] && !told[0].isEmpty)
        // Neither gets its bytes back by itself; the directory does from its backup.
        for program in [new, harness.satchel] {
            let verified = try await program.start(["store", "verify"]).end()
            #expect(verified.status == 1 && verified.outputText.contains("missing  "), "\(verified.outputText)")
            #expect(verified.errorText.contains("verify --repair"), "\(verified.errorText)")
            let repaired = try await program.start(["store", "verify", "--repair"]).end()
            #expect(
                repaired.status == 1 && repaired.errorText.contains("missing and 0 damaged. No intact copy was found."),
                "\(repaired.errorText)")
            let foreign = try await program.start(["store", "verify", "--from", backup]).end()
            #expect(foreign.status == 2 && foreign.errorText.contains("--repair"), "\(foreign.errorText)")
        }
        let unfit = try await new.start(["store", "verify", "--repair", "--from", backup]).end()
        #expect(unfit.status == 2 && unfit.errorText.contains("store in a directory"), "\(unfit.errorText)")
        let none = try await harness.run("store", "verify", "--repair", "--from", harness.store)
        #expect(none.status == 2 && none.errorText.contains("is not a backup"), "\(none.errorText)")
        let repaired = try await harness.run("store", "verify", "--repair", "--from", backup)
        #expect(repaired.status == 0 && repaired.outputText.contains("repaired "), "\(repaired.errorText)")
        #expect(repaired.outputText.contains("all are intact, after 1 repair"), "\(repaired.outputText)")
        let absent = try await new.start(["store", "copy", backup + "/none"]).end()
        #expect(absent.status == 2 && absent.errorText.hasSuffix("/none'.\n"), "\(absent.errorText)")
        let nowhere = try await harness.run("store", "copy", harness.store)
        #expect(nowhere.status == 2 && nowhere.errorText.contains("postgres://user@host/name"), "\(nowhere.errorText)")
    }
}
