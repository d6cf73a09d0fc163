import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import Testing

@testable import API

/// Following a job by server-sent events.
@Suite(.timeLimit(.minutes(10))) struct EventStreamTests {
    /// One event as it came.
    private struct Event {
        var name = ""
        var id: String?
        var data = ""

        var json: Tree { get throws { Tree(try JSONSerialization.jsonObject(with: Data(data.utf8))) } }
    }

    /// Reads events from a chunked answer, one at a time.
    private final class Reader {
        private let connection: Connection
        private var text = ""

        init(_ connection: Connection) {
            self.connection = connection
        }

        /// Nil at the end of the answer.
        func next() async throws -> Event? {
            while true {
                if let end = text.range(of: "\n\n") {
                    let lines = text[..<end.lowerBound].split(separator: "\n")
                    text = String(text[end.upperBound...])
                    var event = Event()
                    for line in lines {
                        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                        let value = parts.count > 1 ? String(parts[1].dropFirst()) : ""
                        switch parts[0] {
                        case "event": event.name = value
                        case "id": event.id = value
                        case "data": event.data += value
                        default: break
                        }
                    }
                    if !event.name.isEmpty { return event }
                } else {
                    guard let piece = try await connection.chunk() else { return nil }
                    text += String(decoding: piece, as: UTF8.self)
                }
            }
        }

        func rest() async throws -> [Event] {
            var events: [Event] = []
            while let event = try await next() { events.append(event) }
            return events
        }
    }

    private func follow<Result>(
        _ live: LiveService, _ id: String, after last: String? = nil, _ body: (Reply, Reader) async throws -> Result
    ) async throws -> Result {
        try await live.connect { connection in
            let headers = last.map { ["Last-Event-ID": $0] } ?? [:]
            try await connection.send(
                connection.head(.get, "/v1/jobs/\(id)/events", headers, key: live.keys[.read]))
            return try await body(connection.replyHead(), Reader(connection))
        }
    }

    @Test func `a job is followed from a snapshot to its end`() async throws {
        try await LiveService.run {
            $0.worker = .faultCodec
        } _: { live in
            _ = try await live.send(.put, "/v1/jobs/e", body: Data("fault: busy 400".utf8))
            let events = try await follow(live, "e") { reply, reader in
                #expect(reply.status == 200 && reply["content-type"] == "text/event-stream")
                return try await reader.rest()
            }
            #expect(events.first?.name == "job" && events.first?.id == nil)
            #expect(events.last?.name == "finished" && events.last?.id == "end-1")
            #expect(events.count { $0.name == "finished" } == 1)
            #expect(events.contains { $0.name == "accepted" })
            #expect(
                try events.allSatisfy {
                    try $0.name == "job" || $0.name == "finished" || $0.json["job_id"].string == "e"
                })
            let last = try #require(events.last).json
            #expect(last["state"].string == "delivered")
            let document = try await live.send(.get, "/v1/jobs/e")
            #expect(events.last?.data == document.text)
        }
    }

    @Test func `the story of a photograph from a URL is told in its order`() async throws {
        try await LocalOrigin.run { origin in
            try await LiveService.run {
                $0.worker = .codec
                // Nobody has it before it is followed.
                $0.startsWorking = false
            } _: { live in
                _ = try await live.send(
                    .put, "/v1/jobs/p",
                    json: #"{"attachments": [{"identifier": "one", "url": "\#(origin.url("/jpeg/coffee.jpg"))"}]}"#)
                let events = try await follow(live, "p") { reply, reader in
                    #expect(reply.status == 200)
                    live.startWorking()
                    return try await reader.rest()
                }
                let story = try events.map { event in
                    switch event.name {
                    case "stage": "stage \(try event.json["name"].string ?? "")"
                    case "rendition": "rendition \(try event.json["role"].string ?? "")"
                    default: event.name
                    }
                }
                var expected = ["job", "accepted", "started", "progress", "stage fetch", "stage identify"]
                // Each when it is sealed: either may be first.
                let made = Set(story.filter { $0.hasPrefix("rendition") })
                #expect(made == ["rendition thumbnail", "rendition main"])
                expected += ["rendition", "rendition", "stage commit", "finished"]
                let plot = story.map { $0.hasPrefix("rendition") ? "rendition" : $0 }
                // Of the progress there may be more.
                #expect(plot.filter { $0 != "progress" } == expected.filter { $0 != "progress" })
                #expect(story.firstIndex(of: "progress").map { $0 > 2 && $0 < 6 } == true)
                let numbers = events.compactMap(\.id).dropLast().map { Int($0.split(separator: "-")[1]) ?? 0 }
                #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
                let document = try #require(events.last).json
                let attachment = document["attachments"][0]
                for event in events where event.name == "rendition" {
                    let made = try event.json
                    let rendition = attachment["renditions"][try #require(made["role"].string)]
                    #expect(made["attachment_id"].string == attachment["id"].string)
                    #expect(made["bytes"].int == rendition["bytes"].int && made["width"].int == rendition["width"].int)
                    #expect(made["media_type"].string == rendition["media_type"].string)
                }
                let received = try #require(events.last { $0.name == "progress" }).json
                let total = try #require(received["total"].int)
                #expect(total == attachment["source"]["bytes"].int && (1...total) ~= (received["received"].int ?? 0))
            }
        }
    }

    @Test func `a job under the id of a deleted one has a story of its own`() async throws {
        try await LiveService.run {
            $0.worker = .faultCodec
        } _: { live in
            for round in 1...3 {
                let body = Data("fault: busy \(100 + round)".utf8)
                _ = try await live.send(.put, "/v1/jobs/again", body: body)
                let events = try await follow(live, "again") { _, reader in try await reader.rest() }
                let last = try #require(events.last)
                #expect(last.name == "finished")
                #expect(try last.json["state"].string == "delivered", "round \(round)")
                #expect(events.contains { $0.name == "rendition" }, "round \(round)")
                let deleted = try await live.send(.delete, "/v1/jobs/again")
                #expect(deleted.status == 204)
            }
        }
    }

    @Test func `a finished job is a snapshot and its end, and whoever heard that needs not come back`() async throws {
        try await LiveService.run { live in
            _ = try await live.send(.put, "/v1/jobs/f", body: Data("x".utf8))
            _ = try await live.send(.delete, "/v1/jobs/f")
            let events = try await follow(live, "f") { _, reader in try await reader.rest() }
            #expect(events.map(\.name) == ["job", "finished"])
            let again = try await follow(live, "f", after: "end-1") { reply, _ in reply.status }
            #expect(again == 204)
            let unknown = try await follow(live, "none") { reply, _ in reply.status }
            #expect(unknown == 404)
        }
    }

    @Test func `a follower resumes where it was, and gets a snapshot where that is forgotten`() async throws {
        try await LiveService.run { live in
            _ = try await live.send(.put, "/v1/jobs/r", body: Data("x".utf8))
            let heard = try await follow(live, "r") { _, reader in
                let snapshot = try await reader.next()
                #expect(snapshot?.name == "job")
                return try await reader.next()
            }
            #expect(heard?.name == "accepted")
            let id = try #require(heard?.id)
            // Nobody works here: what comes next is the end.
            async let resumed = follow(live, "r", after: id) { _, reader in try await reader.rest() }
            async let forgotten = follow(live, "r", after: "00000000-1") { _, reader in try await reader.rest() }
            try await Task.sleep(for: .milliseconds(100))
            _ = try await live.send(.delete, "/v1/jobs/r")
            #expect(try await resumed.map(\.name) == ["finished"])
            #expect(try await forgotten.map(\.name) == ["job", "accepted", "finished"])
        }
    }

    @Test func `a follower who hears nothing is sent a comment now and then`() async throws {
        try await LiveService.run {
            $0.settings.heartbeat = .milliseconds(100)
        } _: { live in
            _ = try await live.send(.put, "/v1/jobs/h", body: Data("x".utf8))
            try await live.connect { connection in
                try await connection.send(connection.head(.get, "/v1/jobs/h/events", key: live.keys[.read]))
                _ = try await connection.replyHead()
                var comments = 0
                while comments < 2, let piece = try await connection.chunk() {
                    comments += String(decoding: piece, as: UTF8.self).split(separator: "\n").count {
                        $0.hasPrefix(":")
                    }
                }
                #expect(comments >= 2)
            }
        }
    }

    @Test func `a job that ends in another process ends here too, and so does one that is deleted`() async throws {
        try await LiveService.run { live in
            for id in ["o", "d"] { _ = try await live.send(.put, "/v1/jobs/\(id)", body: Data("x".utf8)) }
            async let other = follow(live, "o") { _, reader in try await reader.rest() }
            async let deleted = follow(live, "d") { _, reader in try await reader.rest() }
            async let waited = live.send(.get, "/v1/jobs/o", ["Prefer": "wait=20"])
            try await Task.sleep(for: .milliseconds(100))
            // Behind the service's back.
            _ = try await live.store.records.cancel(JobID(rawValue: "o"), of: live.tenant)
            _ = try await live.store.records.deleteJob(JobID(rawValue: "d"), of: live.tenant)
            #expect(try await other.last?.name == "finished")
            #expect(try await deleted.map(\.name) == ["job", "accepted"])
            #expect(try await waited.json["state"].string == "cancelled")
        }
    }
}
