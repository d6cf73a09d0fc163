import Foundation
import TestSupport

/// A page of the documentation: `README.md`, or a page below `docs/`.
struct DocumentPage {
    /// Relative to the checkout.
    let path: String
    var lines: [String]

    init(_ path: String) throws {
        self.path = path
        lines = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
            .components(separatedBy: "\n")
    }

    /// The paths of all pages.
    static let paths: [String] = {
        let pages = FileManager.default.enumerator(atPath: Repository.root.appending(path: "docs").path())
        return ["README.md"]
            + (pages?.compactMap { ($0 as? String).map { "docs/\($0)" } } ?? []).filter { $0.hasSuffix(".md") }.sorted()
    }()

    /// Whether tests write what the code says into the pages, instead of comparing both (`make docs`).
    static let isWritten = ProcessInfo.processInfo.environment["SATCHEL_WRITE_DOCS"] == "1"

    func save() throws {
        try lines.joined(separator: "\n").write(
            to: Repository.root.appending(path: path), atomically: true, encoding: .utf8)
    }

    // MARK: Generated tables

    /// The names of the tables that the page has a place for.
    var tables: [String] {
        lines.compactMap { $0.wholeMatch(of: /<!-- generated: ([a-z-]+) -->/).map { String($0.1) } }
    }

    /// The lines between a table's marks; `nil` if the page has no such place.
    func place(ofTable name: String) -> Range<Int>? {
        guard let start = lines.firstIndex(of: "<!-- generated: \(name) -->"),
            let end = lines[start...].firstIndex(of: "<!-- end -->")
        else { return nil }
        return start + 1..<end
    }

    // MARK: Code blocks

    struct Block {
        /// The first word behind the fence, such as `sh`.
        var language: String
        /// The words behind the language, such as `not-run`.
        var options: [String]
        /// The lines between the fences.
        var place: Range<Int>
    }

    var blocks: [Block] {
        var blocks: [Block] = []
        var open: (words: [String], start: Int)?
        for (number, line) in lines.enumerated() where line.hasPrefix("```") {
            if let (words, start) = open {
                blocks.append(
                    Block(language: words.first ?? "", options: Array(words.dropFirst()), place: start..<number))
                open = nil
            } else {
                open = (line.dropFirst(3).split(separator: " ").map(String.init), number + 1)
            }
        }
        return blocks
    }

    func text(of block: Block) -> String { lines[block.place].joined(separator: "\n") }
}
