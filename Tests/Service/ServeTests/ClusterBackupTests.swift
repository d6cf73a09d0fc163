import Foundation
import Glibc
import PostgresTestSupport
import ServiceTestSupport
import TestSupport
import Testing

/// A service on PostgreSQL and a bucket is backed up by what these bring, and is a service again elsewhere, by the commands in docs/operate.
@Suite(.needs(.ceph), .timeLimit(.minutes(10))) struct ClusterBackupTests {
    /// The commands of docs/operate/backup.md in their order: the first repairs, the second backs up, the third restores.
    private static func commands() throws -> [String] {
        let page = try String(
            contentsOf: Repository.root.appending(path: "docs/operate/backup.md"), encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## Back up many nodes\n").last)
        let blocks = section.components(separatedBy: "```sh not-run\n").dropFirst().compactMap {
            $0.components(separatedBy: "```\n").first
        }
        try #require(blocks.count == 3)
        return blocks
    }

    /// Carries commands out with the places of a test in those of the page.
    private static func follow(
        _ commands: String, by program: Program, backup: String
    ) async throws -> ProgramResult {
        let environment = program.environment
        let sync = Repository.root.appending(path: "Tests/Support/s3/sync.py").path(percentEncoded: false)
        let script =
            commands
            .replacing("satchel store", with: program.executable.path(percentEncoded: false) + " store")
            .replacing("aws s3 sync", with: "python3 -B \(sync)")
            .replacing("s3://media/satchel", with: try #require(environment["SATCHEL_BLOBS"]))
            .replacing("/backup/", with: backup + "/")
        let bash = Program.tool("bash")
        let shell = Program(
            bash.executable,
            environment: environment.merging(bash.environment) { $1 }.merging([
                "AWS_ENDPOINT_URL_S3": try #require(environment["SATCHEL_S3_ENDPOINT"]), "AWS_REGION": "us-east-1",
            ]) { $1 }, in: program.directory)
        return try await shell.start(["-c", "set -e\n" + script]).end()
    }

    /// What a service had done, and what waited in it.
    private struct Work {
        /// The paths of renditions, as their readers have them, and what was there.
        var contents: [String: Data] = [:]
        /// Jobs that came to their end.
        var done: [String] = []
        /// Jobs that wait, with sources of their own.
        var waiting: [String] = []

        /// Has it done by a node whose only codec is busy in the end.
        init(at node: ServiceProcess) async throws {
            for number in 0..<6 {
                let answer = try await Self.submit("fault: echo \(number)\n", to: node, ["Prefer": "wait=20"])
                try #require(answer.status == 200, "\(answer.text)")
                let job = try answer.json
                done.append(try #require(job["id"] as? String))
                let attachments = try #require(job["attachments"] as? [[String: Any]])
                let renditions = try #require(attachments.first?["renditions"] as? [String: [String: Any]])
                let path = try #require((renditions["main"]?["url"] as? String).flatMap { URL(string: $0)?.path() })
                contents[path] = try await node.get(path).data
            }
            for source in ["fault: sleep\n"] + (0..<4).map({ "fault: echo w\($0)\n" }) {
                let answer = try await Self.submit(source, to: node, ["Prefer": "respond-async"])
                try #require(answer.status == 202, "\(answer.text)")
                waiting.append(try #require(try answer.json["id"] as? String))
            }
            // It never ends.
            waiting.removeFirst()
        }

        private static func submit(
            _ source: String, to node: ServiceProcess, _ headers: [String: String]
        ) async throws -> ServiceAnswer {
            try await node.send(
                "POST", "/v1/jobs?profile=archive", headers.merging(["Content-Type": "image/jpeg"]) { $1 },
                body: Data(source.utf8))
        }

        /// A node has all of it: what was done is read by the old tokens, and what waited is done.
        func expectWhole(at node: ServiceProcess) async throws {
            for (path, data) in contents {
                let content = try await node.get(path)
                #expect(content.status == 200 && content.data == data, "\(content.text)")
            }
            for id in waiting {
                let job = try await node.finished(id)
                #expect(job["state"] as? String == "delivered", "\(job)")
            }
        }
    }

    /// The program with a codec that does as its source says.
    private static func program(of harness: borrowing ServiceHarness, _ settings: [String: String]) throws -> Program {
        let codec = try Repository.product("fault-codec").path(percentEncoded: false)
        return Program(
            harness.satchel.executable,
            environment: harness.satchel.environment.merging(["SATCHEL_CODEC": codec]) { $1 }.merging(settings) { $1 },
            in: harness.home.url)
    }

    /// Removes jobs that were done with all that they have, and cancels others, whose sources nobody needs then.
    private static func delete(done: [String], waiting: [String], at node: ServiceProcess) async throws {
        for (ids, status) in [(done, 204), (waiting, 200)] {
            for id in ids { #expect(try await node.send("DELETE", "/v1/jobs/\(id)").status == status) }
        }
    }

    private static let serve = ["serve", "--listen", "127.0.0.1:0"]

    @Test func `a dump, and the objects that are copied after it, are a store again, whatever was deleted meanwhile`()
        async throws
    {
        let harness = try ServiceHarness(.cluster)
        let key = try await harness.makeKey("--name", "backend")
        let backup = harness.home.path + "/backup"
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
        let old = try Self.program(of: harness, ["SATCHEL_GARBAGE_DELAY": "3600"])
        let first = try await ServiceProcess(old.start(Self.serve + ["--codecs", "1"]), key: key)
        let work = try await Work(at: first)

        let steps = try Self.commands()[1].split(separator: "\n", maxSplits: 1).map { String($0) }
        #expect(steps.count == 2 && steps[0].hasPrefix("pg_dump "))
        let dumped = try await Self.follow(steps[0], by: old, backup: backup)
        #expect(dumped.status == 0, "\(dumped.errorText)")
        try await Self.delete(done: [work.done[0]], waiting: [work.waiting[0]], at: first)
        let copied = try await Self.follow(steps[1], by: old, backup: backup)
        #expect(copied.status == 0, "\(copied.errorText)")
        _ = try await first.stop(SIGKILL)

        let new = try Self.program(
            of: harness,
            ServiceHarness.cluster().merging(["SATCHEL_SPOOL": harness.home.path + "/node"]) { $1 })
        let restored = try await Self.follow(try Self.commands()[2], by: new, backup: backup)
        #expect(restored.status == 0, "\(restored.errorText)")
        #expect(restored.outputText.contains("all are intact"), "\(restored.outputText)")
        let second = try await ServiceProcess(new.start(Self.serve + ["--codecs", "3"]), key: key)
        try await work.expectWhole(at: second)
        _ = try await second.stop(SIGKILL)
    }

    @Test func `a database that was set back gets from the bucket's versions what was deleted since`() async throws {
        let harness = try ServiceHarness(.cluster)
        let key = try await harness.makeKey("--name", "backend")
        let backup = harness.home.path + "/backup"
        try FileManager.default.createDirectory(atPath: backup, withIntermediateDirectories: true)
        let bucket = [
            "SATCHEL_BLOBS": "s3://\(S3Gateway.versionedBucket)/\(UUID().uuidString.lowercased())",
            "SATCHEL_GARBAGE_DELAY": "0",
        ]
        let old = try Self.program(of: harness, bucket)
        let first = try await ServiceProcess(old.start(Self.serve + ["--codecs", "1"]), key: key)
        let work = try await Work(at: first)
        let dumped = try await Self.follow(
            "pg_dump --format=custom --file=/backup/satchel.dump \"$SATCHEL_STORE\"", by: old, backup: backup)
        #expect(dumped.status == 0, "\(dumped.errorText)")
        try await Self.delete(done: Array(work.done[..<2]), waiting: [work.waiting[0]], at: first)
        _ = try await first.stop(SIGKILL)

        // As it was at the dump, which says the same as a recovery to that moment.
        let earlier = try await onThread {
            let server = try PostgresServer.shared()
            return server.url(try server.makeDatabase())
        }
        let new = try Self.program(of: harness, bucket.merging(["SATCHEL_STORE": earlier]) { $1 })
        let restored = try await Self.follow(
            "pg_restore --dbname=\"$SATCHEL_STORE\" /backup/satchel.dump", by: new, backup: backup)
        #expect(restored.status == 0, "\(restored.errorText)")
        let told = try await new.start(["store", "verify"]).end()
        #expect(told.status == 1 && told.outputText.contains("missing "), "\(told.outputText)\(told.errorText)")
        let repaired = try await Self.follow(try Self.commands()[0], by: new, backup: backup)
        #expect(repaired.status == 0 && repaired.outputText.contains("all are intact"), "\(repaired.errorText)")
        let second = try await ServiceProcess(new.start(Self.serve + ["--codecs", "3"]), key: key)
        try await work.expectWhole(at: second)
        _ = try await second.stop(SIGKILL)
    }
}
