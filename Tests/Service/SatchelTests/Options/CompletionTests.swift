import Foundation
import TestSupport
import Testing

/// What the real shells make of the tabulator; see ``Screen``.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CompletionTests {
    /// How each shell is started with the completion script `complete` and nothing of a user's own.
    private static let shells = [
        "bash": ["bash", "--noprofile", "--rcfile", "setup", "-i"],
        "zsh": ["env", "ZDOTDIR=.", "zsh", "-d", "-i"],
        "fish": [
            "fish", "--no-config", "-i", "-C",
            "set -g fish_autosuggestion_enabled 0; function fish_prompt; echo '> '; end; source complete",
        ],
    ]

    @Test(arguments: ["bash", "zsh", "fish"])
    func `files, directories, profiles and identifiers complete`(shell: String) throws {
        let user = try CommandLineUser()
        let photo = try user.sample("jpeg/coffee.jpg", as: "holiday.jpg")
        try user.file("pictures/a.jpg", Data(contentsOf: photo))
        try user.file("picture.txt", Data())
        try user.file("mine.yaml", Data("profiles: {banner: {based_on: avatar}}\n".utf8))
        try user.file("mine.txt", Data())
        try user.file("server.pem", Data())
        let added = try user.run("add", "holiday.jpg", "--format", "jsonl").output
        let id = try #require(
            (try JSONSerialization.jsonObject(with: added) as? [String: Any])?["attachment_id"] as? String)
        func made(_ arguments: String...) throws -> String {
            let output = try user.satchel.run(arguments + ["--format", "json"]).output
            return try #require((try JSONSerialization.jsonObject(with: output) as? [String: Any])?["id"] as? String)
        }
        let lease = try made("lease", id)
        let key = try made("key", "create")
        let script = try user.run("--generate-completion-script", shell)
        try user.file("complete", script.output)
        try user.file("setup", Data("PS1='> '; source complete\n".utf8))
        try user.file(
            ".zshrc", Data("PS1='> '; autoload -Uz compinit; compinit -u -D; source ./complete\n".utf8))

        let typed = [
            "inspect hol": "holiday.jpg", "add hol": "holiday.jpg", "batch pictures": "pictures/",
            "batch --output pict": "pictures/", "serve --store pict": "pictures/",
            "get \(id) --output hol": "holiday.jpg",
            "batch --profile ava": "avatar", "profile show arch": "archive", "batch --profiles mi": "mine.yaml",
            "profile check mi": "mine.yaml", "batch --profiles mine.yaml --profile ban": "banner",
            "serve --tls-key serv": "server.pem", "show \(id.prefix(30))": id, "get \(id.prefix(30))": id,
            "rm \(id.prefix(30))": id, "revoke \(lease.prefix(12))": lease, "key revoke \(key.prefix(12))": key,
        ]
        var steps: [Screen.Step] = [.wait("^>")]
        for (line, word) in typed.sorted(by: { $0.key < $1.key }) {
            let start = line.split(separator: " ").dropLast().joined(separator: " ")
            steps += [
                .send("satchel \(line)\t"),
                .wait("^> satchel \(NSRegularExpression.escapedPattern(for: "\(start) \(word)"))"),
                // Away with the line.
                .send("\u{15}"),
            ]
        }
        let path = user.satchel.executable.deletingLastPathComponent().path + ":/usr/bin:/bin"
        let screen = try user.screen(
            of: try #require(Self.shells[shell]), columns: 200,
            environment: ["PATH": path, "HOME": user.home.path, "fish_greeting": ""],
            steps: steps + [.send("exit\r")])
        #expect(!screen.text.contains("command not found"), "\(screen.text)")
    }
}
