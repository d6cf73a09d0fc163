import Foundation
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
        let result = try Program.tool(name).run(arguments)
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
    static func ffmpeg(_ arguments: [String], to output: URL) throws {
        try run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [output.path])
    }
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
