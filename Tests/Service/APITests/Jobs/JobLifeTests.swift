import SatchelCore
import Foundation
import Jobs
import Stores
import TestSupport
import Testing

@testable import API

/// Jobs after they were submitted: repeated, waited for, listed, cancelled, tried again, deleted.
@Suite(.timeLimit(.minutes(10))) struct JobLifeTests {
    private let raw = Data("some bytes".utf8)

    // MARK: Repeating

    @Test func `twenty identical PUTs at once are one job with one source`() async throws {
        try await LiveService.run {
            $0.needsDirectory = true
        } _: { live in
            let raw = raw
            let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                for _ in 0..<20 { group.addTask { try await live.send(.put, "/v1/jobs/same", body: raw) } }
                var replies: [Reply] = []
                for try await reply in group { replies.append(reply) }
                return replies
            }
            #expect(replies.allSatisfy { $0.status == 202 })
            #expect(Set(replies.map(\.body)).count == 1)
            let list = try await live.send(.get, "/v1/attachments")
            #expect(try list.json["attachments"].array.count == 1)
            #expect(try await live.spooled().count == 1)
        }
    }

    @Test func `a PUT with another body takes the place of the job`() async throws {
        try await LiveService.run { live in
            let first = try await live.send(.put, "/v1/jobs/a", body: raw).json
            let options = try await live.send(.put, "/v1/jobs/a?name=x", body: raw).json
            let bytes = try await live.send(.put, "/v1/jobs/a?name=x", body: Data("others".utf8))
            let ids = try [first, options, bytes.json].map { $0["attachments"][0]["id"].string }
            #expect(Set(ids).count == 3 && bytes.status == 202)
            let same = try await live.send(.put, "/v1/jobs/a?name=x", body: Data("others".utf8))
            #expect(same.body == bytes.body)
        }
    }

    @Test func `an idempotency key repeats a POST, and refuses it with another body`() async throws {
        try await LiveService.run {
            $0.needsDirectory = true
        } _: { live in
            let key = ["Idempotency-Key": "k-1"]
            let first = try await live.send(.post, "/v1/jobs", key, body: raw)
            let again = try await live.send(.post, "/v1/jobs", key, body: raw)
            #expect(first.status == 202 && again.status == 202)
            #expect(try first.json["id"].string == again.json["id"].string)
            #expect(again["location"] == first["location"])
            let other = try await live.send(.post, "/v1/jobs", key, body: Data("others".utf8))
            #expect(other.status == 422)
            #expect(try other.json["code"].string == "idempotency_conflict")
            let new = try await live.send(.post, "/v1/jobs", body: raw)
            #expect(try new.json["id"].string != first.json["id"].string)
            #expect(try await live.spooled().count == 2)
            // Another tenant's keys are its own.
            let others = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            let foreign = try await live.send(.post, "/v1/jobs", key, body: raw, key: others[.submit])
            #expect(foreign.status == 202)
            let bad = try await live.send(.post, "/v1/jobs", ["Idempotency-Key": "a b"], body: raw)
            #expect(bad.status == 400)
        }
    }

    @Test func `the JSON of two bodies counts, not how it is written`() async throws {
        try await LiveService.run { live in
            let first = try await live.send(
                .put, "/v1/jobs/j", json: #"{"mode": "strict", "attachments": [{"url": "http://127.0.0.1/"}]}"#)
            let second = try await live.send(
                .put, "/v1/jobs/j",
                json: #"{"attachments":[{"url":"http:\/\/127.0.0.1/","name":null}],"mode":"strict","lease_ttl":300}"#)
            #expect(first.status == 202 && second.body == first.body)
        }
    }

    // MARK: Waiting

    @Test func `waiting ends with the job, or with the time`() async throws {
        try await LiveService.run {
            $0.worker = .faultCodec
        } _: { live in
            let finished = try await live.send(
                .post, "/v1/jobs", ["Prefer": "wait=20"], body: Data("fault: busy 300".utf8))
            #expect(finished.status == 200)
            #expect(try finished.json["state"].string == "delivered")
            let late = try await live.send(
                .post, "/v1/jobs", ["Prefer": "wait=1"], body: Data("fault: late-main-sleep".utf8))
            #expect(late.status == 202 && late["preference-applied"] == "wait=1")
            let running = try late.json
            #expect(["pending", "running"].contains(running["state"].string))
            let id = try #require(running["id"].string)
            let ended = try await live.send(.delete, "/v1/jobs/\(id)")
            #expect(ended.status == 200)
            for header in ["wait=x", "respond-async", "wait=-1", ""] {
                let reply = try await live.send(.post, "/v1/jobs", ["Prefer": header], body: raw)
                #expect(reply["preference-applied"] == nil, "\(header)")
            }
        }
    }

    @Test func `whoever waits is answered when the job ends, not at the next look at the record`() async throws {
        try await LiveService.run {
            $0.worker = .faultCodec
        } _: { live in
            /// The median of the times until the answer.
            func median(_ count: Int, _ ask: (Int) async throws -> Reply) async throws -> Duration {
                var times: [Duration] = []
                for number in 0..<count {
                    let start = ContinuousClock.now
                    let reply = try await ask(number)
                    times.append(ContinuousClock.now - start)
                    #expect(reply.status == 200, "\(reply.text)")
                    #expect(try reply.json["state"].string == "delivered")
                }
                return times.sorted()[count / 2]
            }
            let wait = ["Prefer": "wait=20"]
            let new = try await median(9) {
                try await live.send(.post, "/v1/jobs", wait, body: Data("fault: echo \($0)".utf8))
            }
            let replaced = try await median(9) {
                try await live.send(.put, "/v1/jobs/w", wait, body: Data("fault: echo w\($0)".utf8))
            }
            let deleted = try await median(9) { number in
                _ = try await live.send(.delete, "/v1/jobs/w")
                return try await live.send(.put, "/v1/jobs/w", wait, body: Data("fault: echo d\(number)".utf8))
            }
            for (name, time) in [("new", new), ("replaced", replaced), ("deleted", deleted)] {
                #expect(time < .milliseconds(950), "\(name); a look is taken every second")
            }
        }
    }

    // MARK: Ending

    @Test func `deleting cancels what is not finished, and releases what is`() async throws {
        try await LiveService.run { live in
            let submitted = try await live.send(.put, "/v1/jobs/d", body: raw)
            #expect(submitted.status == 202)
            let cancelled = try await live.send(.delete, "/v1/jobs/d", as: .submit)
            #expect(cancelled.status == 200)
            #expect(try cancelled.json["state"].string == "cancelled")
            #expect(try cancelled.json["counts"]["cancelled"].int == 1)
            #expect(live.reports.list.map(\.state) == [.cancelled])
            let again = try await live.send(.put, "/v1/jobs/d", body: raw)
            #expect(again.status == 200, "finished, whatever became of it")
            let deleted = try await live.send(.delete, "/v1/jobs/d")
            #expect(deleted.status == 204 && deleted.body.isEmpty)
            for method in [Method.get, .delete] {
                let gone = try await live.send(method, "/v1/jobs/d")
                #expect(gone.status == 404)
            }
        }
    }

    @Test func `a cancelled job can be tried again, one that is pending or unknown can't`() async throws {
        try await LiveService.run { live in
            _ = try await live.send(.put, "/v1/jobs/r", body: raw)
            let early = try await live.send(.post, "/v1/jobs/r/retry")
            #expect(early.status == 409)
            #expect(try early.json["code"].string == "retry_unneeded")
            _ = try await live.send(.delete, "/v1/jobs/r")
            let retried = try await live.send(.post, "/v1/jobs/r/retry")
            #expect(retried.status == 202 && retried["location"] == "/v1/jobs/r")
            #expect(try retried.json["state"].string == "pending")
            let unknown = try await live.send(.post, "/v1/jobs/none/retry")
            #expect(unknown.status == 404)
        }
    }

    @Test func `a callback is replayed where there is one, once the job is finished`() async throws {
        try await LiveService.run { live in
            _ = try await live.send(.put, "/v1/jobs/c?callback=http://127.0.0.1:9/hook", body: raw)
            let early = try await live.send(.post, "/v1/jobs/c/callback")
            #expect(try early.json["code"].string == "not_finished")
            _ = try await live.send(.delete, "/v1/jobs/c")
            let replayed = try await live.send(.post, "/v1/jobs/c/callback")
            #expect(replayed.status == 202)
            _ = try await live.send(.put, "/v1/jobs/n", body: raw)
            _ = try await live.send(.delete, "/v1/jobs/n")
            let without = try await live.send(.post, "/v1/jobs/n/callback")
            #expect(without.status == 409)
            #expect(try without.json["code"].string == "no_callback")
        }
    }

    // MARK: Looking

    @Test func `lists come in pages, narrowed by state`() async throws {
        try await LiveService.run { live in
            for id in ["1", "2", "3"] { _ = try await live.send(.put, "/v1/jobs/\(id)", body: raw) }
            _ = try await live.send(.delete, "/v1/jobs/2")
            for path in ["/v1/jobs", "/v1/attachments"] {
                let name = String(path.dropFirst(4))
                let first = try await live.send(.get, path + "?limit=2", as: .read).json
                #expect(first.keys == [name, "next"] && first[name].array.count == 2)
                let cursor = try #require(first["next"].string)
                let second = try await live.send(.get, path + "?limit=2&cursor=\(cursor)").json
                #expect(second[name].array.count == 1 && second["next"].isNull)
                let ids = (first[name].array + second[name].array).compactMap { $0["id"].string }
                #expect(Set(ids).count == 3)
                let cancelled = try await live.send(.get, path + "?state=cancelled").json
                #expect(cancelled[name].array.count == 1)
                for query in ["limit=0", "limit=101", "limit=x", "state=done", "cursor=!", "page=2", "limit=1&limit=2"]
                {
                    let reply = try await live.send(.get, "\(path)?\(query)")
                    #expect(reply.status == 400, "\(query)")
                }
            }
        }
    }

    @Test func `an attachment is looked at and deleted by itself, and nobody else's`() async throws {
        try await LiveService.run {
            $0.worker = .codec
        } _: { live in
            let job = try await live.send(
                .put, "/v1/jobs/p", ["Prefer": "wait=20"], body: SubmittingTests.media(SubmittingTests.photo)
            ).json
            let id = try #require(job["attachments"][0]["id"].string)
            let document = try await live.send(.get, "/v1/attachments/\(id)", as: .read).json
            #expect(document["job_id"].string == "p" && document["finished_at"].string != nil)
            #expect(
                document["renditions"]["main"]["url"].string
                    == job["attachments"][0]["renditions"]["main"]["url"].string)
            let images = try await live.send(.get, "/v1/attachments?kind=image").json
            let videos = try await live.send(.get, "/v1/attachments?kind=video").json
            #expect(images["attachments"].array.count == 1 && videos["attachments"].array.isEmpty)
            let others = try await live.makeKeys(of: TenantID(rawValue: "bob"))
            for (method, path) in [
                (Method.get, "/v1/attachments/\(id)"), (.delete, "/v1/attachments/\(id)"), (.get, "/v1/jobs/p"),
                (.delete, "/v1/jobs/p"), (.post, "/v1/jobs/p/retry"), (.get, "/v1/jobs/p/events"),
            ] {
                let reply = try await live.send(method, path, key: others[.admin])
                #expect(reply.status == 404, "\(path)")
            }
            let deleted = try await live.send(.delete, "/v1/attachments/\(id)")
            #expect(deleted.status == 204)
            let gone = try await live.send(.get, "/v1/attachments/\(id)")
            #expect(gone.status == 404)
            #expect(try await live.store.blobs.list(after: nil, limit: 10).elements.isEmpty)
        }
    }

    @Test func `profiles are listed with what they promise, and the limits of sources`() async throws {
        try await LiveService.run { live in
            let reply = try await live.send(.get, "/v1/profiles", as: .read).json
            #expect(reply["profiles"].array.compactMap { $0["name"].string } == Profile.builtIn.map(\.name))
            let notification = reply["profiles"][0]
            #expect(notification["deadline"].double == 30 && notification["image"]["cap"].int == 10_000_000)
            #expect(reply["profiles"].array.allSatisfy { $0.keys == notification.keys })
            #expect(reply["limits"]["clip_bytes"].int == 1_000_000_000)
        }
    }
}
