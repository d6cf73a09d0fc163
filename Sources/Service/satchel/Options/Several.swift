import ArgumentParser

/// The values of one flag, separated by commas. The flag can also be repeated: `--role read,submit` equals
/// `--role read --role submit`.
///
/// A comma that belongs to a value is written `\,`.
struct Several<Element: ExpressibleByArgument & Sendable>: ExpressibleByArgument, Sendable {
    var elements: [Element]

    init?(argument: String) {
        let texts = CommaSeparated.texts(of: argument)
        elements = texts.compactMap { $0.isEmpty ? nil : Element(argument: $0) }
        guard elements.count == texts.count else { return nil }
    }

    static var allValueStrings: [String] { Element.allValueStrings }
    static var defaultCompletionKind: CompletionKind { Element.defaultCompletionKind }
}

extension Array {
    /// The values of all occurrences of a flag, in order.
    func all<Value>() -> [Value] where Element == Several<Value> { flatMap(\.elements) }
}

enum CommaSeparated {
    /// Splits a list at its commas and trims spaces; `\,` is a comma.
    static func texts(of list: String) -> [String] {
        parts(of: list).map { unescaped($0.trimmingPrefix { $0 == " " }.trimmingSuffix(" ")) }
    }

    /// Splits a list at its commas and changes nothing else.
    static func parts(of list: String) -> [Substring] {
        var parts: [Substring] = []
        var start = list.startIndex
        var isEscaped = false
        for index in list.indices {
            if list[index] == ",", !isEscaped {
                parts.append(list[start..<index])
                start = list.index(after: index)
            }
            isEscaped = list[index] == "\\" && !isEscaped
        }
        return parts + [list[start...]]
    }

    static func unescaped(_ text: some StringProtocol) -> String { String(text).replacing("\\,", with: ",") }
}

extension Substring {
    fileprivate func trimmingSuffix(_ character: Character) -> Substring {
        var text = self
        while text.last == character { text.removeLast() }
        return text
    }
}
