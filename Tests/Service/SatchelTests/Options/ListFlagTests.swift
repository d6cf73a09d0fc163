import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import satchel

/// Flags that take several values: repeated, with commas, or both.
@Suite struct ListFlagTests {
    @Test func `values have commas between them, and a comma of their own behind a backslash`() {
        #expect(Several<String>(argument: "a,b, c")?.elements == ["a", "b", "c"])
        #expect(Several<String>(argument: "a\\,b,c")?.elements == ["a,b", "c"])
        #expect(Several<String>(argument: "[\\]*]")?.elements == ["[\\]*]"])
        #expect(Several<RenditionRole>(argument: "main,poster")?.elements == [.main, .poster])
        for text in ["", ",", "a,,b", "a,"] { #expect(Several<String>(argument: text) == nil, "\(text)") }
        #expect(Several<RenditionRole>(argument: "main,nonsense") == nil)
    }

    @Test func `every flag that can be repeated is one of these`() throws {
        let user = try CommandLineUser()
        let dump = try user.run("--experimental-dump-help")
        let root = try #require(try JSONSerialization.jsonObject(with: dump.output) as? [String: Any])
        var names: Set<String> = []
        func look(at command: [String: Any]) {
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                guard argument["kind"] as? String == "option", argument["isRepeating"] as? Bool == true else {
                    continue
                }
                let name = (argument["preferredName"] as? [String: Any])?["name"] as? String ?? ""
                names.insert(name)
                #expect((argument["abstract"] as? String ?? "").contains("comma-separated or repeated"), "\(name)")
            }
            for command in command["subcommands"] as? [[String: Any]] ?? [] { look(at: command) }
        }
        look(at: try #require(root["command"] as? [String: Any]))
        #expect(
            names == [
                "identifier", "path", "include", "exclude", "rendition", "role", "fetch-allow", "callback-allow", "set",
                "attach", "metadata", "roles",
            ])
    }

    @Test(arguments: [
        ["--role", "submit,admin"], ["--role", "submit", "--role", "admin"],
        ["--role", "submit,admin", "--role", "admin"],
    ])
    func `a key has every role it was given`(flags: [String]) throws {
        let user = try CommandLineUser()
        let made = try user.satchel.run(["key", "create", "--format", "json"] + flags)
        let key = try #require(try JSONSerialization.jsonObject(with: made.output) as? [String: Any])
        #expect(key["roles"] as? [String] == ["submit", "admin"], "\(made.errorText)")
    }

    @Test(arguments: [
        ["--set", "fetch.allow=media.internal,10.0.0.0/8,codecs=2,callback.allow=a.example"],
        [
            "--fetch-allow", "media.internal", "--set", "codecs=7", "--set", "fetch.allow=10.0.0.0/8", "--set",
            "codecs=2",
            "--callback-allow", "a.example",
        ],
        ["--fetch-allow", "media.internal,10.0.0.0/8", "--codecs", "2", "--callback-allow", "a.example"],
    ])
    func `settings are the same however they are given`(flags: [String]) throws {
        let user = try CommandLineUser()
        let shown = try user.satchel.run(["config", "show", "--format", "json"] + flags)
        let lines = try #require(
            try JSONSerialization.jsonObject(with: shown.output) as? [[String: Any]], "\(shown.errorText)")
        func value(_ key: String) -> Any? { lines.first { $0["key"] as? String == key }?["value"] }
        #expect(value("fetch.allow") as? [String] == ["media.internal", "10.0.0.0/8"])
        #expect(value("callback.allow") as? [String] == ["a.example"])
        #expect(value("codecs") as? Int == 2)
    }

    @Test(arguments: [["--include", "*.jpeg,b*"], ["--include", "*.jpeg", "--include", "b*"]])
    func `patterns and identifiers come one by one or together`(flags: [String]) throws {
        let user = try CommandLineUser()
        for name in ["a.jpg", "b.jpg", "c.jpeg"] { try user.sample("jpeg/coffee.jpg", as: "in/" + name) }
        let result = try user.satchel.run(["batch", "in", "--format", "jsonl"] + flags)
        #expect(result.outputText.split(separator: "\n").count == 2, "\(result.errorText)")
        let added = try user.run(
            "add", "in/a.jpg", "in/b.jpg", "in/c.jpeg", "--identifier", "one,two", "--identifier", "three")
        #expect(added.status == 0, "\(added.errorText)")
        let listed = try user.run("list", "--format", "jsonl").outputText
        for name in ["one", "two", "three"] { #expect(listed.contains("\"identifier\":\"\(name)\"")) }
    }

    @Test(arguments: [["--attach", "a=x.jpg,b=y.jpg"], ["--attach", "a=x.jpg", "--attach", "b=y.jpg"]])
    func `files of a notification come one by one or together`(flags: [String]) throws {
        let user = try CommandLineUser()
        for name in ["x.jpg", "y.jpg"] { try user.sample("jpeg/coffee.jpg", as: name) }
        let body = Data(#"{"payload": {"aps": {"alert": "A"}, "media": ["cid:a", "cid:b"]}}"#.utf8)
        let added = try user.satchel.run(["notification", "add", "-"] + flags, input: body)
        #expect(added.status == 0, "\(added.errorText)")
    }
}
