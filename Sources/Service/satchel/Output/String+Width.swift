extension Unicode.Scalar {
    /// Ranges that are wide or full-width in Unicode's East Asian Width, without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]

    /// The width on a terminal. If terminals differ, as for combined emoji, it is the largest.
    fileprivate var columns: Int {
        if value < 0x300 { return 1 }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        if (0x1160...0x11FF).contains(value) { return 0 }
        let isWide = properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) }
        return isWide ? 2 : 1
    }
}

extension Character {
    /// The maximum width on a terminal.
    fileprivate var columns: Int {
        let sum = unicodeScalars.reduce(0) { $0 + $1.columns }
        // A character with the emoji variation selector is as wide as an emoji.
        return sum == 1 && unicodeScalars.contains("\u{FE0F}") ? 2 : sum
    }
}

extension StringProtocol {
    /// The maximum width on a terminal.
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// The longest prefix that fits in `width` columns.
    func prefix(columns width: Int) -> SubSequence {
        var left = width
        return prefix { character in
            left -= character.columns
            return left >= 0
        }
    }
}

extension String {
    /// Wraps the text at `width` columns, except within words. Continuation lines are indented further.
    func wrapped(to width: Int) -> String {
        guard columns > width else { return self }
        let indent = String(prefix { $0 == " " })
        var lines = [indent]
        var isEmpty = true
        for word in dropFirst(indent.count).split(separator: " ", omittingEmptySubsequences: false) {
            if !isEmpty, lines[lines.count - 1].columns + 1 + word.columns > width {
                lines.append(indent + "  ")
                isEmpty = true
            }
            lines[lines.count - 1] += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines.joined(separator: "\n")
    }

    /// Shortens the text to `width` columns by omitting its middle, because the end of a path matters more.
    func shortened(to width: Int) -> String {
        guard columns > width else { return self }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let head = prefix(columns: (width - 1) / 2)
        var left = width - 1 - head.columns
        let tail = reversed().prefix { character in
            left -= character.columns
            return left >= 0
        }
        return head + "…" + String(tail.reversed())
    }

    /// Wraps the text at `width` columns, at spaces if possible.
    func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        var rest = self[...]
        while rest.columns > max(1, width) {
            var line = rest.prefix(columns: max(1, width))
            // A character wider than the line is not omitted.
            if line.isEmpty { line = rest.prefix(1) }
            let next = rest[line.endIndex...].first
            if next != " ", let space = line.lastIndex(of: " "), space > line.startIndex { line = line[..<space] }
            lines.append(String(line))
            rest = rest[line.endIndex...].drop { $0 == " " }
        }
        return rest.isEmpty && !lines.isEmpty ? lines : lines + [String(rest)]
    }
}
