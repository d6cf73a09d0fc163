import Foundation
import TestSupport
import Testing

/// The help of all commands, and the man pages that are made from it.
@Suite struct HelpTests {
    private struct Command {
        /// The words of the command: `satchel store gc`.
        var path: [String]
        var discussion: String
    }

    private static func commands() throws -> [Command] {
        let user = try CommandLineUser()
        let help = try JSONSerialization.jsonObject(with: user.run("--experimental-dump-help").output)
        var commands: [Command] = []
        func add(_ help: [String: Any], below path: [String]) {
            guard let name = help["commandName"] as? String, name != "help" else { return }
            commands.append(Command(path: path + [name], discussion: help["discussion"] as? String ?? ""))
            for child in help["subcommands"] as? [[String: Any]] ?? [] { add(child, below: path + [name]) }
        }
        add(try #require((help as? [String: Any])?["command"] as? [String: Any]), below: [])
        return commands
    }

    @Test func `paragraphs reflow at any width, and examples fit 80 columns`() throws {
        let commands = try Self.commands()
        #expect(commands.count > 50)
        for command in commands {
            for paragraph in command.discussion.components(separatedBy: "\n\n") {
                let lines = paragraph.split(separator: "\n")
                if lines.first?.hasPrefix("  ") == true {
                    for line in lines { #expect(line.count <= 80 && line.hasPrefix("  "), "\(command.path): \(line)") }
                } else {
                    #expect(lines.count <= 1, "\(command.path): \(paragraph)")
                }
            }
        }
    }

    @Test(arguments: [
        ["inspect", "a.jpg", "--codecs", "2"], ["inspect", "a.jpg", "--type-hint", "image/png"],
        ["doctor", "--memory", "1G"], ["doctor", "--codecs", "2"], ["doctor", "--sources-per-process", "2"],
        ["health", "--store", "http://h"], ["health", "--memory", "http://h"],
    ])
    func `a command has no flag that would do nothing there`(arguments: [String]) throws {
        let user = try CommandLineUser()
        let result = try user.satchel.run(arguments)
        #expect(result.status == 2 && result.errorText.contains(arguments[arguments.count - 2]), "\(result.errorText)")
        #expect(try !user.run("help", arguments[0]).outputText.contains(arguments[arguments.count - 2] + " <"))
    }

    @Test(arguments: [80, 50]) func `no word is broken at the edge of a terminal`(columns: Int) throws {
        let user = try CommandLineUser()
        let screen = try user.screen(["help", "get"], columns: columns)
        for word in try user.run("help", "get").outputText.split(whereSeparator: \.isWhitespace) {
            #expect(screen.lines.contains { $0.contains(word) }, "\(word) in \(screen.text)")
        }
    }

    @Test func `each command has a man page with all sections, which groff accepts`() throws {
        let directory = try TemporaryDirectory()
        let script = Repository.root.appending(path: "Packaging/man.py").path(percentEncoded: false)
        let made = try Program.tool("python3").run([
            "-B", script, Repository.product("satchel").path(percentEncoded: false), directory.path,
        ])
        #expect(made.status == 0, "\(made.errorText)")
        let commands = try Self.commands()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == commands.count)
        for command in commands {
            let page = directory.url.appending(path: command.path.joined(separator: "-") + ".1")
            let shown = try Program.tool("groff").run(["-mdoc", "-ww", "-Tascii", page.path(percentEncoded: false)])
            #expect(shown.status == 0 && shown.errorText.isEmpty, "\(page.lastPathComponent): \(shown.errorText)")
            // Bold letters are printed twice.
            let lines = shown.outputText.replacing(/.\u{8}/, with: "").split(separator: "\n")
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES"] {
                let start = try #require(
                    lines.firstIndex { $0.hasSuffix(section) && !$0.hasPrefix(" ") }, "\(command.path): \(section)")
                #expect(lines[start + 1].hasPrefix("  "), "\(command.path): \(section) is empty")
            }
            let examples = command.discussion.replacing("…", with: "...").components(separatedBy: "Examples:\n")
                .dropFirst().joined()
            for example in examples.split(separator: "\n") {
                #expect(lines.contains { $0.contains(example.trimmingPrefix("  ")) }, "\(command.path): \(example)")
            }
        }
    }
}
