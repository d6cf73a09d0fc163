import Foundation
import Glibc
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct SharedStoreTests {
    @Test(.hasCases(for: .ceph), arguments: StoreKind.allCases)
    func `the commands work beside a running service, each on its own things`(kind: StoreKind) async throws {
        let harness = try ServiceHarness(kind)
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 0..<12 { try harness.file("in/\(number).jpg", photo + Data("\(number)".utf8)) }
        let server = try await harness.serve("--fetch-allow", "127.0.0.1")
        for number in 0..<6 {
            #expect(try await server.submit("job-\(number)", origin.url("/\(number).jpg")).status == 202)
        }
        let batch = try harness.satchel.start(["batch", "in", "--format", "jsonl"])
        for number in 6..<12 {
            #expect(try await server.submit("job-\(number)", origin.url("/\(number).jpg")).status == 202)
        }
        let result = try batch.wait()
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.split(separator: "\n").count { $0.contains("\"state\":\"delivered\"") } == 12)
        for number in 0..<12 {
            #expect(try await server.finished("job-\(number)")["state"] as? String == "delivered")
        }
        #expect(origin.requests.count == 12)
        let own = try await harness.run("list", "--format", "csv").outputText.split(separator: "\n")
        #expect(own.count == 13)
        let service = try await harness.run("list", "--tenant", "default", "--format", "csv").outputText.split(
            separator: "\n")
        #expect(service.count == 13)
        // A sweep beside it takes nothing away.
        #expect(try await harness.run("store", "gc").status == 0)
        #expect(try await harness.run("store", "verify").status == 0)
        let id = try #require(service.last?.split(separator: ",").first.map { String($0) })
        #expect(try await harness.run("rm", id, "--tenant", "default").status == 0)
        #expect(try await server.get("/v1/attachments/\(id)").status == 404)
        #expect(try await harness.run("rm", id).status == 4)
    }

    @Test(.hasCases(for: .ceph), arguments: StoreKind.allCases)
    func `two services on one store share the work`(kind: StoreKind) async throws {
        let harness = try ServiceHarness(kind)
        let origin = try await LocalOrigin(LocalOrigin.photographs)
        let key = try await harness.makeKey()
        let first = try await harness.serve("--fetch-allow", "127.0.0.1", "--codecs", "1", key: key)
        let second = try await harness.serve("--fetch-allow", "127.0.0.1", "--codecs", "1", key: key)
        for number in 0..<20 {
            let server = number % 2 == 0 ? first : second
            #expect(try await server.submit("job-\(number)", origin.url("/slow/0.3/\(number).jpg")).status == 202)
        }
        for number in 0..<20 {
            // Either knows all of them.
            let server = number % 2 == 0 ? second : first
            #expect(try await server.finished("job-\(number)")["state"] as? String == "delivered")
        }
        #expect(origin.requests.count == 20, "something was done twice")
        func shares() throws -> [Int] {
            try [first, second].map { server in try server.log.count { $0["message"] as? String == "job" } }
        }
        // Its line follows a job's record.
        try await eventually("each is told once") { try shares().reduce(0, +) >= 20 }
        let told = try shares()
        #expect(told.reduce(0, +) == 20 && told.allSatisfy { $0 > 0 }, "\(told)")
        // What one leaves behind when it is killed the other finishes.
        for number in 20..<24 {
            _ = try await first.submit("job-\(number)", origin.url("/slow/1/\(number).jpg"))
        }
        try await eventually("they are underway") { origin.requests.count == 24 }
        first.signal(SIGKILL)
        for number in 20..<24 {
            #expect(try await second.finished("job-\(number)")["state"] as? String == "delivered")
        }
    }

    @Test(.hasCases(for: .ceph), arguments: StoreKind.allCases)
    func `whenever it is killed, what was acknowledged is delivered exactly once`(kind: StoreKind) async throws {
        let harness = try ServiceHarness(kind)
        let key = try await harness.makeKey("--role", "admin")
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        var acknowledged: Set<String> = []
        var server = try await harness.serve(key: key)
        var random = SeededGenerator()
        let all = Sweep.count(200, else: 100)
        var next = 0
        var kills = 0
        while next < all {
            let batch = (next..<min(next + 10, all)).map { "job-\($0)" }
            let target = server.requester
            let isKilled = kills < 10 && Bool.random(using: &random)
            let delay = Duration.milliseconds(Int.random(in: 5...150, using: &random))
            let taken = await withTaskGroup(of: String?.self) { group in
                for id in batch {
                    // Different pictures: identical ones would be worked on once.
                    let body = photo + Data(id.utf8)
                    group.addTask {
                        let answer = try? await target.send(
                            "PUT", "/v1/jobs/\(id)?profile=message", ["Content-Type": "image/jpeg"], body: body,
                            timeout: 10)
                        return answer?.status == 202 || answer?.status == 200 ? id : nil
                    }
                }
                if isKilled {
                    try? await Task.sleep(for: delay)
                    server.signal(SIGKILL)
                }
                var taken: Set<String> = []
                for await id in group { if let id { taken.insert(id) } }
                return taken
            }
            acknowledged.formUnion(taken)
            if isKilled {
                kills += 1
                _ = try await server.program.end()
                server = try await harness.serve(key: key)
            }
            // What got no answer is sent again, as a client would: the same job, whether it was taken or not.
            if taken.count == batch.count { next += 10 }
        }
        #expect(kills > 0 && acknowledged.count == all)
        for id in acknowledged.sorted() {
            let job = try await server.finished(id, within: patience)
            #expect(job["state"] as? String == "delivered", "\(id): \(job)")
            #expect((job["attachments"] as? [Any])?.count == 1)
        }
        let attachments = try await harness.run("list", "--tenant", "default", "--limit", "0", "--format", "csv")
            .outputText
        #expect(attachments.split(separator: "\n").count == all + 1)
        #expect(try await server.stop().status == 0)
        #expect(try await harness.run("store", "gc").status == 0)
        let verified = try await harness.run("store", "verify")
        #expect(verified.status == 0, "\(verified.outputText)")
        // Alone now, a sweep takes whatever nobody refers to; in a bucket it waits until it is old, as somebody may be at it.
        #expect(kind == .cluster || !verified.outputText.contains("unused"), "\(verified.outputText)")
        for place in ["spool", "staging"] {
            let left = try FileManager.default.contentsOfDirectory(atPath: harness.store + "/" + place)
            // What was cut off while it was received waits beside others as unused objects do.
            #expect(left.allSatisfy { kind == .cluster && $0.hasSuffix(".part") }, "\(place): \(left)")
        }
    }
}
