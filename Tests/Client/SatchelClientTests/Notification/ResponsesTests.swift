import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@testable import SatchelClient

/// What comes of a response, whatever the network and the service do meanwhile.
@Suite(.timeLimit(.minutes(2))) struct ResponsesTests {
    typealias Response = SatchelResponses.Response

    private static let id = "01a1fda0-0000-4000-8000-000000000001"
    private static let answer = """
        {"id": "\(id)", "then": "stay", "actions": [
           {"id": "rotate", "title": "Rotate 20°", "icon": null, "options": [], "text_input": null},
           {"id": "reply", "title": "Reply", "icon": {"system": "pencil"}, "options": ["authentication_required"],
            "text_input": {"button_title": "Send", "placeholder": "Message"}}],
         "view": {"rotation": 20, "opacity": 0.5, "attachment": "photo", "title": null, "subtitle": "s", "body": null,
                  "label": {"text": "Turned", "color": "green"}}, "decided_by": "handler"}
        """

    @Test func `a response says who did what and when, without a key, and the answer what becomes of it`() async throws
    {
        let origin = try await ResponseOrigin(.answer(Self.answer))
        let session = UUID()
        let response = Response(
            id: try #require(UUID(uuidString: Self.id)), session: session, action: "reply", text: "On my way",
            data: Data(#"{"member": "17", "userID": null}"#.utf8), at: Date(timeIntervalSince1970: 1_795_341_000.5))
        let answer = try await SatchelResponses.respond(response, at: origin.url)
        #expect(
            try origin.bodies() == [
                [
                    "id": Self.id, "session": session.uuidString.lowercased(), "action": "reply", "text": "On my way",
                    "data": ["member": "17", "userID": NSNull()] as NSDictionary, "at": "2026-11-22T09:50:00.500Z",
                ]
            ])
        let request = try #require(origin.requests.first)
        #expect(request.method == "POST" && request.path == "/r/satr_ticket")
        #expect(request.headers["authorization"] == nil && request.headers["content-type"] == "application/json")

        #expect(answer.id == response.id && answer.then == .stay && answer.decidedBy == .handler)
        #expect(answer.actions.map(\.id) == ["rotate", "reply"] && answer.actions.map(\.optionBits) == [0, 1])
        #expect(answer.actions[1].textInput?.buttonTitle == "Send" && answer.actions[1].icon?.system == "pencil")
        #expect(
            answer.view
                == SatchelResponses.View(
                    rotation: 20, opacity: 0.5, attachment: "photo", subtitle: "s",
                    label: SatchelResponses.Label(text: "Turned", color: .green)))
    }

    @Test func `what isn't there is left out`() async throws {
        let origin = try await ResponseOrigin(.answer(Self.answer))
        let response = Response(action: "default")
        _ = try await SatchelResponses.respond(response, at: origin.url)
        #expect(
            try origin.bodies().first?.allKeys.compactMap { $0 as? String }.sorted() == [
                "action", "at", "id", "session",
            ])
        #expect(response.id != response.session && response.id != Response(action: "default").id)
    }

    @Test func `a response is sent again with the same id until it is answered, when the service says so`() async throws
    {
        let origin = try await ResponseOrigin(
            .drop, .proxy(502), .problem(503, code: "queue_full", retryAfter: 0),
            .problem(429, code: "rate_limited", retryAfter: 1), .answer(Self.answer))
        let begin = Date()
        let answer = try await SatchelResponses.respond(Response(action: "rotate"), at: origin.url, within: 60)
        #expect(answer.then == .stay)
        let bodies = try origin.bodies()
        #expect(bodies.count == 5 && Set(bodies).count == 1)
        #expect(Date().timeIntervalSince(begin) >= 1)
    }

    @Test func `where the service asks to wait longer than there is time, its refusal is told at once`() async throws {
        let origin = try await ResponseOrigin(.problem(429, code: "rate_limited", retryAfter: 3600))
        let error = try await failure(at: origin.url, within: 1000)
        #expect(error.code == .rateLimited && error.status == 429 && error.retryAfter == 3600)
        #expect(origin.requests.count == 1)
    }

    @Test(arguments: [(404, SatchelError.Code.notFound), (409, .unknownAction), (422, .invalidRequest)])
    func `what another attempt wouldn't change is not repeated`(status: Int, code: SatchelError.Code) async throws {
        let origin = try await ResponseOrigin(.problem(status, code: code.rawValue))
        let error = try await failure(at: origin.url, within: 1000)
        #expect(error.code == code && error.status == status && error.detail == "What to do.")
        #expect(origin.requests.count == 1)
    }

    @Test func `a page that isn't the service's is no answer`() async throws {
        let origin = try await ResponseOrigin(.proxy(200))
        #expect(try await failure(at: origin.url, within: 1000).code == .unreadable)
        #expect(origin.requests.count == 1)
    }

    @Test func `no attempt outlasts the time for all of them`() async throws {
        let silent = try await ResponseOrigin(.silence)
        #expect(try await failure(at: silent.url, within: 0.3).code == .timedOut)
        #expect(try await failure(at: silent.url, within: -1).code == .timedOut)
        let dropping = try await ResponseOrigin(.drop)
        let error = try await failure(at: dropping.url, within: 0.5)
        #expect(error.code == .transport || error.code == .timedOut)
    }

    @Test func `whoever is cancelled waits no longer`() async throws {
        let origin = try await ResponseOrigin(.silence)
        let url = origin.url
        let responding = Task { try await SatchelResponses.respond(Response(action: "a"), at: url, within: 3600) }
        try await eventually { origin.requests.count == 1 }
        responding.cancel()
        await #expect(throws: CancellationError.self) { try await responding.value }
    }

    @Test func `data that isn't JSON is not sent`() async throws {
        let origin = try await ResponseOrigin(.answer(Self.answer))
        let response = Response(action: "a", data: Data("{".utf8))
        let error = try #require(
            await #expect(throws: SatchelError.self) { try await SatchelResponses.respond(response, at: origin.url) })
        #expect(error.code == .invalidRequest && origin.requests.isEmpty)
    }

    @Test func `what a newer service says is kept`() async throws {
        let origin = try await ResponseOrigin(
            .answer(
                """
                {"id": "\(Self.id)", "then": "hover", "decided_by": "oracle", "mood": 1, "actions": [
                   {"id": "a", "title": "A", "options": ["shown_on_walls", "destructive"], "sound": {}}],
                 "view": {"rotation": 0, "opacity": 1, "depth": 3, "label": {"text": "x", "color": "teal", "size": 2}}}
                """))
        let answer = try await SatchelResponses.respond(Response(action: "a"), at: origin.url)
        #expect(answer.then == "hover" && answer.decidedBy == "oracle")
        #expect(answer.actions.map(\.optionBits) == [2])
        #expect(answer.view.label?.color == "teal" && answer.view.title == nil)
    }

    @Test func `a payload says where responses go, where its category takes any`() throws {
        let payload: [String: Any] = ["v": 1, "attachments": [String]()]
        let silent = try #require(SatchelNotification(userInfo: ["satchel": payload]))
        #expect(silent.respond == nil)
        let url = "https://media.example.com/r/satr_x"
        let asking = SatchelNotification(userInfo: ["satchel": payload.merging(["respond": url]) { $1 }])
        #expect(asking?.respond == URL(string: url))
    }

    private func failure(at url: URL, within seconds: TimeInterval) async throws -> SatchelError {
        try #require(
            await #expect(throws: SatchelError.self) {
                try await SatchelResponses.respond(Response(action: "a"), at: url, within: seconds)
            })
    }
}
