internal import Glibc

/// SQL in words: names with their dots, numbers, texts in quotes, and single signs. Casts and collations are left out.
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
            var end = rest.utf8.firstIndex { isalnum(Int32($0)) == 0 && !"_$.".utf8.contains($0) } ?? rest.endIndex
            if end == rest.startIndex {
                end = rest.utf8.index(after: end)
                let ending = rest.utf8.starts(with: "--".utf8) ? UInt8(ascii: "\n") : first
                if ending != first || "'\"".utf8.contains(first) {
                    end = rest.utf8[end...].firstIndex(of: ending).map(rest.utf8.index(after:)) ?? rest.endIndex
                }
            }
            all.append((Substring(before), rest[..<end]))
            rest = rest[end...]
            if all.suffix(2).map(\.text) == ["COLLATE", "\"C\""] { all.removeLast(2) }
            let isType = rest.utf8.starts(with: "::".utf8)
            if isType { rest = rest.dropFirst(2).drop { $0.isLetter || "0123456789_[]".contains($0) } }
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
            let new = other(String(word), &rest)
            if new != nil { words = rest }
            if new != "" { text += before + (new ?? String(word)) }
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
