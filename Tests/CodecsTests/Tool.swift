import Foundation
import Testing

/// Runs the independent tools that judge what was made; a missing one is a failure.
enum Tool {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// What `name` writes to stdout.
    @discardableResult
    static func run(_ name: String, _ arguments: [String], allowFailure: Bool = false) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let output = Pipe()
        let errors = FileManager.default.temporaryDirectory.appending(path: "satchel-tool-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: errors) }
        let errorHandle = try FileHandle(forWritingTo: errors)
        process.standardOutput = output
        process.standardError = errorHandle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try? errorHandle.close()
        guard process.terminationStatus == 0 || allowFailure else {
            let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
            throw Failure(description: "\(name) \(arguments.joined(separator: " ")): \(text.suffix(1000))")
        }
        return data
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
