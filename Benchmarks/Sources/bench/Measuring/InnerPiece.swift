import Foundation

/// What a program that measures pieces of itself says: a line for each input, words separated by spaces.
struct InnerPiece {
    var command: Command

    init(_ executable: URL, _ arguments: [String]) throws {
        let path = executable.path(percentEncoded: false)
        guard FileManager.default.isExecutableFile(atPath: path) else {
            throw CommandFailure(command: [path], reason: "is missing: 'make bench' builds it")
        }
        command = Command(path, arguments)
    }

    /// - Parameter count: How many lines there must be.
    func lines(_ count: Int, in workplace: Workplace) throws -> [[String]] {
        let answer = workplace.scratch.appending(path: "answer-\(UUID().uuidString)")
        var command = command
        command.output = answer
        try command.run()
        let lines = try String(contentsOf: answer, encoding: .utf8).split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        guard lines.count == count else {
            throw CommandFailure(command: command.line, reason: "measured \(lines.count) inputs, not \(count)")
        }
        return lines
    }
}

extension Workplace {
    /// Beside the measured programs; it links the codecs.
    var innerBench: URL { URL(filePath: satchel).deletingLastPathComponent().appending(path: "inner-bench") }

    /// Beside this program.
    var remux: URL { beside("remux") }

    /// Beside this program.
    var jpegFloor: String { beside("jpeg-floor").path(percentEncoded: false) }

    private func beside(_ name: String) -> URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name)
    }
}
