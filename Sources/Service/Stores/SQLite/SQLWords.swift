/// SQL in words: names with their dots, numbers, texts in quotes, and single signs.
///
/// Regular expressions would take longer than all else that a process does for its first statements.
struct SQLWords {
    private var all: [(before: Substring, text: Substring)] = []
    private var place = 0

    private init(_ statement: String) {
        var rest = statement[...]
        while !rest.isEmpty {
            let before = rest.utf8.prefix { $0 <= UInt8(ascii: " ") }
            rest = rest[before.endIndex...]
            guard let first = rest.utf8.first else { return }
            var end = rest.utf8.firstIndex { !Self.isOfWord($0) } ?? rest.endIndex
            if end == rest.startIndex {
                end = rest.utf8.index(after: end)
                let isText = first == UInt8(ascii: "'") || first == UInt8(ascii: "\"")
                if isText { end = rest.utf8[end...].firstIndex(of: first).map(rest.utf8.index(after:)) ?? end }
                let isComment = rest.utf8.starts(with: "--".utf8)
                if isComment { end = rest.utf8.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex }
            }
            all.append((Substring(before), rest[..<end]))
            rest = rest[end...]
        }
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// A statement in which some words are others.
    ///
    /// - Parameter other: What stands for a word and for those after it that are taken; nil where it stays.
    static func rewritten(_ statement: String, _ other: (String, inout SQLWords) -> String?) -> String {
        var (words, text) = (SQLWords(statement), "")
        while words.place < words.all.count {
            let (before, word) = words.all[words.place]
            words.place += 1
            var rest = words
            guard let new = other(String(word), &rest) else {
                text += before + word
                continue
            }
            if !new.isEmpty { text += before + new }
            words = rest
        }
        return text
    }

    /// Takes these words if they come next.
    mutating func take(_ words: String...) -> Bool {
        guard words.elementsEqual(all[place...].prefix(words.count), by: { $0 == $1.text }) else { return false }
        place += words.count
        return true
    }

    /// Takes the next word, of which there is one.
    mutating func next() -> String {
        defer { place += 1 }
        return place < all.count ? String(all[place].text) : ""
    }
}
