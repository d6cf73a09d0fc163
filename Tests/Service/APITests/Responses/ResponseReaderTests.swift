import SatchelCore
import Foundation
import Testing

@testable import API

/// Responses as they come, handlers' answers, and what handlers are asked.
@Suite struct ResponseReaderTests {
    static let ids = #""id": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "session": "6ba7b811-9dad-11d1-80b4-00c04fd430c8""#

    private func pointers(_ body: () throws(Problem) -> Void) -> [String]? {
        do throws(Problem) {
            try body()
            return nil
        } catch {
            return error.errors.map(\.pointer)
        }
    }

    @Test func `a response is read whole, its data as it came`() throws {
        let response = try ResponseReader.response(
            #"{\#(Self.ids), "action": "com.apple.UNNotificationDefaultActionIdentifier", "text": "On\nmy way", "data": {"Member": 17.0, "b":[ ]}, "at": "2026-11-22T10:15:00.120Z"}"#
                .utf8)
        #expect(
            response
                == NotificationResponse(
                    id: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", session: "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
                    action: .open, text: "On\nmy way", data: #"{"Member": 17.0, "b":[ ]}"#,
                    at: Instant("2026-11-22T10:15:00.120Z")))
        #expect(response.action.name == "default")
    }

    @Test(arguments: [
        (#"{\#(ids), "action": "reply"}"#, nil),
        (#"{\#(ids), "action": "reply", "text": null, "data": null, "at": null}"#, nil),
        (#"{\#(ids), "action": "reply", "text": "\#(String(repeating: "é", count: 2000))"}"#, nil),
        (#"{\#(ids), "action": "reply", "text": "\#(String(repeating: "é", count: 2001))"}"#, ["/text"]),
        (#"{\#(ids), "action": "reply", "text": "a\u0000b"}"#, ["/text"]),
        (#"{\#(ids), "action": "reply", "text": 1}"#, ["/text"]),
        (#"{\#(ids), "action": "reply", "data": "\#(String(repeating: "a", count: 1022))"}"#, nil),
        (#"{\#(ids), "action": "reply", "data": "\#(String(repeating: "a", count: 1023))"}"#, ["/data"]),
        (#"{\#(ids), "action": "reply", "at": "yesterday"}"#, ["/at"]),
        (#"{\#(ids), "action": "\#(String(repeating: "a", count: 129))"}"#, ["/action"]),
        (#"{"id": "1", "session": null, "extra": 1}"#, ["/extra", "/action", "/id", "/session"]),
    ])
    func `every field that can't be taken is named`(body: String, expected: [String]?) {
        #expect(pointers { () throws(Problem) in _ = try ResponseReader.response(body.utf8) } == expected)
    }

    @Test func `what a handler says is read strictly`() throws {
        let answer = try ResponseReader.answer(
            #"{"then": "stay", "actions": [{"id": "a", "title": "A", "options": ["foreground"]}], "view": {"rotation": 20, "label": {"text": "Going!", "color": "green"}}}"#
                .utf8)
        #expect(
            answer
                == HandlerAnswer(
                    then: .stay, actions: [CategoryAction(id: "a", title: "A", options: [.foreground])],
                    view: .init(rotation: 20, label: ViewLabel(text: "Going!", color: .green))))
        #expect(try ResponseReader.answer(#"{"then": "forward"}"#.utf8) == HandlerAnswer(then: .forward))
        #expect(try ResponseReader.answer(#"{"then": "stay", "actions": []}"#.utf8).actions == [])
    }

    @Test(arguments: [
        (#"{}"#, ["/then"]), (#"{"then": "open"}"#, ["/then"]), (#"{"then": "stay", "more": 1}"#, ["/more"]),
        (#"{"then": "stay", "view": {"rotation": 1e7, "opacity": 1.5}}"#, ["/view/rotation", "/view/opacity"]),
        (#"{"then": "stay", "view": {"label": {"text": "A", "color": "pink"}}}"#, ["/view/label/color"]),
        (#"{"then": "stay", "actions": [{"id": "default", "title": "A"}]}"#, ["/actions/0/id"]),
        (#"{"then": "stay", "actions": [{"id": "a", "title": "A"}, {"id": "a", "title": "B"}]}"#, ["/actions/1/id"]),
        (#"{"then": "stay", "actions": {}}"#, ["/actions"]), ("<html>", []), ("[]", [""]),
    ])
    func `what isn't in the form is no answer`(body: String, expected: [String]) {
        #expect(pointers { () throws(Problem) in _ = try ResponseReader.answer(body.utf8) } == expected)
    }

    @Test func `a handler is asked with all that it needs to keep nothing`() throws {
        let category = Category(id: "c", actions: [CategoryAction(id: "a", title: "A")])
        let response = NotificationResponse(
            id: "r", session: "s", action: .offered(id: "a"), data: #"{"memberId": 12345678901234567890}"#)
        var session = ResponseSession(of: category)
        _ = try session.take(response, of: category)
        let body = HandlerRequest(
            response: response, session: session, notification: "order", firing: 3, metadata: ["memberId": "17"],
            isPreview: true
        ).body
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"id":"r","notification":"order","firing":3,"session":"s","action":"a","text":null,"data":{"memberId": 12345678901234567890},"count":1,"view":{"attachment":null,"body":null,"label":null,"opacity":1,"rotation":0,"subtitle":null,"title":null},"actions":[{"icon":null,"id":"a","options":[],"text_input":null,"title":"A"}],"metadata":{"memberId":"17"},"preview":true}"#
        )
    }
}
