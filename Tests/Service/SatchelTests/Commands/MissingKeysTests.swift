import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MissingKeysTests {
    /// Each command that opens a store, with its arguments.
    private static let commands = [
        "add": ["in/alpha.png"], "batch": ["in"], "watch": ["in"], "list": [], "show": ["ID"], "get": ["ID"],
        "rm": ["ID"], "jobs": [], "failures": [], "cancel": ["ID"], "retry": ["ID"], "lease": ["ID"], "grant": ["ID"],
        "revoke": ["ID"], "notification add": ["push.json"], "notification list": [], "notification show": ["n"],
        "notification fire": ["n"], "notification rm": ["n"], "category put": ["category.json"], "category list": [],
        "category show": ["c"], "category rm": ["c"], "serve": ["--listen", "127.0.0.1:0"], "key create": [],
        "key list": [], "key revoke": ["ID"], "key rotate": ["ID"], "key callback-secret": ["--tenant", "local"],
        "audit": [], "tenant export": ["local", "export"], "tenant rm": ["local", "--yes"], "console": [],
        "store gc": [], "store verify": [], "store migrate": [], "store backup": ["backup"], "doctor": [],
        "store copy": ["store", "--store", "postgres://user@127.0.0.1:1/none"],
    ]
    /// Commands with the option `--store` that open no existing store.
    private static let others: Set = ["config show", "store restore"]

    /// The names of all commands with the option `--store`.
    private static func commandsWithStores(_ user: borrowing CommandLineUser) throws -> Set<String> {
        var found: Set<String> = []
        func look(at command: [String: Any], _ path: [String]) {
            let path = path + [command["commandName"] as? String ?? ""]
            for child in command["subcommands"] as? [[String: Any]] ?? [] { look(at: child, path) }
            let arguments = command["arguments"] as? [[String: Any]] ?? []
            let names = arguments.flatMap { $0["names"] as? [[String: Any]] ?? [] }.map { $0["name"] as? String }
            if names.contains("store") { found.insert(path.dropFirst().joined(separator: " ")) }
        }
        let help = try JSONSerialization.jsonObject(with: user.run("--experimental-dump-help").output)
        look(at: try #require((help as? [String: Any])?["command"] as? [String: Any]), [])
        return found
    }

    /// Something in a store that needs the keys.
    enum Need: String, CaseIterable, CustomTestStringConvertible {
        case apiKey, lease, link, grant, headers, encryption
        var testDescription: String { rawValue }
    }

    @Test(.inCheck("runs every command"), arguments: Need.allCases)
    func `without the keys that its store needs, each command is refused, names the path and makes no keys`(
        need: Need
    ) throws {
        let user = try CommandLineUser()
        #expect(try Self.commandsWithStores(user) == Self.others.union(Self.commands.keys))
        try user.sample("png/alpha.png", as: "in/alpha.png")
        try user.file("push.json", Data(#"{"payload": {"aps": {"alert": "Hello"}}}"#.utf8))
        try user.file("category.json", Data(#"{"id": "c", "actions": []}"#.utf8))
        let added = try user.satchel.run(
            ["add", "in/alpha.png"] + (need == .encryption ? ["--encrypt", "matrix"] : []))
        #expect(added.status == 0, "\(added.errorText)")
        let listed = try user.run("list", "--format", "csv").outputText
        let id = String(try #require(listed.split(separator: "\n").dropFirst().first?.split(separator: ",").first))
        switch need {
        case .apiKey: #expect(try user.run("key", "create").status == 0)
        case .lease: #expect(try user.run("lease", id).status == 0)
        case .link: #expect(try user.run("lease", id, "--link").status == 0)
        case .grant: #expect(try user.run("grant", id).status == 0)
        case .headers:
            let push =
                #"{"payload": {}, "attachments": [{"identifier": "a", "url": "https://a.example/a.png", "headers": {"Authorization": "x"}}], "trigger": {"type": "manual"}}"#
            let added = try user.run("notification", "add", "-", "--id", "n", input: Data(push.utf8))
            #expect(added.status == 0, "\(added.errorText)")
        case .encryption: break
        }
        // A notification's attachment is in the list as well.
        let all = try user.run("list", "--format", "csv").outputText
        #expect(try user.run("store", "backup", "backup").status == 0)
        let keys = user.home.url.appending(path: "keys/access.keys").path(percentEncoded: false)
        let kept = try Data(contentsOf: URL(filePath: keys))
        try FileManager.default.removeItem(atPath: keys)
        // All commands are tried with one need, and a few with each.
        for (command, arguments) in Self.commands where need == .apiKey || ["list", "lease"].contains(command) {
            let result = try user.satchel.run(
                command.split(separator: " ").map(String.init) + arguments.map { $0 == "ID" ? id : $0 })
            #expect(result.status == (command == "doctor" ? 1 : 2), "\(command): \(result.errorText)")
            let text = result.outputText + result.errorText
            #expect(text.contains("'\(keys)' is missing"), "\(command): \(text)")
            #expect(!FileManager.default.fileExists(atPath: keys), "\(command)")
        }
        let restored = try user.run("store", "restore", "backup", "--store", "restored")
        #expect(restored.status == 0 && restored.errorText.contains(keys), "\(restored.errorText)")
        #expect(!FileManager.default.fileExists(atPath: keys))
        #expect(try user.run("list", "--store", "restored").status == 2)
        // With the keys, everything is as before.
        #expect(FileManager.default.createFile(atPath: keys, contents: kept, attributes: [.posixPermissions: 0o600]))
        #expect(try user.run("list", "--format", "csv").outputText == all)
        #expect(try user.run("list", "--store", "restored", "--format", "csv").outputText == all)
        // After losing the keys, an operator asks for new ones.
        try Data("new\n".utf8).write(to: URL(filePath: keys))
        #expect(try user.run("list").status == 0)
        #expect(try Data(contentsOf: URL(filePath: keys)).starts(with: Data("[".utf8)))
    }

    @Test func `a store that needs no keys gets new ones`() throws {
        let user = try CommandLineUser()
        try user.sample("png/alpha.png", as: "in/alpha.png")
        #expect(try user.run("batch", "in").status == 0)
        let keys = user.home.url.appending(path: "keys/access.keys").path(percentEncoded: false)
        try FileManager.default.removeItem(atPath: keys)
        #expect(try user.run("list").status == 0)
        #expect(FileManager.default.fileExists(atPath: keys))
    }
}
