import SatchelCore
import Foundation
import Testing

@testable import API

/// What becomes of a notification's description where files and a time are given beside it.
@Suite struct NotificationFilesTests {
    private func file(_ identifier: String) -> AttachmentSubmission {
        AttachmentSubmission(identifier: identifier, location: .spool(name: SourceName(rawValue: identifier)))
    }

    private func body(
        _ description: String, files: [String] = [], trigger: Trigger? = nil
    ) throws -> (text: String, files: [String: String]) {
        let body = try NotificationFiles(
            description: Array(description.utf8), attachments: files.map(file), trigger: trigger
        ).body()
        return (String(decoding: body.description, as: UTF8.self), body.files.mapValues(\.identifier))
    }

    @Test func `a file becomes the part that the description has for it, or an attachment at the end`() throws {
        let made = try body(
            #"{"payload": {"a": 1.0e0}, "attachments": [{"identifier": "clip", "part": "x", "trim": {"start": 2}}]}"#,
            files: ["clip", "photo"])
        #expect(
            made.text
                == #"{"payload":{"a": 1.0e0},"attachments":[{"identifier": "clip", "part": "x", "trim": {"start": 2}},{"identifier":"photo","part":"photo"}]}"#
        )
        #expect(made.files == ["x": "clip", "photo": "photo"])
        #expect(try body(#"{"attachments": null}"#, files: ["a"]).files == ["a": "a"])
    }

    @Test func `two files never share a part that only one of them was meant for`() throws {
        let made = try body(#"{"attachments": [{"identifier": "a", "part": "b"}]}"#, files: ["b", "a"])
        #expect(made.files == ["b": "a", "b'": "b"])
    }

    @Test func `a time becomes the trigger where there is none`() throws {
        let at = try #require(WrittenTime("2026-12-24T18:00:00+01:00"))
        #expect(
            try body(#"{"trigger": null}"#, trigger: .date(at: at, timeZone: nil)).text
                == #"{"trigger":{"at":"2026-12-24T18:00:00+01:00","type":"date"}}"#)
        #expect(
            try body("{}", trigger: .interval(seconds: 1800, repeats: false)).text.contains(#""seconds":1800"#))
    }

    @Test(arguments: [
        (#"{"attachments": [{"identifier": "a", "url": "https://x.example/"}]}"#, ["/attachments/0"]),
        (#"{"attachments": [{"identifier": "b", "part": "b"}]}"#, ["/attachments/0/part"]),
        (#"{"trigger": {"type": "manual"}}"#, ["/trigger"]),
        (
            #"{"attachments": [{"identifier": "b", "part": "b"}, {"identifier": "a"}], "trigger": 1}"#,
            ["/attachments/1", "/attachments/0/part", "/trigger"]
        ),
    ])
    func `everything that contradicts the files is named`(description: String, pointers: [String]) {
        let problem = #expect(throws: Problem.self) {
            try body(description, files: ["a"], trigger: .manual)
        }
        #expect(problem?.errors.map(\.pointer) == pointers)
    }

    @Test(arguments: ["", "[]", "{", #"{"attachments": {}}"#, #"{"a": 1, "a": 2}"#])
    func `what can't be read is left to whoever reads it`(description: String) throws {
        let made = try body(description, files: ["a"], trigger: .manual)
        #expect(made.text == description && made.files.isEmpty)
    }
}
