import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs the independent tools that judge what was made; a missing one is a failure.
enum Tool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// What `name` writes to stdout.
    @discardableResult
    static func run(_ name: String, _ arguments: [String], allowFailure: Bool = false) throws -> Data {
        let isScript = name.hasSuffix("python3") && arguments.first == "-c"
        let result =
            try isScript
            ? Python.run(arguments[1], Array(arguments.dropFirst(2))) : Program.tool(name).run(arguments)
        guard result.status == 0 || allowFailure else {
            throw Failure(description: "\(name) \(arguments.joined(separator: " ")): \(result.errorText.suffix(1000))")
        }
        return result.output
    }

    static func text(_ name: String, _ arguments: [String]) throws -> String {
        String(decoding: try run(name, arguments), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Makes a file with FFmpeg; `arguments` end before the output.
    ///
    /// Of pictures and sound that FFmpeg draws up itself it is made once for all tests.
    static func ffmpeg(_ arguments: [String], to output: URL) throws {
        let name = arguments.joined(separator: " ") + " " + output.pathExtension
        if let bytes = made.withLock({ $0[name] }) {
            try bytes.write(to: output)
            return
        }
        try run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [output.path])
        guard !name.contains("/satchel-") else { return }
        let bytes = try Data(contentsOf: output)
        if bytes.count < 4_000_000 { made.withLock { $0[name] = bytes } }
    }

    /// By the command, what other tests may want again.
    private static let made = Mutex<[String: Data]>([:])
}

/// An open file for the length of a call.
func withDescriptor<Value>(
    _ url: URL, _ flags: Int32 = O_RDONLY, _ body: (Int32) throws -> Value
) throws -> Value {
    let descriptor = unsafe open(url.path, flags | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Tool.Failure(description: "cannot open \(url.path)") }
    defer { close(descriptor) }
    return try body(descriptor)
}
