import Foundation
import TestSupport
import Testing

/// `satchel notification` on a store that nobody serves.
@Suite struct NotificationCommandTests {
    private static let push = #"{"payload": {"aps": {"alert": "Hello"}}, "metadata": {"order": "1"}}"#

    private func object(_ result: ProgramResult) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: result.output) as? [String: Any], "\(result.errorText)")
    }

    @Test func `one is added, stays the same, is replaced, listed, shown and removed`() throws {
        let user = try CommandLineUser()
        try user.file("push.json", Data(Self.push.utf8))
        func add(_ arguments: String...) throws -> (record: [String: Any], said: String) {
            let result = try user.satchel.run(["notification", "add", "push.json", "--id", "n"] + arguments)
            #expect(result.status == 0 && result.outputText.split(separator: "\n").count == 1)
            return (try object(result), result.errorText)
        }
        let first = try add("--at", "2999-12-24T18:00:00+01:00")
        #expect(first.record["state"] as? String == "pending" && first.record["generation"] as? Int == 1)
        #expect(first.record["next_at"] as? String == "2999-12-24T17:00:00.000Z")
        #expect(first.record["metadata"] as? [String: String] == ["order": "1"] && first.said.isEmpty)
        let again = try add("--at", "2999-12-24T18:00:00+01:00")
        #expect(again.record["generation"] as? Int == 1 && again.said.contains("nothing changed"))
        #expect(try add("--in", "7d").record["generation"] as? Int == 2)
        #expect(try user.run("notification", "list", "--format", "csv").outputText.contains("\nn,pending,"))
        let shown = try object(try user.run("notification", "show", "n"))
        #expect((shown["notification"] as? [String: Any])?["id"] as? String == "n")
        #expect(try user.run("notification", "rm", "n").status == 0)

        let unnamed = try user.run("notification", "add", "-", input: Data(Self.push.utf8))
        let id = try #require(try object(unnamed)["id"] as? String)
        #expect(UUID(uuidString: id) != nil)
        #expect(try user.run("notification", "show", id).status == 0)
    }

    @Test func `fired by hand it is shown as it is then, handed over or not, and not once it was taken back`() throws {
        let user = try CommandLineUser()
        let body =
            #"{"payload": {"aps": {"alert": "A"}}, "trigger": {"type": "manual"}, "handover": {"url": "https://a.example/"}}"#
        #expect(try user.run("notification", "add", "-", "--id", "n", input: Data(body.utf8)).status == 0)
        // Nobody is there who would hand it over.
        let first = try user.run("notification", "fire", "n")
        #expect(first.status == 0 && first.errorText.contains("public_url"), "\(first.errorText)")
        #expect(try object(first)["number"] as? Int == 1 && object(first)["state"] as? String == "pending")
        let payload = try #require(try object(first)["payload"] as? [String: Any])
        #expect((payload["aps"] as? [String: String]) == ["alert": "A"])
        let second = try object(try user.run("notification", "fire", "n", "--no-handover"))
        #expect(second["number"] as? Int == 2 && second["state"] as? String == "delivered")
        let shown = try object(try user.run("notification", "show", "n"))
        #expect((shown["firings"] as? [[String: Any]])?.count == 2)
        #expect(try user.run("notification", "rm", "n").status == 0)
        let ended = try user.run("notification", "fire", "n")
        #expect(ended.status == 4 && ended.errorText.contains("was cancelled"), "\(ended.errorText)")
    }

    @Test func `a file is kept with the store until somebody prepares it, and not where nothing is added`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "x.jpg")
        let spool = user.store.appending(path: "spool").path(percentEncoded: false)
        let refused = try user.run(
            "notification", "add", "-", "--attach", "photo=x.jpg",
            input: Data(#"{"payload": {"aps": {"alert": "A"}, "a": "cid:clip"}}"#.utf8))
        #expect(
            refused.status == 2
                && refused.errorText.contains("standard input has 1 problem:\n  /payload/a: No attachment"),
            "\(refused.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: spool).isEmpty)
        let added = try user.run(
            "notification", "add", "-", "--attach", "photo=x.jpg",
            input: Data(#"{"payload": {"aps": {"alert": "A"}, "a": "cid:photo"}}"#.utf8))
        #expect(added.status == 0 && added.outputText.contains(#""job":"notification-"#), "\(added.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: spool).count == 1)
        #expect(try user.run("jobs", "--state", "pending", "--format", "csv").outputText.contains("notification-"))
    }

    @Test func `what can't be added is told, field by field, and leaves no store`() throws {
        let user = try CommandLineUser()
        try user.file("push.json", Data(Self.push.utf8))
        try user.file("timed.json", Data(#"{"payload": {}, "trigger": {"type": "manual"}}"#.utf8))
        try user.file("broken.json", Data("{".utf8))
        for (arguments, says) in [
            (["missing.json"], "'missing.json' can't be read. Check that it exists and that you have permission."),
            (["."], "'.' can't be read. Check that it exists and that you have permission."),
            (["push.json", "--id", "a b"], "--id must have 1 to 128 letters"),
            (["push.json", "--at", "2999-12-24T18:00:00"], "'2999-12-24T18:00:00' is invalid for '--at <time>'"),
            (["push.json", "--at", "2999-12-24T18:00:00Z", "--in", "1m"], "Give --at or --in, not both."),
            (["push.json", "--in", "soon"], "'soon' is invalid for '--in <time>'"),
            (["push.json", "--in", "367d"], "--in must be at most 366 days, not 367d."),
            (
                ["push.json", "--attach", "photo"],
                "--attach must be an identifier and a file, such as photo=x.jpg, not 'photo'."
            ),
            (["push.json", "--attach", "a=x.jpg,a=y.jpg"], "--attach identifiers must differ."),
            (["push.json", "--attach", "photo=x.jpg"], "'x.jpg' can't be read"),
            (["push.json", "--attach", "photo=/dev/null"], "'/dev/null' is not a regular file"),
            (["push.json", "--store", "memory:"], "a store in memory is discarded when its process exits"),
        ] {
            let result = try user.satchel.run(["notification", "add"] + arguments)
            #expect(result.status == 2 && result.output.isEmpty, "\(arguments)")
            #expect(result.errorText.contains(says), "\(result.errorText)")
        }
        #expect(!FileManager.default.fileExists(atPath: user.store.path(percentEncoded: false)))
        for (arguments, problems) in [
            (
                ["timed.json", "--in", "1m"],
                ["/trigger: Must be omitted, because the time is also given as an option."]
            ),
            (["push.json", "--at", "2020-01-01T00:00:00Z"], ["/trigger/at: "]),
            (["broken.json"], [""]),
        ] {
            let result = try user.satchel.run(["notification", "add"] + arguments)
            let lines = result.errorText.split(separator: "\n")
            #expect(result.status == 2 && lines.count == problems.count + 1, "\(result.errorText)")
            #expect(lines.first == "satchel: \(arguments[0]) has 1 problem:")
            for (line, problem) in zip(lines.dropFirst(), problems) {
                #expect(line.hasPrefix("  \(problem)"), "\(line)")
            }
        }
        for command in ["show", "fire", "rm"] {
            let result = try user.run("notification", command, "none")
            #expect(result.status == 4 && result.errorText.contains("there is no notification 'none'"))
        }
    }
}
