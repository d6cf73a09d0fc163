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
        let name = name(arguments, output.pathExtension)
        if let bytes = made.withLock({ $0[name] }) {
            try bytes.write(to: output)
            return
        }
        try run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments + [output.path])
        guard !name.contains("/satchel-") else { return }
        let bytes = try Data(contentsOf: output)
        if bytes.count < 4_000_000 { made.withLock { $0[name] = bytes } }
    }

    /// Makes by one call what tests then ask ``ffmpeg(_:to:)`` for one by one: FFmpeg takes longer to start than to make
    /// most of it.
    ///
    /// - Parameters:
    ///   - input: Arguments up to the last input.
    ///   - outputs: Each with the arguments that follow, and a name for its extension.
    static func prepare(_ input: [String], _ outputs: [(arguments: [String], name: String)]) throws {
        let directory = try TemporaryDirectory()
        var arguments = ["-v", "error", "-nostdin", "-y"] + input
        var files: [(name: String, file: URL)] = []
        for (index, output) in outputs.enumerated() {
            let file = directory.url.appending(path: "\(index)-\(output.name)")
            arguments += output.arguments + [file.path]
            files.append((name(input + output.arguments, file.pathExtension), file))
        }
        try run("ffmpeg", arguments)
        for (name, file) in files {
            let bytes = try Data(contentsOf: file)
            made.withLock { $0[name] = bytes }
        }
    }

    private static func name(_ arguments: [String], _ type: String) -> String {
        arguments.joined(separator: " ") + " " + type
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
