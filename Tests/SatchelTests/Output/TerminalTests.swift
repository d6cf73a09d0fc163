import Foundation
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
        #expect(screen.lines.last == "Interrupted. The same command carries on where this one stopped.")
        #expect(screen.lines.dropLast().allSatisfy(isRow), "\(screen.text)")
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
                == "Nothing was left to do: 301 files unchanged since an earlier run, 1 passed over (links and the like; --all lists them)."
        )
        try user.file("in/b.jpg", photo)
        let third = try user.screen(["batch", "in"])
        #expect(third.lines.count { $0.hasSuffix(".jpg") } == 1 && !third.text.contains(".txt"), "\(third.text)")
        #expect(third.text.contains("Passed over: link.jpg"), "\(third.text)")
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

@Suite struct TableTests {
    private static let table = Table(columns: [
        .init(title: "ONE", width: 4, weight: 2), .init(title: "TWO", width: 10, isNumber: true, weight: 1),
        .init(title: "THREE", width: 8, weight: 2), .init(title: "FILE", width: 0),
    ])

    @Test func `columns go by their weight, from the right among equals`() {
        let shown = [nil, 60, 48, 47, 36, 35, 26, 25, 1].map { Self.table.shown(in: $0) }
        #expect(
            shown == [
                [0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3], [0, 2, 3], [0, 2, 3], [0, 3], [0, 3], [3], [3],
            ])
    }

    @Test func `a row is never wider than it may be, whatever is in it`() {
        let cells = [
            ["image", "1234567890123", "x", "日本語のとても長い名前の写真.jpg"],
            ["a", "b", "c", "a very long name, and longer than any terminal is wide.jpg"],
            ["👨‍👩‍👧‍👦", "e\u{301}e\u{301}", "❤️", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦"],
        ]
        for width in 1...150 {
            for cells in cells {
                let row = Self.table.row(cells, in: width)
                #expect(row.columns <= width, "\(width): \(row)")
            }
        }
        #expect(
            Self.table.row(cells[1], in: nil).hasSuffix(
                "c         a very long name, and longer than any terminal is wide.jpg"))
    }

    @Test func `a long name loses its middle, and keeps its ending`() {
        #expect("holiday-2024-07-31.jpg".shortened(to: 22) == "holiday-2024-07-31.jpg")
        #expect("holiday-2024-07-31.jpg".shortened(to: 13) == "holida…31.jpg")
        #expect("日本語の写真.jpg".shortened(to: 10) == "日本….jpg")
        #expect("abc".shortened(to: 1) == "…" && "abc".shortened(to: 0).isEmpty)
    }

    @Test func `wide characters take two columns, accents none, and emoji what they may take at most`() {
        #expect("日本".columns == 4 && "한국".columns == 4 && "ｆ".columns == 2 && "ｱ".columns == 1)
        #expect("e\u{301}".columns == 1 && "a\u{200B}b".columns == 2)
        #expect("🏖️".columns == 2 && "❤️".columns == 2 && "☎".columns == 1 && "🎉".columns == 2)
    }

    @Test func `sentences are continued beneath themselves`() {
        let table = Table(columns: [.init(title: "A", width: 3), .init(title: "B", width: 0)], isProse: true)
        #expect(
            table.row(["one", "sentences are continued beneath"], in: 25)
                == "one  sentences are\n     continued beneath")
        #expect("".wrapped(to: 5) == [""] && "aaaaaaaaaa bb".wrapped(to: 5) == ["aaaaa", "aaaaa", "bb"])
    }
}

@Suite struct ProgressLineTests {
    @Test func `it tells what there is room for, the count to the last`() {
        let line = ProgressLine(done: 23, found: 151, isComplete: true, failed: 3, pace: 4.21)
        let whole = "23 of 151 files, 4.2/s, 30 s left, 3 failed"
        #expect(line.text(in: 79) == "[####" + String(repeating: "-", count: 28) + "]  " + whole)
        #expect(line.text(in: 55) == "[#-------]  " + whole)
        #expect(line.text(in: 54) == "[##------------]  23 of 151 files, 30 s left, 3 failed")
        #expect(line.text(in: 47) == "23 of 151 files, 30 s left, 3 failed")
        #expect(line.text(in: 35) == "23 of 151 files, 3 failed")
        #expect(line.text(in: 24) == "23 of 151 files")
        for width in 1...120 { #expect(line.text(in: width).columns <= width) }
        let looking = ProgressLine(done: 5, found: 900, isComplete: false, pace: 12)
        #expect(looking.text(in: 80) == "5 of 900 files found so far, 12/s")
    }

    @Test func `the pace is that of the last twenty seconds`() {
        var pace = Pace()
        let start = ContinuousClock.now
        #expect(pace.perSecond == nil)
        // What an earlier run did, in the first second, then four files a second.
        pace.note(0, at: start)
        pace.note(100_000, at: start + .seconds(1))
        #expect(pace.perSecond == nil)
        for second in 2...60 { pace.note(100_000 + 4 * (second - 1), at: start + .seconds(second)) }
        #expect(pace.perSecond == 4)
        // Nothing for long.
        for second in 61...90 { pace.note(100_000 + 4 * 59, at: start + .seconds(second)) }
        #expect(pace.perSecond == nil)
    }

    @Test(arguments: [
        (1, "under 5 s"), (12, "10 s"), (57, "55 s"), (58, "1 min"), (3_599, "1 h 0 min"), (7_800, "2 h 10 min"),
        (1e9, "days"),
    ])
    func `what is left is said roughly`(seconds: Double, text: String) {
        #expect(Quantity.roughly(seconds) == text)
    }
}
