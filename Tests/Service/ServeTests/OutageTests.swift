import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// What accepted jobs come to where the bucket is away for a while, or a node's disk is full.
@Suite(.needs(.ceph), .timeLimit(.minutes(10))) struct OutageTests: ~Copyable {
    private let harness: ServiceHarness
    private let key: String

    init() async throws {
        let harness = try ServiceHarness(.cluster)
        key = try await harness.makeKey("--role", "admin")
        self.harness = harness
    }

    /// A node with settings of its own.
    private func start(_ environment: [String: String], _ arguments: String...) async throws -> ServiceProcess {
        let program = Program(
            harness.satchel.executable, environment: harness.satchel.environment.merging(environment) { $1 },
            in: harness.home.url)
        return try await ServiceProcess(
            program.start(["serve", "--listen", "127.0.0.1:0", "--fetch-allow", "127.0.0.1"] + arguments), key: key)
    }

    private static func postponed(on node: ServiceProcess) async throws -> Int {
        let text = try await node.get("/metrics").text
        let line = text.split(separator: "\n").first {
            $0.contains("jobs_postponed_total") && $0.contains("reason=\"store\"")
        }
        return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) } ?? 0
    }

    @Test func `all jobs that were accepted before the bucket was away are delivered when it is back`() async throws {
        let bucket = try await AbsentBucket()
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let node = try await start(["SATCHEL_S3_ENDPOINT": bucket.endpoint], "--codecs", "1")
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 0..<20 {
            let answer = try await node.send(
                "PUT", "/v1/jobs/body-\(number)?profile=message", ["Content-Type": "image/jpeg"],
                body: photo + Data("\(number)".utf8))
            #expect(answer.status == 202)
        }
        for number in 0..<10 {
            let other = ["identifier": "other", "url": origin.url("/slow/1/other-\(number).jpg")]
            let body =
                [
                    "mode": "strict", "profile": "message",
                    "attachments": [["identifier": "photo", "url": origin.url("/slow/2/\(number).jpg")], other],
                ] as [String: Any]
            let answer = try await node.send(
                "PUT", "/v1/jobs/url-\(number)", ["Content-Type": "application/json"],
                body: JSONSerialization.data(withJSONObject: body))
            #expect(answer.status == 202)
        }
        bucket.leave()
        try await eventually("several jobs have met the outage") { try await Self.postponed(on: node) >= 10 }
        bucket.comeBack()
        for id in (0..<20).map({ "body-\($0)" }) + (0..<10).map({ "url-\($0)" }) {
            let job = try await node.finished(id)
            #expect(job["state"] as? String == "delivered", "\(id): \(job)")
        }
    }

    @Test func `jobs that a node with a full disk can't take are delivered by another`() async throws {
        let home = harness.home.path
        try await MemoryDisk.mounted(at: harness.home.url.appending(path: "small"), options: "size=8m") { disk in
            let spool = disk.url.path(percentEncoded: false)
            let front = try await start(["SATCHEL_SPOOL": home + "/front"], "--role", "api")
            let full = try await start(["SATCHEL_SPOOL": spool])
            // All that is left.
            try Data().write(to: disk.url.appending(path: "filler"))
            let filler = try FileHandle(forWritingTo: disk.url.appending(path: "filler"))
            while (try? filler.write(contentsOf: Data(count: 4096))) != nil {}
            let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
            for number in 0..<6 {
                let answer = try await front.send(
                    "PUT", "/v1/jobs/job-\(number)?profile=message", ["Content-Type": "image/jpeg"],
                    body: photo + Data("\(number)".utf8))
                #expect(answer.status == 202)
            }
            try await eventually("the full node has tried") { try await Self.postponed(on: full) >= 1 }
            for number in 0..<6 {
                #expect(try await front.get("/v1/jobs/job-\(number)").json["state"] as? String != "failed")
            }
            let idle = try await start(["SATCHEL_SPOOL": home + "/idle"])
            for number in 0..<6 {
                #expect(try await idle.finished("job-\(number)")["state"] as? String == "delivered")
            }
        }
    }

    @Test func `a job larger than a node's whole disk ends at once, and others go on`() async throws {
        let origin = try await LocalOrigin { request in
            LocalOrigin.Answer(body: request.path == "/large" ? Data(count: 12 << 20) : Data("no media".utf8))
        }
        try await MemoryDisk.mounted(at: harness.home.url.appending(path: "small"), options: "size=8m") { disk in
            let node = try await start(
                ["SATCHEL_SPOOL": disk.url.path(percentEncoded: false), "SATCHEL_INTAKE_FREE_BYTES": "1048576"])
            #expect(try await node.submit("large", origin.url("/large")).status == 202)
            let job = try await node.finished("large")
            let attachment = try #require((job["attachments"] as? [[String: Any]])?.first)
            #expect((attachment["error"] as? [String: Any])?["code"] as? String == "store_full", "\(job)")
            #expect(try await node.submit("small", origin.url("/small")).status == 202)
            let small = try #require((try await node.finished("small")["attachments"] as? [[String: Any]])?.first)
            #expect((small["error"] as? [String: Any])?["code"] as? String == "unrecognized_type")
        }
    }
}
