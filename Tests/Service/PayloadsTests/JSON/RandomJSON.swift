import TestSupport

/// Writes JSON in all the ways it can be written: white space, escapes, spellings of numbers, nesting.
struct RandomJSON {
    var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    mutating func document() -> String {
        space() + object(depth: 0) + space()
    }

    mutating func value(depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 4 ? 4 : 6), using: &random) {
        case 0: string()
        case 1: number()
        case 2: ["true", "false", "null"].randomElement(using: &random) ?? "null"
        case 3: ["{}", "[]", "{ }", "[\n]", "\"\""].randomElement(using: &random) ?? "[]"
        case 4: object(depth: depth + 1)
        default: array(depth: depth + 1)
        }
    }

    /// With keys that differ, so that every reader sees the same.
    mutating func object(depth: Int) -> String {
        let members = (0..<Int.random(in: 0...5, using: &random)).map { index in
            space() + string(beginning: "k\(index)") + space() + ":" + space() + value(depth: depth) + space()
        }
        return "{" + (members.isEmpty ? space() : members.joined(separator: ",")) + "}"
    }

    mutating func array(depth: Int) -> String {
        let elements = (0..<Int.random(in: 0...5, using: &random)).map { _ in space() + value(depth: depth) + space() }
        return "[" + (elements.isEmpty ? space() : elements.joined(separator: ",")) + "]"
    }

    mutating func string(beginning: String = "") -> String {
        let pieces = [
            "a", "Z", " ", "/", #"\/"#, #"\""#, #"\\"#, #"\n"#, #"\t"#, #"\b"#, #"\f"#, #"\r"#, #"\u0041"#, #"\u00e9"#,
            #"\uD83D\uDE00"#, #"\u0000"#, "é", "語", "👩‍👩‍👧", "e\u{301}", "{", "}", "[", ",", ":", "~", "\u{2028}",
        ]
        let text = (0..<Int.random(in: 0...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        return "\"" + beginning + text.joined() + "\""
    }

    mutating func number() -> String {
        ["0", "-0", "1", "-17", "1.0", "1.50", "1e3", "1E+3", "2e-7", "-0.0", "12345678", "0.1"]
            .randomElement(using: &random) ?? "0"
    }

    mutating func space() -> String {
        ["", "", "", " ", "\n", "\t", "\r\n  ", "    "].randomElement(using: &random) ?? ""
    }
}
