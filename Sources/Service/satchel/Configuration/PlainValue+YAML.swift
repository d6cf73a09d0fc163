import SatchelCore

extension PlainValue {
    /// The value on one line of YAML.
    var yaml: String {
        switch self {
        case .nothing: "null"
        case .text(let text): Self.quoted(text)
        case .list(let list): "[" + list.map(Self.quoted).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(Self.quoted($0.name)): \($0.value.yaml)" }.joined(separator: ", ") + "}"
        default: text
        }
    }

    private static func quoted(_ text: String) -> String {
        // Text that starts with a letter or a slash cannot be a number.
        let isPlain =
            text.first.map { $0.isLetter || $0 == "/" } == true
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-".contains($0)) }
        let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
        if isPlain && !words.contains(text.lowercased()) { return text }
        // Only double-quoted text, as in JSON, can have line breaks and escapes.
        let isPrintable = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isPrintable ? "'" + text.replacing("'", with: "''") + "'" : (try? JSON.text(text)) ?? "''"
    }
}
