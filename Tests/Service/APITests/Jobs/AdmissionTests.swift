import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import API

/// What comes in, when there is no room, and when clients leave.
@Suite(.timeLimit(.minutes(10))) struct AdmissionTests {
    /// Asks with a body that is announced and never sent.
    private func refusal(_ live: LiveService, _ headers: [String: String] = [:]) async throws -> Reply {
        try await live.connect { connection in
            try await connection.send(
                connection.head(.post, "/v1/jobs", headers, length: 500_000, key: live.keys[.submit]))
            // 1xx would be an invitation to send it.
            return try await connection.replyHead()
        }
    }

    @Test func `quotas and the queue refuse before the body is sent`() async throws {
        try await LiveService.run {
            $0.settings.quotas.pendingJobs = 1
        } _: { live in
            let first = try await live.send(.post, "/v1/jobs", body: Data("x".utf8))
            #expect(first.status == 202)
            for headers in [[:], ["Expect": "100-continue"]] {
                let refused = try await refusal(live, headers)
                #expect(refused.status == 429 && refused["connection"] == "close" && refused["retry-after"] != nil)
            }
        }
        try await LiveService.run {
            $0.settings.intake.queue = 1
        } _: { live in
            _ = try await live.send(.post, "/v1/jobs", body: Data("x".utf8))
            let others = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let refused = try await live.send(.post, "/v1/jobs", body: Data("y".utf8), key: others[.submit])
            #expect(refused.status == 429)
            #expect(try refused.json["code"].string == "queue_full")
            #expect(try await live.spooled().count == 1)
        }
    }

    @Test func `a full queue is told, and keeps no request away from the node`() async throws {
        let checks = [("store", true, nil), ("queue", false, "3 jobs wait")] as [(String, Bool, String?)]
        let health = ServiceHealth(
            checks: checks.map { name, isRequired, problem in .init(name, isRequired: isRequired) { problem } })
        let report = await health.report()
        #expect(report.ready && report.checks["queue"] == .init(ready: false, detail: "3 jobs wait"))
        health.drain()
        #expect(await !health.report().ready)
        #expect(await !ServiceHealth(checks: [.init("store") { "it fails" }]).report().ready)
    }

    @Test func `a tenant's jobs leave places in the queue for the jobs of others`() async throws {
        let tenants = ["half", "amy", "bob", "eve"].map { TenantID(rawValue: $0) }
        try await LiveService.run {
            $0.settings.intake.queue = 24
            $0.settings.quotaExceptions = Dictionary(
                uniqueKeysWithValues: tenants.dropFirst().map { ($0, [.pendingJobs: nil]) })
        } _: { live in
            var taken: [Int] = []
            for (tenant, code) in zip(tenants, ["quota_exceeded", "queue_full", "queue_full", "queue_full"]) {
                let key = try await live.makeKeys(of: tenant)[.submit]
                taken.append(0)
                while taken.last ?? 0 < 30 {
                    let reply = try await live.send(.post, "/v1/jobs", body: Data("x".utf8), key: key)
                    guard reply.status == 202 else {
                        #expect(try reply.status == 429 && reply.json["code"].string == code)
                        break
                    }
                    taken[taken.count - 1] += 1
                }
            }
            // Half of the queue by default, and otherwise three quarters of what the tenants before left.
            #expect(taken == [12, 9, 2, 1])
        }
    }

    /// What runs out while bodies are being received.
    private enum Room: CaseIterable {
        case bodies, announcedBytes, bytes
    }

    @Test(arguments: Room.allCases)
    private func `a tenant's slow bodies leave room for the bodies of others`(room: Room) async throws {
        let size = 10_000
        try await LiveService.run {
            if room == .bodies {
                $0.settings.intake.uploads = 16
            } else {
                $0.settings.intake.spoolBytes = 16 * Int64(size)
            }
        } _: { live in
            let other = try await live.makeKeys(of: TenantID(rawValue: "bob"))[.submit]
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<24 {
                    group.addTask {
                        try await live.connect { connection in
                            let headers = room == .bytes ? ["Transfer-Encoding": "chunked"] : [:]
                            let length = room == .bytes ? nil : size
                            try await connection.send(
                                connection.head(.post, "/v1/jobs", headers, length: length, key: live.keys[.submit]))
                            if room == .bytes { try await connection.send(String(size, radix: 16) + "\r\n") }
                            try await connection.send(Data(repeating: 7, count: room == .bytes ? size : 5))
                            // Only what is refused is answered.
                            return try await connection.replyHead().status == 429
                        }
                    }
                }
                for _ in 0..<12 { #expect(try await group.next() == true) }
                for _ in 0..<30 {
                    let reply = try await live.send(.post, "/v1/jobs", body: Data("x".utf8), key: other)
                    #expect(reply.status == 202, "\(reply.text)")
                }
                #expect(room == .bytes || live.service.intake.uploads == 12)
                group.cancelAll()
                while await group.nextResult() != nil {}
            }
            try await eventually("no upload is left") { live.service.intake.uploads == 0 }
            let reply = try await live.send(.post, "/v1/jobs", body: Data("x".utf8))
            #expect(reply.status == 202)
        }
    }

    @Test func `a tenant submits so often a minute and no more`() async throws {
        try await LiveService.run {
            $0.settings.quotas.submissionsPerMinute = 3
        } _: { live in
            for number in 0..<3 {
                let reply = try await live.send(.put, "/v1/jobs/\(number)", body: Data("x".utf8))
                #expect(reply.status == 202 && reply["ratelimit-policy"] == "\"submissions\";q=3;w=60")
                let fields = try #require(reply["ratelimit"]?.wholeMatch(of: /"submissions";r=(\d);t=(\d+)/))
                // One comes back every 20 seconds.
                #expect(fields.output.1 == "\(2 - number)" && 0...60 ~= Int(fields.output.2) ?? -1)
            }
            #expect(try await live.send(.get, "/v1/jobs")["ratelimit"] == nil)
            let refused = try await live.send(.put, "/v1/jobs/4", body: Data("x".utf8))
            #expect(refused.status == 429)
            #expect(try refused.json["code"].string == "rate_limited")
            #expect((1...20).contains(refused["retry-after"].flatMap { Int($0) } ?? 0))
            #expect(refused["ratelimit"]?.hasPrefix("\"submissions\";r=0;t=") == true)
            let others = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let other = try await live.send(.put, "/v1/jobs/4", body: Data("x".utf8), key: others[.submit])
            #expect(other.status == 202)
        }
    }

    @Test func `a tenant's own quotas count for it, in place of those for all`() async throws {
        let (amy, bob, eve) = (TenantID(rawValue: "amy"), TenantID(rawValue: "bob"), TenantID(rawValue: "eve"))
        try await LiveService.run {
            $0.settings.quotas.pendingJobs = 1
            $0.settings.quotas.submissionsPerMinute = 1
            $0.settings.quotas.openUploads = 1
            $0.settings.quotaExceptions = [
                bob: [.pendingJobs: 2, .submissionsPerMinute: nil, .openUploads: 2],
                eve: [.pendingJobs: nil, .uploadBytes: 1],
                amy: [.submissionsPerMinute: nil, .pendingNotifications: 1],
            ]
            $0.worker = .nobody
        } _: { live in
            let others = [try await live.makeKeys(of: bob)[.submit], try await live.makeKeys(of: eve)[.submit]]
            var codes: [[String?]] = []
            for key in [live.keys[.submit]] + others {
                var answers: [String?] = []
                for number in 0..<3 {
                    let reply = try await live.send(.put, "/v1/jobs/\(number)", body: Data("x".utf8), key: key)
                    answers.append(try reply.status == 429 ? reply.json["code"].string : nil)
                }
                codes.append(answers)
            }
            // Nothing says how many of bob's may come in a minute, and nothing how many of eve's may wait.
            #expect(codes[0] == [nil, "rate_limited", "rate_limited"])
            #expect(codes[1] == [nil, nil, "quota_exceeded"])
            #expect(codes[2] == [nil, "rate_limited", "rate_limited"])
            let json = ["Content-Type": "application/json"]
            for (key, opened) in zip(others, [2, 0]) {
                for number in 0..<3 {
                    let reply = try await live.send(.post, "/v1/uploads", json, body: Data("{}".utf8), key: key)
                    #expect(reply.status == (number < opened ? 201 : 429), "\(reply.text)")
                }
            }
            let fires = Data(#"{"payload": {}, "trigger": {"type": "manual"}}"#.utf8)
            let key = try await live.makeKeys(of: amy)[.submit]
            for status in [201, 429] {
                let reply = try await live.send(.post, "/v1/notifications", json, body: fires, key: key)
                #expect(reply.status == status, "\(reply.text)")
            }
            let overview = try await live.send(.get, "/v1/overview", key: live.makeKeys(of: bob)[.read]).json
            #expect(overview["unfinished_jobs"]["quota"].int == 2)
        }
    }

    @Test func `a quota that is used up is told with its figures, and with a time only where that helps`() async throws
    {
        try await LiveService.run {
            $0.settings.quotas.pendingJobs = 1
            $0.settings.quotas.pendingNotifications = 1
            $0.settings.quotas.openUploads = 1
        } _: { live in
            // Jobs come last: a full queue of them refuses the others too.
            let bodies: [(path: String, body: String, words: String, passes: Bool)] = [
                ("/v1/uploads", "{}", "1 of 1 open uploads", false),
                (
                    "/v1/notifications", #"{"payload":{},"trigger":{"type":"manual"}}"#, "1 of 1 pending notifications",
                    false
                ),
                ("/v1/jobs", #"{"attachments":[{"url":"https://o.example/a.jpg"}]}"#, "1 of 1 pending jobs", true),
            ]
            for (path, body, words, passes) in bodies {
                #expect(try await live.send(.post, path, json: body, as: .submit).status / 100 == 2, "\(path)")
                let refused = try await live.send(.post, path, json: body, as: .submit)
                #expect(try refused.status == 429 && refused.json["code"].string == "quota_exceeded", "\(path)")
                #expect(try refused.json["detail"].string?.contains(words) == true, "\(refused.text)")
                #expect((refused["retry-after"] != nil) == passes && refused["ratelimit"] == nil, "\(path)")
            }
        }
    }

    @Test func `an answer that repeats an earlier one says so`() async throws {
        try await LiveService.run { live in
            let key = ["Idempotency-Key": "k"]
            let job = #"{"attachments":[{"identifier":"a","url":"https://o.example/a.jpg"}]}"#
            let notification = #"{"payload":{},"trigger":{"type":"manual"}}"#
            for (method, path, headers, body) in [
                (Method.post, "/v1/jobs", key, job), (.put, "/v1/jobs/j", [:], job),
                (.post, "/v1/notifications", key, notification), (.put, "/v1/notifications/n", [:], notification),
                (.post, "/v1/notifications/n/fire", key, ""),
            ] as [(Method, String, [String: String], String)] {
                for expected in [nil, "true", "true"] {
                    let reply = try await live.send(method, path, headers, json: body, as: .submit)
                    #expect(
                        reply.status / 100 == 2 && reply["idempotent-replayed"] == expected, "\(path): \(reply.text)")
                }
            }
        }
    }

    @Test func `a full disk, a full spool and too many uploads are said before the body is sent`() async throws {
        try await LiveService.run {
            $0.settings.intake.freeBytes = .max / 2
        } _: { live in
            let refused = try await refusal(live)
            #expect(refused.status == 507 && refused["connection"] == "close")
        }
        try await LiveService.run {
            $0.settings.intake.spoolBytes = 400_000
        } _: { live in
            let refused = try await refusal(live)
            #expect(refused.status == 429 && refused["retry-after"] != nil)
            let small = try await live.send(.post, "/v1/jobs", body: Data("x".utf8))
            #expect(small.status == 202)
        }
        try await LiveService.run {
            $0.settings.intake.uploads = 1
        } _: { live in
            try await live.connect { connection in
                try await connection.send(
                    connection.head(.post, "/v1/jobs", length: 10, key: live.keys[.submit]) + "01234")
                while live.service.intake.uploads == 0 { try await Task.sleep(for: .milliseconds(5)) }
                let refused = try await refusal(live)
                #expect(refused.status == 429)
                try await connection.send("56789")
                let taken = try await connection.reply()
                #expect(taken.status == 202)
            }
            let next = try await live.send(.post, "/v1/jobs", body: Data("x".utf8))
            #expect(next.status == 202)
        }
    }

    @Test func `uploads that are cut off anywhere leave nothing behind`() async throws {
        try await LiveService.run { live in
            let json = Data(#"{"attachments": [{"part": "a"}, {"part": "b"}]}"#.utf8)
            let multipart = SubmittingTests.multipart([
                ("a", "; filename=a", Data(repeating: 7, count: 200_000)), ("job", "", json),
                ("b", "; filename=b", Data(repeating: 8, count: 100_000)),
            ])
            let plain = Data(repeating: 9, count: 300_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    group.addTask {
                        let body = number.isMultiple(of: 2) ? multipart : plain
                        let isChunked = number.isMultiple(of: 3)
                        var random = SeededGenerator(seed: UInt64(number))
                        let length = Int.random(in: 0..<body.count - 8, using: &random)
                        var pieces: [Int] = []
                        while pieces.reduce(0, +) < length { pieces.append(.random(in: 1...40_000, using: &random)) }
                        try await live.connect { [pieces] connection in
                            var headers = number.isMultiple(of: 2) ? SubmittingTests.multipartType : [:]
                            if isChunked { headers["Transfer-Encoding"] = "chunked" }
                            try await connection.send(
                                connection.head(
                                    .post, "/v1/jobs", headers, length: isChunked ? nil : body.count,
                                    key: live.keys[.submit]))
                            var rest = body.prefix(length)
                            for count in pieces {
                                let piece = rest.prefix(count)
                                rest = rest.dropFirst(piece.count)
                                if isChunked { try await connection.send(String(piece.count, radix: 16) + "\r\n") }
                                try await connection.send(Data(piece))
                                if isChunked { try await connection.send("\r\n") }
                            }
                            await connection.abort()
                        }
                    }
                }
                try await group.waitForAll()
            }
            // The service learns of it when the connections have ended.
            try await eventually("no upload is left") { live.service.intake.uploads == 0 }
            try await eventually("nothing of them is left") { try await live.spooled().isEmpty }
            let jobs = try await live.send(.get, "/v1/jobs")
            #expect(try jobs.json["jobs"].array.isEmpty)
        }
    }
}
