import Foundation
import TestSupport
import Testing

@testable import SatchelClient

/// The values against the OpenAPI document, which is their source of truth.
@Suite struct WireTests {
    let document: [String: Any]

    init() throws {
        let file = Repository.root.appending(path: "Sources/Service/API/Description/openapi.json")
        document = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
    }

    private func at(_ path: String...) -> [String: Any] {
        path.reduce(document) { $0[$1] as? [String: Any] ?? [:] }
    }

    /// The names that a schema's properties have.
    private func properties(_ schema: String) -> Set<String> {
        Set((at("components", "schemas", schema)["properties"] as? [String: Any] ?? [:]).keys)
    }

    /// The names that a value's stored properties have over the wire.
    private func names(_ value: Any) -> Set<String> {
        Set(
            Mirror(reflecting: value).children.compactMap(\.label).map { label in
                label.replacing(#/([a-z0-9])([A-Z])/#) { "\($0.1)_\($0.2)" }.lowercased()
            })
    }

    private func example<Value: Decodable>(_ name: String, as type: Value.Type) throws -> Value {
        let value = try #require(at("components", "examples", name)["value"])
        return try Wire.decode(type, from: JSONSerialization.data(withJSONObject: value))
    }

    private func decode<Value: Decodable>(_ json: String, as type: Value.Type) throws -> Value {
        try Wire.decode(type, from: Data(json.utf8))
    }

    @Test func `every property of an answer has its place in the types`() throws {
        let job = try example("FinishedJob", as: Job.self)
        let attachment = job.attachments[0]
        let record = try example("AttachmentRecord", as: AttachmentRecord.self)
        let lease = try example("Lease", as: Lease.self)
        let grant = try example("Grant", as: Grant.self)
        let failure = try #require(job.attachments[1].error)
        let trim = try decode(
            #"{"start": 1, "duration": 2, "source_duration": 3, "method": "copy"}"#, as: TrimReport.self)
        #expect(names(job) == properties("Job"))
        #expect(names(attachment) == properties("Attachment"))
        #expect(
            names(record).subtracting(["attachment"]).union(names(record.attachment)) == properties("AttachmentRecord"))
        #expect(names(attachment.source) == properties("SourceFacts"))
        #expect(try names(#require(attachment.renditions[.main])) == properties("Rendition"))
        #expect(names(attachment.options) == properties("DisplayOptions"))
        #expect(try names(#require(attachment.placeholder)) == properties("Placeholder"))
        #expect(try names(#require(attachment.lease)) == properties("OpenedLease"))
        #expect(names(attachment.steps[0]) == properties("Step"))
        #expect(names(trim) == properties("TrimReport"))
        #expect(names(failure) == properties("ErrorReport"))
        #expect(names(lease) == properties("Lease"))
        #expect(try names(#require(lease.renditions[.main])) == properties("LeaseRendition"))
        #expect(names(grant) == properties("Grant"))
        #expect(try names(decode(#"{"jobs": [], "next": null}"#, as: JobList.self)) == properties("JobList"))
        #expect(
            try names(decode(#"{"attachments": [], "next": null}"#, as: AttachmentList.self))
                == properties("AttachmentList"))
        let profiles = try decode(#"{"profiles": [], "limits": \#(limits)}"#, as: ProfileList.self)
        #expect(names(profiles) == properties("ProfileList"))
        #expect(names(profiles.limits) == properties("Limits"))
        let profile = try Wire.decode(
            Profile.self, from: JSONSerialization.data(withJSONObject: sample(of: "Profile")))
        let image = try #require(profile.image)
        let animation = try #require(profile.animation)
        let video = try #require(profile.video)
        let audio = try #require(profile.audio)
        #expect(names(profile) == properties("Profile"))
        #expect(try names(#require(profile.thumbnail)) == properties("ThumbnailPolicy"))
        #expect(names(image) == properties("ImagePolicy"))
        #expect(names(animation) == properties("AnimationPolicy"))
        #expect(names(video) == properties("VideoPolicy"))
        #expect(try names(#require(video.poster)) == properties("PosterPolicy"))
        #expect(names(audio) == properties("AudioPolicy"))
        #expect(try names(#require(audio.waveform)) == properties("WaveformPolicy"))
        let problem = try decode(
            #"{"type": "t", "title": "t", "status": 400, "code": "c", "detail": "d", "errors": []}"#,
            as: SatchelError.Problem.self)
        // The offsets are for those who speak the protocol of resumable uploads themselves.
        #expect(names(problem) == properties("Problem").subtracting(["expected-offset", "provided-offset"]))
        #expect(names(SatchelError.Field(pointer: "", detail: "")) == properties("ProblemField"))
        let notification = try decode(
            #"{"v": 1, "expires_at": "2026-11-22T10:15:00Z", "attachments": [{"identifier": "a", "url": "http://a/", "options": {}}]}"#,
            as: SatchelNotification.self)
        #expect(names(notification) == properties("PayloadSatchel"))
        #expect(names(notification.attachments[0]) == properties("PayloadLink"))
    }

    @Test func `an app reads its categories as the service exports them, and what a newer one adds is passed over`()
        throws
    {
        let value = try #require(at("components", "examples", "Category")["value"])
        let json = try JSONSerialization.data(withJSONObject: ["categories": [value]])
        let category = try #require(try SatchelCategories(json: json).categories.first)
        #expect(category.id == "event-invite" && category.hiddenBody == "Invitation" && category.summaryFormat == nil)
        #expect(names(category).isSubset(of: properties("AppCategory")))
        #expect(names(category.actions[0]) == properties("CategoryAction"))
        #expect(category.actions[0].icon == SatchelCategories.Icon(system: "checkmark"))
        #expect(try names(#require(category.actions[2].textInput)) == properties("TextInput"))
        #expect(category.optionBits == 1 && category.actions.map(\.optionBits) == [0, 2, 1])
        let newer = try decode(
            #"{"id": "a", "options": ["shown_on_walls", "allow_in_car_play"], "intents": [], "actions": [], "colour": 1}"#,
            as: SatchelCategories.Category.self)
        #expect(newer.optionBits == 2)
        let options = at("components", "schemas", "CategoryOption")["enum"] as? [String] ?? []
        let all = try decode(
            #"{"id": "a", "options": ["\#(options.joined(separator: #"", ""#))"], "intents": [], "actions": []}"#,
            as: SatchelCategories.Category.self)
        #expect(all.optionBits == 0b11111, "each has its bit")
        #expect(throws: DecodingError.self) { try SatchelCategories(json: Data("{}".utf8)) }
    }

    @Test func `every property of a response and its answer has its place in the types`() throws {
        let answer = try decode(
            """
            {"id": "8f4a2c1e-7a55-4c11-9a65-1f3f6a2f5d10", "then": "stay", "actions": [], "decided_by": "handler",
             "view": {"rotation": 20, "opacity": 1, "attachment": "a", "title": "t", "subtitle": "s", "body": "b",
                      "label": {"text": "x", "color": "red"}}}
            """, as: SatchelResponses.Answer.self)
        #expect(names(answer) == properties("ResponseAnswer"))
        #expect(names(answer.view) == properties("NotificationView"))
        #expect(try names(#require(answer.view.label)) == properties("ViewLabel"))
        let response = SatchelResponses.Response(action: "reply", text: "t", data: Data("1".utf8))
        #expect(names(response) == properties("ResponseRequest"))
    }

    /// A value of a schema with every property, none of them null.
    private func sample(of schema: String) throws -> [String: Any] {
        let properties = try #require(at("components", "schemas", schema)["properties"] as? [String: [String: Any]])
        return try properties.mapValues { property -> Any in
            if let choices = property["anyOf"] as? [[String: Any]] {
                let reference = try #require(choices.compactMap { $0["$ref"] as? String }.first)
                return try sample(of: String(reference.split(separator: "/").last ?? ""))
            }
            let types = property["type"] as? [String] ?? [property["type"] as? String ?? ""]
            switch types.first {
            case "boolean": return true
            case "integer": return property["minimum"] ?? 1
            case "number": return 0.5
            case "array": return ["image/jpeg"]
            default: return "text"
            }
        }
    }

    private var limits: String {
        let names = properties("Limits").map { "\"\($0)\": 1" }
        return "{\(names.joined(separator: ", "))}"
    }

    @Test func `what is sent has the properties that the service takes, and no others`() throws {
        var source = Source.url(try #require(URL(string: "https://example.com/a.jpg")), headers: ["A": "b"])
        source.trim = Trim(start: 1, duration: 2)
        var request = JobRequest([source])
        request.callback = URL(string: "https://example.com/hook")
        let body = JobBody(request)
        #expect(names(body) == properties("JobRequest"))
        #expect(names(body.attachments[0]) == properties("AttachmentRequest"))
        #expect(names(Trim(start: 0)).isSubset(of: properties("Trim")))
        let around = try JSONEncoder().encode(Trim(around: .thumbnailTime, duration: 6))
        #expect(
            try JSONSerialization.jsonObject(with: around) as? NSDictionary == [
                "around": "thumbnail_time", "duration": 6,
            ])
        #expect(names(LeaseBody()) == properties("LeaseRequest"))
        #expect(names(GrantBody()) == properties("GrantRequest"))
    }

    @Test func `every example of an answer decodes`() throws {
        var decoded = 0
        func decode(_ schema: String, _ value: Any) throws {
            let data = try JSONSerialization.data(withJSONObject: value)
            switch schema {
            case "Job": _ = try Wire.decode(Job.self, from: data)
            case "JobList": _ = try Wire.decode(JobList.self, from: data)
            case "AttachmentRecord": _ = try Wire.decode(AttachmentRecord.self, from: data)
            case "AttachmentList": _ = try Wire.decode(AttachmentList.self, from: data)
            case "Lease": _ = try Wire.decode(Lease.self, from: data)
            case "Grant": _ = try Wire.decode(Grant.self, from: data)
            case "ProfileList": _ = try Wire.decode(ProfileList.self, from: data)
            case "Payload":
                let payload = try #require(value as? [String: Any])
                #expect(SatchelNotification(userInfo: payload)?.attachments.count == 1)
            default: return
            }
            decoded += 1
        }
        func walk(_ value: Any) throws {
            if let list = value as? [Any] { try list.forEach(walk) }
            guard let object = value as? [String: Any] else { return }
            if let reference = (object["schema"] as? [String: Any])?["$ref"] as? String {
                let schema = String(reference.split(separator: "/").last ?? "")
                if let example = object["example"] { try decode(schema, example) }
                for case let named as [String: Any] in (object["examples"] as? [String: Any] ?? [:]).values {
                    let name = (named["$ref"] as? String)?.split(separator: "/").last.map(String.init) ?? ""
                    try decode(schema, try #require(at("components", "examples", name)["value"]))
                }
            }
            try object.values.forEach(walk)
        }
        try walk(at("paths"))
        #expect(decoded >= 15)
    }

    @Test func `events come out whole, in whatever pieces they arrive`() {
        let text =
            "\u{FEFF}: hello\r\nid: 1\r\nevent: stage\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nid:2\ndata\n\n\rdata: x\r\rdata: cut"
        let expected = [
            ServerEvent(id: "1", name: "stage", data: "{\"a\":\n1}"), ServerEvent(id: "2", name: "message", data: ""),
            ServerEvent(id: "2", name: "message", data: "x"),
        ]
        for size in 1...text.utf8.count {
            var parser = EventParser()
            var events: [ServerEvent] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                events += parser.consume(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(events == expected, "in pieces of \(size)")
        }
    }

    @Test func `values that a newer service may send are kept`() throws {
        var job = try #require(at("components", "examples", "FinishedJob")["value"] as? [String: Any])
        job["state"] = "resting"
        job["an_addition"] = ["x": 1]
        let decoded = try Wire.decode(Job.self, from: JSONSerialization.data(withJSONObject: job))
        #expect(decoded.state == "resting" && decoded.state.rawValue == "resting")
    }

    @Test func `the key is found where FCM, OneSignal and Expo put it`() {
        let key: [String: Any] = ["v": 1, "attachments": [String]()]
        for userInfo in [
            ["satchel": key], ["satchel": #"{"v":1,"attachments":[]}"#], ["custom": ["a": ["satchel": key]]],
            ["body": ["satchel": key]],
        ] as [[String: Any]] {
            #expect(SatchelNotification(userInfo: userInfo) != nil, "\(userInfo)")
        }
        #expect(SatchelNotification(userInfo: ["custom": "text", "body": ["text"]]) == nil)
    }

    @Test func `a notification without the key, or of another layout, has no attachments`() async {
        #expect(SatchelNotification(userInfo: [:]) == nil)
        #expect(SatchelNotification(userInfo: ["satchel": "text"]) == nil)
        #expect(
            SatchelNotification(userInfo: ["satchel": ["v": 2, "attachments": [String]()] as [String: Any]]) == nil)
        #expect(await SatchelNotification.attachments(from: ["aps": ["alert": "hello"]]).isEmpty)
    }
}
