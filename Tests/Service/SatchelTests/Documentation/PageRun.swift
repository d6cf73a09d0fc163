import Foundation
import ServiceTestSupport
import TestSupport
import Testing

/// Runs the commands of a page in one shell, from top to bottom, in a fresh directory with a few files.
struct PageRun: ~Copyable {
    private let harness: ServiceHarness
    private let service: ServiceProcess?
    private let environment: [String: String]
    private let scratch: TemporaryDirectory

    /// The first line of a page whose commands need a service.
    static let serviceMark = "<!-- run: service -->"
    /// The address of the service in the pages.
    static let writtenAddress = "127.0.0.1:8000"

    private static let files = [
        "IMG_0042.HEIC": "heic/coffee-gps.heic", "beach.jpg": "jpeg/private.jpg", "clip.mov": "mov/phone.mov",
        "voice.m4a": "m4a/voice.m4a", "sticker.gif": "gif/film.gif",
    ]

    init(_ page: DocumentPage) async throws {
        let harness = try ServiceHarness()
        let scratch = try TemporaryDirectory()
        for (name, sample) in Self.files {
            try harness.file("photos/\(name)", Data(contentsOf: Repository.media.appending(path: sample)))
        }
        _ = try harness.file("photos/notes.txt", text: String(repeating: "Buy milk.\n", count: 20))
        var environment = harness.satchel.environment
        let key = page.lines[0] == Self.serviceMark ? try await harness.makeKey("--role", "submit,read,admin") : nil
        let service = key == nil ? nil : try await harness.serve("--codecs", "2", "--grace", "1s", key: key)
        environment["KEY"] = key
        // satchel, a curl that fails with the request, and a make that doesn't build.
        let programs = scratch.url.appending(path: "bin")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: programs.appending(path: "satchel"), withDestinationURL: Repository.product("satchel"))
        let demo = Repository.media.appending(path: "demo.sh").path()
        let scripts = [
            "curl": "exec /usr/bin/curl --fail-with-body \"$@\"",
            "make": "[ \"$*\" = demo ] && exec \(demo) \(programs.path())/satchel $PWD/.demo/showcase",
        ]
        for (name, script) in scripts {
            let program = programs.appending(path: name)
            try "#!/bin/sh\n\(script)\n".write(to: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program.path())
        }
        environment["PATH"] = programs.path() + ":" + (Program.tool("sh").environment["PATH"] ?? "")
        self.environment = environment
        self.service = service
        self.scratch = scratch
        self.harness = harness
    }

    /// One or more commands of a page.
    struct Piece {
        /// Its first line in the page, from 0.
        var line: Int
        var text: String
        /// The lines of the page with its output; `nil` if the page shows none.
        var shown: Range<Int>?
    }

    /// The commands of a block.
    static func pieces(of block: DocumentPage.Block, in page: DocumentPage) -> [Piece] {
        guard block.language == "console" else {
            return [Piece(line: block.place.lowerBound, text: page.text(of: block), shown: nil)]
        }
        var pieces: [Piece] = []
        for number in block.place {
            let line = page.lines[number]
            if line.hasPrefix("$ ") {
                pieces.append(Piece(line: number, text: String(line.dropFirst(2)), shown: number + 1..<number + 1))
            } else if let last = pieces.indices.last, let shown = pieces[last].shown {
                if line.hasPrefix("> ") && shown.isEmpty {
                    pieces[last].text += "\n" + line.dropFirst(2)
                    pieces[last].shown = number + 1..<number + 1
                } else {
                    pieces[last].shown = shown.lowerBound..<number + 1
                }
            }
        }
        return pieces
    }

    /// Runs the pieces and returns their outputs, with the page's address and paths instead of the test's.
    ///
    /// - Throws: ``Failure`` for the first piece that fails.
    func run(_ pieces: [Piece]) async throws -> [String] {
        let (scratch, home) = (scratch.url, harness.home.path)
        let port = service?.url.port.map { "127.0.0.1:\($0)" } ?? Self.writtenAddress
        let output = { (number: Int, name: String) in scratch.appending(path: "\(number).\(name)") }
        // With `-u`, a variable that the page does not set is an error.
        let script = pieces.enumerated().map { number, piece in
            """
            echo \(number) > "\(output(0, "begun").path())"
            {
            \(piece.text.replacing(Self.writtenAddress, with: port))
            } > "\(output(number, "out").path())" 2> "\(output(number, "errors").path())" < /dev/null

            """
        }.joined()
        let shell = Program(URL(filePath: "/bin/bash"), environment: environment, in: harness.home.url)
        let result = try await shell.start(["-euo", "pipefail", "-c", script]).end(within: 120)
        let texts = { (name: String) in
            try pieces.indices.map { number in
                let file = output(number, name)
                guard FileManager.default.fileExists(atPath: file.path()) else { return "" }
                return try String(contentsOf: file, encoding: .utf8)
                    .replacing(port, with: Self.writtenAddress).replacing(home + "/", with: "")
            }
        }
        let outputs = try texts("out")
        if result.status != 0 {
            let begun = try String(contentsOf: output(0, "begun"), encoding: .utf8)
            let number = Int(begun.trimmingCharacters(in: .newlines)) ?? 0
            throw Failure(
                line: pieces[number].line + 1, status: result.status,
                text: "\(outputs[number])\n\(try texts("errors")[number])\n\(result.errorText)")
        }
        return outputs
    }

    /// A command that failed, by its line in the page.
    struct Failure: Error, CustomStringConvertible {
        var line: Int
        var status: Int32
        var text: String
        var description: String { "line \(line): status \(status): \(text)" }
    }

    // MARK: Comparison

    /// Everything that differs from run to run, each with the word that stands for it in a comparison.
    private static var masks: [(Regex<Substring>, String)] {
        [
            (/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/, "ID"),
            (/sat[a-z]_[0-9A-Za-z]+/, "TOKEN"),
            (/\b[0-9a-f]{40,64}\b/, "HASH"),
            (/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?/, "TIME"),
            (/\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b/, "DURATION"),
            // Bytes and colors depend on the versions of the codecs.
            (/files?, \d+ bytes/, "files, SIZE"),
            (/#[0-9a-f]{6}\b/, "COLOR"),
            (/\b\d+(?:\.\d+)? ?(?:B|kB|MB|GB|KiB|MiB)\b/, "SIZE"),
            (/[ \t]+/, " "),
        ]
    }

    /// Whether a page shows these lines. A line `…` stands for any number of lines.
    static func shows(_ shown: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
        guard let gap = shown.firstIndex(of: "…") else { return shown.elementsEqual(lines) }
        guard lines.starts(with: shown[..<gap]) else { return false }
        let (shown, lines) = (shown[(gap + 1)...], lines.dropFirst(gap - shown.startIndex))
        return (lines.startIndex...lines.endIndex).contains { shows(shown, lines[$0...]) }
    }

    /// A line without anything that differs from run to run.
    static func masked(_ line: String) -> String {
        masks.reduce(line) { text, mask in text.replacing(mask.0, with: mask.1) }
            .trimmingCharacters(in: .whitespaces)
    }
}
