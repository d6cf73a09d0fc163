import SatchelCore
import Foundation
import Testing

@testable import satchel

@Suite struct ResultLineTests {
    @Test func `a path that is no UTF-8 is written in base64`() throws {
        let path = Data([0x66, 0xFF, 0x2E, 0x6A])
        let line = ResultLine(path: path, refused: .storeFull, skipped: false)
        let object = try #require(
            try JSONSerialization.jsonObject(with: try JSON.encode(line)) as? [String: Any])
        #expect(object["path"] == nil)
        #expect(object["path_base64"] as? String == path.base64EncodedString())
        #expect(object["state"] as? String == "failed")
        #expect(object["kind"] is NSNull && object["attachment_id"] is NSNull)
    }

    @Test func `what is no media does not count as a failure, what was refused does`() {
        func record(_ error: AttachmentError) -> AttachmentRecord {
            var record = AttachmentRecord(
                id: .generate(), tenant: .local, job: .generate(), identifier: "a", state: .failed,
                source: SourceFacts(bytes: 10), options: DisplayOptions(), createdAt: Instant(milliseconds: 0))
            record.error = ErrorReport(error)
            return record
        }
        func line(_ error: AttachmentError, isUnchanged: Bool) -> ResultLine {
            ResultLine(path: Data("a".utf8), record: record(error), attempt: 1, isUnchanged: isUnchanged)
        }
        #expect(line(.unrecognizedType(sniffed: "text/plain"), isUnchanged: false).state == .skipped)
        #expect(!line(.unrecognizedType(sniffed: "text/plain"), isUnchanged: true).isFailure)
        #expect(line(.unreadable(Finding(.checksumDiffers)), isUnchanged: false).state == .failed)
        #expect(line(.unreadable(Finding(.checksumDiffers)), isUnchanged: true).state == .unchanged)
        #expect(line(.unreadable(Finding(.checksumDiffers)), isUnchanged: true).isFailure)
    }

    @Test func `what was delivered with less than promised says why, in its line and at the end`() throws {
        var record = AttachmentRecord(
            id: .generate(), tenant: .local, job: .generate(), identifier: "a", state: .delivered,
            source: SourceFacts(bytes: 10), options: DisplayOptions(), createdAt: Instant(milliseconds: 0))
        record.fidelity = .reduced
        let reason = "reduced: 3 of 480 rows: the file ends within them"
        record.steps = [Step(name: Step.fidelity, seconds: 0, note: reason)]
        let line = ResultLine(path: Data("a.jpg".utf8), record: record, attempt: 1, isUnchanged: false)
        let object = try #require(try JSONSerialization.jsonObject(with: try JSON.encode(line)) as? [String: Any])
        #expect(object["reason"] as? String == reason)
        var summary = Summary()
        for _ in 0..<25 { summary.add(line) }
        summary.add(ResultLine(path: Data("b".utf8), record: record, attempt: 1, isUnchanged: true))
        for isQuiet in [false, true] {
            let lines = summary.lines(profile: .notification, elapsed: .seconds(1), isQuiet: isQuiet)
            #expect(lines.first == "Delivered, but not in full:")
            #expect(
                lines.count { $0 == "  a.jpg: \(reason)." } == 20
                    && lines.contains("  … and 5 more. Use --format jsonl to list all."))
        }
    }

    @Test func `what is skipped says why, once for all of a kind, and what is passed over is counted by itself`() {
        func line(_ name: String, _ error: AttachmentError) -> ResultLine {
            var line = ResultLine(path: Data(name.utf8), refused: error, skipped: true)
            line.finishedAt = Instant(milliseconds: 0)
            return line
        }
        var summary = Summary()
        for name in ["a", "b", "c", "d", "e", "f", "g"] {
            summary.add(line(name, .unrecognizedType(sniffed: "text/plain")))
        }
        summary.add(line("d.pdf", .unrecognizedType(sniffed: "application/pdf")))
        summary.add(line("e.jpg", .unrecognizedType(sniffed: "application/x-empty")))
        summary.add(ResultLine(path: Data("link".utf8), refused: .invalidSource(reason: "it is a link"), skipped: true))
        let text = "This is text (text/plain), not a picture, sound or video. Send the picture, sound or video itself."
        #expect(
            summary.lines(profile: .notification, elapsed: .seconds(1)) == [
                "Skipped:",
                "  a, b, c, d, e and 2 more: \(text)",
                "  d.pdf: This is a PDF document, not a picture, sound or video. Export its pages as JPEG or PNG.",
                "  e.jpg: The file is empty. Send it again.",
                "Not opened, because not regular files: link. Use --all to list them.",
                "10 files: 0 delivered, 9 skipped (empty or not media), 1 not opened (such as links).",
            ])
        #expect(summary.lines(profile: .notification, elapsed: .seconds(1), isQuiet: true).isEmpty)
    }

    @Test func `what a profile leaves out is told in the line and at the end, once for all files of which it is said`()
        throws
    {
        func line(_ name: String, _ notes: [String], trim: TrimReport? = nil) -> ResultLine {
            var record = AttachmentRecord(
                id: .generate(), tenant: .local, job: .generate(), identifier: "a", state: .delivered,
                source: SourceFacts(bytes: 10), options: DisplayOptions(), createdAt: Instant(milliseconds: 0))
            record.fidelity = .full
            record.trim = trim
            record.steps = notes.map { Step(name: Step.note, seconds: 0, note: $0) }
            return ResultLine(path: Data(name.utf8), record: record, attempt: 1, isUnchanged: false)
        }
        let pages = "of its 3 pages the first was taken"
        let object = try #require(
            try JSONSerialization.jsonObject(with: try JSON.encode(line("a.tiff", [pages]))) as? [String: Any])
        #expect(object["notes"] as? [String] == [pages] && object["reason"] is NSNull)
        var summary = Summary()
        for name in ["a", "b", "c", "d", "e", "f"] { summary.add(line(name, [pages])) }
        summary.add(line("g", ["its transparency was left out"]))
        // How many were trimmed is said by itself.
        let trim = TrimReport(start: 0, duration: 10, sourceDuration: 12, method: .copy)
        summary.add(line("h", ["trimmed from 12 s to 10 s, as the profile takes at most 10 s"], trim: trim))
        let lines = summary.lines(profile: .notification, elapsed: .seconds(1))
        #expect(
            lines.prefix(4) == [
                "Delivered, with a note:", "  a, b, c, d, e and 1 more: \(pages).",
                "  g: its transparency was left out.", "8 files: 8 delivered.",
            ], "\(lines)")
        #expect(summary.lines(profile: .notification, elapsed: .seconds(1), isQuiet: true).isEmpty)
    }

    @Test func `of many failures the first are listed, and how to see all of them`() {
        var summary = Summary()
        for number in 0..<23 {
            summary.add(
                ResultLine(
                    path: Data("\(number)".utf8), refused: .unreadable(Finding(.checksumDiffers)), skipped: false))
        }
        for number in 0..<26 {
            var line = ResultLine(
                path: Data("s\(number)".utf8), refused: .unrecognizedType(sniffed: "text/x-\(number)"), skipped: true)
            line.finishedAt = Instant(milliseconds: 0)
            summary.add(line)
        }
        let lines = summary.lines(profile: .notification, elapsed: .seconds(1))
        #expect(lines[21] == "  … and 3 more. Use --format jsonl to list all.")
        #expect(lines.contains("  … and 6 more. Use --format jsonl to list all."))
    }

    @Test func `sentences are wrapped at words, and indented further`() {
        let line = "  a.jpg: corrupt. 177 of 400 rows are missing: the file ends within them."
        for width in 1...100 {
            let lines = line.wrapped(to: width).components(separatedBy: "\n")
            let words = lines.map { $0.trimmingCharacters(in: .whitespaces) }
            let longest = words.map(\.count).max() ?? 0
            #expect(lines.allSatisfy { $0.count <= max(width, 4 + longest) })
            #expect(lines.dropFirst().allSatisfy { $0.hasPrefix("    ") && !$0.hasPrefix("     ") })
            #expect("  " + words.joined(separator: " ") == line)
            if width > 20 { #expect(lines.allSatisfy { $0.count <= width }) }
        }
        #expect(line.wrapped(to: 100) == line)
        #expect("  東京東京 東京".wrapped(to: 10) == "  東京東京\n    東京")
    }

    @Test func `a cell with commas, quotes or line feeds is quoted`() {
        #expect(CSV.row(["a", "b,c", "d\"e", "f\ng"]) == "a,\"b,c\",\"d\"\"e\",\"f\ng\"")
    }
}
