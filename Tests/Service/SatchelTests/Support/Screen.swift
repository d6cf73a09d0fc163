import Foundation
import TestSupport
import Testing

/// What stood on a terminal in which a person used the program; see `Tests/Support/terminal/screen.py`.
struct Screen: Decodable {
    /// From the top, with what has scrolled out.
    var lines: [String]
    /// Every state of the line that the cursor was in.
    var cursorLines: [String]
    /// All that was written.
    var raw: String
    var status: Int32

    var text: String { lines.joined(separator: "\n") }

    /// What a person does.
    enum Step: Encodable {
        /// Until the screen matches a regular expression.
        case wait(String)
        case send(String)
        /// To that many columns.
        case resize(Int)
        /// Closes the terminal once this file is there.
        case hangUp(String)

        private enum Key: String, CodingKey { case wait, send, resize, hangUp = "hang_up" }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            switch self {
            case .wait(let pattern): try container.encode(pattern, forKey: .wait)
            case .send(let keys): try container.encode(keys, forKey: .send)
            case .resize(let columns): try container.encode(columns, forKey: .resize)
            case .hangUp(let path): try container.encode(path, forKey: .hangUp)
            }
        }
    }

    private struct Request: Encodable {
        var command: [String]
        var columns: Int
        var steps: [Step]
        var seconds = 50
    }

    init(_ command: [String], columns: Int = 80, steps: [Step], as user: Program) throws {
        let request = Request(command: command, columns: columns, steps: steps)
        let script = Repository.root.appending(path: "Tests/Support/terminal/screen.py").path
        var python = user
        // Debian's, which has pyte.
        python.executable = URL(filePath: "/usr/bin/python3")
        python.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        let result = try python.run([
            script, String(decoding: try JSONEncoder().encode(request), as: UTF8.self),
        ])
        try #require(result.status == 0, "\(result.errorText)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self = try decoder.decode(Screen.self, from: result.output)
    }
}

extension CommandLineUser {
    /// Uses the program in a terminal.
    func screen(
        _ arguments: [String], columns: Int = 80, environment: [String: String] = [:], steps: [Screen.Step] = []
    ) throws -> Screen {
        try screen(
            of: [satchel.executable.path(percentEncoded: false)] + arguments, columns: columns,
            environment: environment, steps: steps)
    }

    /// Uses another program in a terminal, such as a shell.
    func screen(
        of command: [String], columns: Int = 80, environment: [String: String] = [:], steps: [Screen.Step] = []
    ) throws -> Screen {
        var program = satchel
        program.environment["TERM"] = "xterm-256color"
        program.environment["NO_COLOR"] = ""
        program.environment.merge(environment) { _, new in new }
        return try Screen(command, columns: columns, steps: steps, as: program)
    }
}
