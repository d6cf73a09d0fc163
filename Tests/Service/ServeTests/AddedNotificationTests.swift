import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// Notifications that commands add and fire on a store that is served.
@Suite(.timeLimit(.minutes(5))) struct AddedNotificationTests {
    @Test(.hasCases(for: .ceph), arguments: StoreKind.allCases)
    func `a running service prepares and fires what a command added, with its file`(kind: StoreKind) async throws {
        let harness = try ServiceHarness(kind)
        _ = try harness.file(
            "x.jpg", try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg")))
        _ = try harness.file(
            "push.json", text: #"{"payload": {"aps": {"alert": "A"}, "picture": "cid:photo"}, "deadline": 25}"#)
        let server = try await harness.serve(key: try await harness.makeKey("--role", "admin"))
        let added = try await harness.run(
            "notification", "add", "push.json", "--id", "n", "--attach", "photo=x.jpg", "--in", "1s", "--tenant",
            "default")
        try #require(added.status == 0, "\(added.errorText)")
        let firing = try await whenFound("its delivery", within: patience) {
            let firing = try await server.get("/v1/notifications/n/firings/1").json
            return firing["state"] as? String == "delivered" ? firing : nil
        }
        #expect((firing["failed"] as? [Any])?.isEmpty == true)
        let payload = try #require(firing["payload"] as? [String: Any])
        #expect((payload["picture"] as? String)?.hasPrefix(server.url.absoluteString) == true)

        // By hand, while its media may still be worked on.
        let second = try await harness.run(
            "notification", "add", "push.json", "--id", "m", "--attach", "photo=x.jpg", "--at", "2999-01-01T00:00:00Z",
            "--tenant", "default")
        try #require(second.status == 0, "\(second.errorText)")
        let fired = try await harness.run("notification", "fire", "m", "--tenant", "default")
        let shown = try #require(try JSONSerialization.jsonObject(with: fired.output) as? [String: Any])
        #expect(fired.status == 0 && shown["state"] as? String == "delivered", "\(fired.errorText)")
        #expect((shown["failed"] as? [Any])?.isEmpty == true && (shown["dropped"] as? [Any])?.isEmpty == true)
        #expect(try await server.get("/v1/notifications/m").json["state"] as? String == "pending")
        #expect(try await server.stop().status == 0)
    }
}
