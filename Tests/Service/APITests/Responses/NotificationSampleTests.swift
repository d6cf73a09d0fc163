import SatchelCore
import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// The known samples, over HTTP: the categories and payloads of `Media/notifications`, and the handler beside them.
@Suite(.timeLimit(.minutes(5))) struct NotificationSampleTests {
    private static let directory = Repository.media.appending(path: "notifications")

    /// A sample's notification, fired, with the samples' handler, while `body` runs.
    private func run(
        _ name: String, _ body: (ResponseTests.Fired, LocalOrigin) async throws -> Void
    ) async throws {
        let handler = try Program.tool("python3").start(
            ["-B", Self.directory.appending(path: "handler.py").path(percentEncoded: false), "0"])
        defer { handler.process.terminate() }
        let url = try await whenFound("where the handler listens") { () -> String? in
            let line = try handler.outputSoFar
            return line.hasSuffix("\n") ? String(line.dropLast()) : nil
        }
        let file = try Data(contentsOf: Self.directory.appending(path: "\(name).json"))
        var category = try #require(try JSONSerialization.jsonObject(with: file) as? [String: Any])
        try await LocalOrigin.run { _ in
            .init(status: 204)
        } _: { origin in
            category["responses"] = ["handler": ["url": url, "timeout": 5], "forward": ["url": origin.url("/app")]]
            let text = String(decoding: try JSONSerialization.data(withJSONObject: category), as: UTF8.self)
            try await LiveService.run { live in
                try await body(try await ResponseTests.fire(text, live), origin)
            }
        }
    }

    @Test func `each tap turns the picture by twenty degrees, and reset is there while it can be reset`() async throws {
        try await run("red") { fired, origin in
            let rotate = "rotate-twenty-degrees-action"
            for tap in 1...18 {
                let answer = try await fired.respond(rotate).json
                #expect(answer["then"].string == "stay" && answer["view"]["rotation"].int == 20 * tap, "\(tap)")
                let hasReset = answer["actions"].array.contains { $0["id"].string == "reset-rotation-action" }
                #expect(hasReset == (tap != 9 && tap != 18), "\(tap)")
            }
            // Another device is at its own.
            let other = UUID()
            for _ in 0..<3 { _ = try await fired.respond(rotate, session: other) }
            let reset = try await fired.respond("reset-rotation-action", session: other).json
            #expect(reset["view"]["rotation"].int == 0 && reset["actions"].array.count == 1)
            #expect(try await fired.respond("reset-rotation-action", session: other).status == 409)
            #expect(origin.requests.isEmpty)
        }
    }

    @Test func `an invitation is answered with a word in its colour, and a comment goes to the app`() async throws {
        try await run("event-invite") { fired, origin in
            let going = try await fired.respond("accept").json
            #expect(going["then"].string == "dismiss" && going["view"]["label"]["text"].string == "Going!")
            #expect(going["view"]["label"]["color"].string == "green")
            let not = try await fired.respond("decline", session: UUID()).json
            #expect(not["view"]["label"]["text"].string == "Not Going.")
            #expect(not["view"]["label"]["color"].string == "red")
            let comment = try await fired.respond("comment", session: UUID(), ["text": "Bringing dessert"]).json
            #expect(comment["then"].string == "forward" && comment["decided_by"].string == "handler")
            try await eventually("the app's back end has it") {
                origin.requests.contains { String(decoding: $0.body, as: UTF8.self).contains("Bringing dessert") }
            }
        }
    }

    @Test func `a message's reply is recorded and forwarded, its dismissal recorded with the option`() async throws {
        try await run("message") { fired, origin in
            #expect(try await fired.respond("reply", ["text": "On my way"]).json["then"].string == "forward")
            #expect(try await fired.respond("dismiss").status == 200)
            let listed = try await fired.live.send(.get, "/v1/responses").json["responses"].array
            #expect(listed.map { $0["action"].string } == ["reply", "dismiss"])
            #expect(listed[0]["text"].string == "On my way")
            try await eventually("both are forwarded") { origin.requests.count == 2 }
        }
    }

    @Test func `the interactive sample's Launch App is the default action`() async throws {
        try await run("green") { fired, origin in
            let launched = try await fired.respond("default").json
            #expect(launched["then"].string == "forward" && launched["decided_by"].string == "default")
            let listed = try await fired.live.send(.get, "/v1/responses").json["responses"].array
            #expect(listed.map { $0["action"].string } == ["default"])
        }
    }
}
