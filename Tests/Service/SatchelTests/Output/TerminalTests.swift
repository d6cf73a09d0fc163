import Foundation
import ServiceTestSupport
import TestSupport
import Testing

@testable import satchel

/// What a person sees on a terminal; see ``Screen``.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TerminalTests {
    private static let names = [
        "a.jpg", "Ferien am Meer/ein sehr langer Name, wie Kameras ihn geben, 2024-07-31 17.25.08 (1).jpg",
        "日本語のとても長い名前の写真/京都の秋の紅葉と古いお寺の写真.jpg", "🎉.jpg",
    ]

    private func fill(_ user: borrowing CommandLineUser, copies: Int = 0) throws {
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for name in Self.names { try user.file("in/" + name, photo) }
        for number in 0..<copies { try user.file("in/copies/\(number).jpg", photo + Data("\(number)".utf8)) }
        try user.file("in/damaged.jpg", photo.prefix(9_000))
    }

    private func isRow(_ line: String) -> Bool {
        line.contains(/^(image|-) +.*(full|corrupt).* \S*(…|\.jpg|\.jp)/) || line.hasPrefix("KIND")
    }

    @Test(arguments: [140, 80, 60, 40])
    func `rows fit the terminal, each on a line of its own, and progress leaves nothing`(columns: Int) throws {
        let user = try CommandLineUser()
        try fill(user)
        let screen = try user.screen(["batch", "in"], columns: columns)
        #expect(screen.status == 1)
        // A line of the terminal that is full has wrapped, unless it was meant to be that long.
        let count = Self.names.count + 1
        let rows = screen.lines.prefix(1 + count)
        #expect(rows.first?.contains("RESULT") ?? false && rows.first?.hasSuffix("FILE") ?? false, "\(screen.text)")
        #expect(rows.dropFirst().count { $0.contains(#/(^| )full /#) } == Self.names.count, "\(screen.text)")
        #expect(rows.dropFirst().count { $0.contains(#/(^| )corrupt /#) } == 1, "\(screen.text)")
        #expect(rows.dropFirst().allSatisfy { $0.hasSuffix(".jpg") }, "\(screen.text)")
        #expect(rows.allSatisfy { $0.columns <= columns }, "\(screen.text)")
        #expect(screen.lines.dropFirst(1 + count).first == "Not delivered:", "\(screen.text)")
        #expect(rows.first?.contains("ATTACHMENT") == (columns == 140))
        #expect(screen.text.contains("…") && !screen.text.contains("]  "), "\(screen.text)")
        #expect(screen.cursorLines.contains { $0.contains(/\d of \d/) }, "\(screen.cursorLines)")
    }

    @Test func `progress has a bar beneath the rows, which it never writes over`() throws {
        let user = try CommandLineUser()
        try fill(user, copies: 60)
        let screen = try user.screen(["batch", "in"], columns: 72)
        let count = Self.names.count + 61
        #expect(screen.lines.prefix(1 + count).allSatisfy(isRow), "\(screen.text)")
        #expect(screen.cursorLines.contains { $0.contains(/^\[#+-+\]  \d+ of \d+ files/) }, "\(screen.cursorLines)")
        #expect(screen.lines.contains { $0.hasPrefix("\(count) files: \(count - 1) delivered, 1 failed.") })
    }

    @Test func `a terminal that gets narrower gets fewer columns, beneath a new header`() throws {
        let user = try CommandLineUser()
        try fill(user, copies: 60)
        let screen = try user.screen(
            ["batch", "in", "--codecs", "1"], columns: 140,
            steps: [.wait("(.*full.*\n){3}"), .resize(56), .wait("(KIND|AFTER) (?!.*ATTACHMENT)")])
        let headers = screen.lines.filter { $0.hasSuffix("FILE") || $0.hasPrefix("KIND") }
        #expect(headers.count == 2, "\(screen.text)")
        #expect(screen.lines.count { $0.contains(" full") } == Self.names.count + 60, "\(screen.text)")
        let narrow = screen.lines.drop { !$0.hasSuffix("FILE") }
        #expect(narrow.count { $0.contains(" full ") && $0.hasSuffix(".jpg") } > 20, "\(screen.text)")
    }

    @Test func `Ctrl-C leaves rows, a sentence, and nothing of the progress`() throws {
        let user = try CommandLineUser()
        try fill(user, copies: 60)
        let screen = try user.screen(
            ["batch", "in", "--codecs", "1"], steps: [.wait("(.*full.*\n){3}"), .send("\u{3}")])
        #expect(screen.status == 130)
        #expect(screen.lines.last == "Interrupted. Run the same command again to continue.")
        // Two lines of the summary.
        #expect(screen.lines.dropLast(3).allSatisfy(isRow), "\(screen.text)")
        #expect(screen.lines.dropLast(2).last?.contains(/^\d+ files: \d+ delivered/) == true, "\(screen.text)")
    }

    @Test func `a service whose terminal is closed finishes what is underway, and ends`() async throws {
        let user = try CommandLineUser()
        let gates = Gates()
        let origin = try await LocalOrigin { [gates] request in
            try await gates.pass(request.path)
            return try await LocalOrigin.photographs(request)
        }
        let address = "127.0.0.1:\(try FreePort.find())"
        let service = ServiceRequester(url: try #require(URL(string: "http://\(address)")), key: nil)
        let sign = user.home.url.appending(path: "close")
        let command = [
            user.satchel.executable.path(percentEncoded: false), "serve", "--listen", address, "--fetch-allow",
            "127.0.0.1", "--set", "api_keys.required=false",
        ]
        let satchel = user.satchel
        async let screen = onThread {
            try Screen(command, steps: [.hangUp(sign.path(percentEncoded: false))], as: satchel)
        }
        try await eventually("it listens") { (try? await service.get("/livez").status) == 200 }
        #expect(try await service.submit("one", origin.url("/one")).status == 202)
        try await eventually("the job is underway") { !origin.requests.isEmpty }
        try Data().write(to: sign)
        try await eventually("it is not ready") { try await service.get("/readyz").status == 503 }
        gates.open("/one")
        #expect(try await screen.status == 0)
        #expect(try user.run("show", "one", "--tenant", "default").outputText.contains("\"delivered\""))
    }

    @Test func `colours say what failed, unless NO_COLOR is set, and a dumb terminal gets no codes at all`() throws {
        let user = try CommandLineUser()
        try fill(user)
        let coloured = try user.screen(["batch", "in"])
        #expect(coloured.raw.contains("\u{1B}[31m"))
        let plain = try user.screen(["batch", "in", "--retry-failed", "--all"], environment: ["NO_COLOR": "1"])
        #expect(plain.text.contains("corrupt") && !plain.raw.contains(/\u{1B}\[\d*m/), "\(plain.raw)")
        let dumb = try user.screen(
            ["batch", "in", "--retry-failed", "--all"], columns: 60, environment: ["TERM": "dumb"])
        #expect(dumb.text.contains("corrupt") && !dumb.raw.contains("\u{1B}"), "\(dumb.raw)")
        #expect(dumb.lines.prefix(6).allSatisfy { $0.columns <= 60 && !$0.isEmpty })
    }

    @Test func `results that go to a file have every column and no codes, whatever is on the terminal`() throws {
        let user = try CommandLineUser()
        try fill(user)
        let screen = try user.screen(
            of: ["sh", "-c", "exec \"$0\" batch in >results", user.satchel.executable.path], columns: 40)
        #expect(screen.cursorLines.contains { $0.contains(/\d of \d/) }, "\(screen.cursorLines)")
        #expect(!screen.text.contains("KIND"))
        let results = try String(contentsOf: user.home.url.appending(path: "results"), encoding: .utf8)
        #expect(!results.contains("\u{1B}") && !results.contains("…"))
        #expect(results.contains(Self.names[1]) && results.contains("ATTACHMENT"))
    }

    @Test func `a second run shows what is new, --all the rest, --quiet nothing`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 0..<300 { try user.file("in/\(number).txt", Data("note \(number)".utf8)) }
        try user.file("in/a.jpg", photo)
        try FileManager.default.createSymbolicLink(
            at: user.home.url.appending(path: "in/link.jpg"), withDestinationURL: URL(filePath: "/etc/passwd"))
        let first = try user.screen(["batch", "in"])
        #expect(first.status == 0 && first.lines.count { $0.contains("skipped") } == 301, "\(first.text)")
        let second = try user.screen(["batch", "in"])
        #expect(
            second.lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
                == "Nothing to do: 301 files unchanged since an earlier run, 1 not opened (such as links; --all lists them)."
        )
        try user.file("in/b.jpg", photo)
        let third = try user.screen(["batch", "in"])
        #expect(third.lines.count { $0.hasSuffix(".jpg") } == 1 && !third.text.contains(".txt"), "\(third.text)")
        #expect(third.text.contains("Not opened, because not regular files: link.jpg"), "\(third.text)")
        let all = try user.run("batch", "in", "--all")
        #expect(all.outputText.split(separator: "\n").count == 304, "\(all.outputText)")
        let quiet = try user.screen(["batch", "in", "--quiet"])
        #expect(quiet.status == 0 && quiet.raw.isEmpty, "\(quiet.text)")
        // Programs get every file's line, as ever.
        let lines = try user.batch("in")
        #expect(lines.lines.count == 303)
        // What went wrong is said nevertheless.
        try user.file("in/cut.jpg", photo.prefix(9_000))
        let failed = try user.run("batch", "in", "-q")
        #expect(failed.status == 1 && failed.output.isEmpty && failed.errorText.contains("cut.jpg: corrupt"))
    }
}
