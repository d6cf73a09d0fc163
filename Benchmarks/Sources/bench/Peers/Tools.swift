import Foundation

/// Programs that are measured beside or measured with.
enum Tools {
    private static let programs: [(name: String, program: String, arguments: [String])] = [
        ("libvips", "vipsthumbnail", ["--vips-version"]),
        ("ImageMagick", imageMagick, ["-version"]),
        ("GraphicsMagick", "gm", ["version"]),
        ("gifsicle", "gifsicle", ["--version"]),
        ("FFmpeg", "ffmpeg", ["-version"]),
    ]

    /// ImageMagick itself: `convert` on the path may be somebody's script.
    static let imageMagick = ["convert-im6.q16", "/usr/bin/convert", "magick"].first(where: isThere) ?? "convert"

    /// Whether a program is on the path.
    static func isThere(_ program: String) -> Bool {
        if program.contains("/") { return FileManager.default.isExecutableFile(atPath: program) }
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// Versions of those that are there, and of what the virtual environments hold.
    static func versions(environments: [PythonEnvironment]) -> [Machine.Tool] {
        let installed = programs.compactMap { tool in
            Machine.answer(of: tool.program, tool.arguments).flatMap(version).map {
                Machine.Tool(name: tool.name, version: $0)
            }
        }
        return installed + environments.flatMap(\.versions)
    }

    /// The first word of an answer that looks like a version.
    static func version(in answer: String) -> String? {
        answer.firstMatch(of: #/\d+\.\d+(\.\d+)*([-.][0-9A-Za-z]+)*/#).map { String($0.0) }
    }
}
