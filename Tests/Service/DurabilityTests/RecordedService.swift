import SatchelCore
import Foundation
import ServiceTestSupport
import Stores
import TestSupport
import Testing

/// An hour of a service, recorded: a phone uploads over a bad network, a back end has notifications fire in every way, and a
/// person responds.
struct RecordedService: Sendable {
    struct Upload: Sendable {
        var id: UploadID
        /// Who has it uploads.
        var path: String
        var bytes: Data
    }

    let scenario: PowerCutScenario
    let key: String
    /// Where handovers go; it has to stay there.
    let origin: LocalOrigin
    /// The one whose bytes come in several requests, and that becomes a job.
    let upload: Upload
    /// Notifications that fire by their triggers, with the generation that does.
    static let firing = [
        NotificationID(rawValue: "now"): 1, NotificationID(rawValue: "slow"): 1, NotificationID(rawValue: "changed"): 2,
    ]
    static let options = ["--fetch-allow", "127.0.0.1", "--callback-allow", "127.0.0.1"]
    private static let tus = ["Tus-Resumable": "1.0.0"]

    /// The one that all tests read.
    static let shared = Task { try await RecordedService() }

    private init() async throws {
        let origin = try await LocalOrigin { request in
            switch request.path {
            case "/slow.txt": LocalOrigin.Answer(body: Data("fault: echo SLOW\n".utf8), delay: .milliseconds(400))
            case "/handler":
                LocalOrigin.Answer(
                    headers: ["Content-Type": "application/json"], body: Data(#"{"then":"forward"}"#.utf8))
            default: LocalOrigin.Answer(status: 204)
            }
        }
        let machine = try Machine()
        key = try machine.key(for: .local)
        var recording = try Recording(of: machine)
        var conversation: Conversation?
        var upload: Upload?
        try await recording.serve(Self.options, key: key, on: machine) { service in
            let talk = Conversation(with: service)
            conversation = talk
            upload = try await Self.upload(talk)
            try await Self.notify(talk, origin)
            let record = try await talk.ask("GET", "/v1/uploads/\(upload?.id.rawValue ?? "")").json
            let job = try #require(record["job"] as? String)
            let done = try await talk.ask("GET", "/v1/jobs/\(job)", ["Prefer": "wait=20"]).json
            try #require(done["state"] as? String == "delivered")
        }
        let store = try machine.open()
        let firings = try await store.records.firings(of: .local, after: 0, limit: 100)
        let responses = try await store.records.responses(of: .local, to: nil, after: nil, limit: 100).elements
        let heads = recording.heads
        let yes = heads.filter { $0.text.hasPrefix("HTTP/1.1 2") }.map(\.call)
        var guarantees = try #require(conversation).guarantees(saidBy: yes, until: recording.calls.count)
        // Whoever was called relies on that as well.
        for (call, text) in heads {
            guard let id = text.firstMatch(of: /(?i)\r\nwebhook-id: (\S+)/).map({ String($0.1) }) else { continue }
            let contents: [Guarantee.Content] =
                switch text.split(separator: " ").prefix(2).joined(separator: " ") {
                case "POST /hook": [.fired(FiringID(rawValue: id))]
                case "POST /handler": [.took(response: id)]
                case "POST /app": responses.filter { $0.call == id }.map { .answered(response: $0.response.id) }
                default: []
                }
            guarantees += contents.map { Guarantee(content: $0, calls: call..<recording.calls.count) }
        }
        let isCalled = Set(heads.compactMap { $0.text.firstMatch(of: /^POST (\S+)/).map { String($0.1) } })
        try #require(isCalled == ["/hook", "/handler", "/app"], "\(isCalled)")
        var invariants = Invariants(moved: [:], whole: [:])
        invariants.firings = Dictionary(uniqueKeysWithValues: firings.map { ($0.id, $0) })
        invariants.responses = Dictionary(uniqueKeysWithValues: responses.map { ($0.response.id, $0) })
        invariants.opened = { [made = invariants.firings] in try await $0.records.contradictions(to: made) }
        scenario = PowerCutScenario(recording, guarantees, invariants)
        self.origin = origin
        self.upload = try #require(upload)
    }

    // MARK: Uploading

    /// Bytes of which the codec makes something, over several pages.
    private static func bytes(_ word: String, _ count: Int) -> Data {
        var generator = SeededGenerator(seed: UInt64(count))
        let letters = (0..<count).map { _ in UInt8.random(in: 97...122, using: &generator) }
        return Data("fault: echo \(word) ".utf8) + letters
    }

    private static func open(
        _ talk: Conversation, _ bytes: Data, job: [String: Any]? = nil
    ) async throws -> Upload {
        var terms: [String: Any] = ["length": bytes.count]
        terms["job"] = job
        let opened = try await talk.ask("POST", "/v1/uploads", json: terms).json
        let path = try Conversation.path(of: opened["url"])
        let id = UploadID(rawValue: try #require(opened["id"] as? String))
        talk.relies(on: .holds(id, Data()))
        return Upload(id: id, path: path, bytes: bytes)
    }

    private static func fields(at offset: Int) -> [String: String] {
        tus.merging(["Upload-Offset": "\(offset)", "Content-Type": "application/offset+octet-stream"]) { $1 }
    }

    /// Sends a part by tus, which is taken.
    private static func send(_ upload: Upload, _ range: Range<Int>, _ talk: Conversation) async throws {
        let answer = try await talk.ask("PATCH", upload.path, fields(at: range.lowerBound), body: upload.bytes[range])
        #expect(answer["Upload-Offset"] == "\(range.upperBound)")
    }

    /// What is left of an upload, as a client goes on that was cut off.
    static func resume(_ upload: Upload, _ service: ServiceProcess) async throws -> Int {
        let head = try await service.send("HEAD", upload.path, tus)
        let offset = try #require(head["Upload-Offset"].flatMap { Int($0) }, "\(head.status)")
        guard offset < upload.bytes.count else { return offset }
        let rest = try await service.send("PATCH", upload.path, fields(at: offset), body: upload.bytes[offset...])
        #expect(rest.status == 204, "\(rest.text)")
        return offset
    }

    private static func upload(_ talk: Conversation) async throws -> Upload {
        let bytes = bytes("UPLOADED", 30_000)
        let job: [String: Any] = ["attachments": [["identifier": "clip", "upload": "self"]]]
        let upload = try await open(talk, bytes, job: job)
        try await send(upload, 0..<10_000, talk)
        talk.relies(on: .holds(upload.id, bytes[..<10_000]))

        // A connection that breaks: what has come by then counts.
        let port = try #require(talk.url.port)
        let head =
            fields(at: 10_000).map { "\($0): \($1)\r\n" }.joined() + "Content-Length: \(bytes.count - 10_000)\r\n"
        try await onThread {
            let client = try RawClient(port: port)
            client.send("PATCH \(upload.path) HTTP/1.1\r\nHost: localhost\r\n\(head)\r\n")
            client.send(Array(bytes[10_000..<20_000]))
            usleep(1_300_000)
            client.leave()
        }
        let found = try await talk.ask("HEAD", upload.path, tus)
        let offset = try #require(found["Upload-Offset"].flatMap { Int($0) })
        #expect(offset == 20_000)
        talk.relies(on: .holds(upload.id, bytes[..<offset]))

        // Bytes that aren't what they were meant to be count for nothing.
        let wrong = fields(at: offset).merging(["Upload-Checksum": "sha1 \(Data(count: 20).base64EncodedString())"]) {
            $1
        }
        let refused = try await talk.send("PATCH", upload.path, wrong, body: bytes[offset...])
        #expect(refused.status == 460)
        try await send(upload, offset..<bytes.count, talk)
        talk.relies(on: .whole(upload.id, bytes))

        // One in one request, for nothing as yet, and one that is given up.
        let plain = try await open(talk, Self.bytes("PLAIN", 9000))
        try await talk.ask("PUT", plain.path, ["Content-Type": "application/octet-stream"], body: plain.bytes)
        talk.relies(on: .whole(plain.id, plain.bytes))
        let other = try await open(talk, Self.bytes("OTHER", 9000))
        try await send(other, 0..<5000, talk)
        talk.relies(on: .holds(other.id, other.bytes[..<5000]))
        try await talk.ask("HEAD", other.path, tus)
        talk.gives(up: .holds(other.id, other.bytes[..<5000]), .holds(other.id, Data()))
        try await talk.ask("DELETE", other.path, tus)
        talk.relies(on: .abandoned(other.id))
        return upload
    }

    // MARK: Firing

    private static func put(
        _ id: String, _ trigger: [String: Any]?, _ talk: Conversation, generation: Int = 1, more: [String: Any] = [:],
        payload: [String: Any] = [:]
    ) async throws {
        let alert: [String: Any] = ["aps": ["alert": id, "category": "question"]]
        var body = more
        body["payload"] = alert.merging(payload) { $1 }
        body["trigger"] = trigger ?? NSNull()
        try await talk.ask("PUT", "/v1/notifications/\(id)", json: body)
        talk.relies(on: .notifies(NotificationID(rawValue: id), generation: generation))
    }

    private static func notify(_ talk: Conversation, _ origin: LocalOrigin) async throws {
        func calls(_ path: String) -> [LocalOrigin.Request] { origin.requests.filter { $0.path == path } }
        let responses: [String: Any] = [
            "handler": ["url": origin.url("/handler"), "timeout": 5], "forward": ["url": origin.url("/app")],
        ]
        try await talk.ask(
            "PUT", "/v1/categories/question",
            json: ["actions": [["id": "yes", "title": "Yes"]], "responses": responses])
        let handover: [String: Any] = ["handover": ["url": origin.url("/hook")]]
        func interval(_ seconds: Double, repeats: Bool = false) -> [String: Any] {
            ["type": "interval", "seconds": seconds, "repeats": repeats]
        }
        // What is to fire later is there at each firing of the others.
        try await put("later", interval(86_400, repeats: true), talk)
        try await put("removed", interval(3600), talk, more: handover)
        try await put("changed", interval(3600), talk, more: handover)
        try await put("manual", ["type": "manual"], talk)
        try await put("now", nil, talk, more: handover)
        // Due before its media are there: a firing of two transactions.
        let media = handover.merging(["deadline": 1]) { $1 }
        try await put(
            "slow", interval(0.2), talk, more: media, payload: ["my-attachment": origin.url("/slow.txt")])
        try await put(
            "changed", interval(0.2), talk, generation: 2, more: handover.merging(["metadata": ["v": "2"]]) { $1 })
        try await talk.ask("DELETE", "/v1/notifications/removed")
        talk.relies(on: .silent(NotificationID(rawValue: "removed")))

        for _ in 0..<2 {
            let fired = try await talk.ask("POST", "/v1/notifications/manual/fire", ["Idempotency-Key": "once"]).json
            talk.relies(on: .fired(FiringID(rawValue: try #require(fired["id"] as? String))))
        }
        _ = try await whenFound("three handovers") { calls("/hook").count >= 3 ? true : nil }
        // Settled, and with that what is replayed.
        let list = try await talk.ask("GET", "/v1/firings")
        let firings = try #require(try list.json["firings"] as? [[String: Any]])
        try #require(firings.count == 4)
        let ids = try firings.map { FiringID(rawValue: try #require($0["id"] as? String)) }
        talk.relies(on: .lists(ids))
        for id in ids { talk.relies(on: .fired(id)) }

        let first = try #require(firings.first { $0["notification"] as? String == "now" })
        let satchel = try #require((first["payload"] as? [String: Any])?["satchel"] as? [String: Any])
        let respond = try Conversation.path(of: satchel["respond"])
        let id = UUID().uuidString.lowercased()
        var answers: Set<Data> = []
        for _ in 0..<2 {
            let said = ["id": id, "session": UUID().uuidString, "action": "yes"]
            answers.insert(try await talk.ask("POST", respond, json: said).data)
            talk.relies(on: .took(response: id), .answered(response: id))
        }
        #expect(answers.count == 1 && calls("/handler").count == 1)
        _ = try await whenFound("the response told") { calls("/app").isEmpty ? nil : true }
        let handed = try #require(first["id"] as? String)
        try await talk.ask("POST", "/v1/calls/\(handed)/replay")
        _ = try await whenFound("a handover again") { calls("/hook").count >= 4 ? true : nil }
        let bodies = calls("/hook").filter { $0.headers["webhook-id"] == handed }.map(\.body)
        #expect(bodies.count == 2 && Set(bodies).count == 1)
    }
}
