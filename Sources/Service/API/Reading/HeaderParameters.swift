import SatchelCore

/// A header's value with parameters: `form-data; name="photo"; filename*=UTF-8''caf%C3%A9.jpg`.
struct HeaderParameters: Hashable, Sendable {
    /// In lower case.
    let value: String
    private var parameters: [String: String] = [:]

    /// Nil for what can't be read, and where a parameter comes twice.
    init?(_ text: String) {
        var rest = Array(text.unicodeScalars)[...]
        value = String(String.UnicodeScalarView(rest.prefix { $0 != ";" })).trimmingSpace().lowercased()
        guard !value.isEmpty else { return nil }
        rest = rest.drop { $0 != ";" }
        while rest.popFirst() != nil {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            // A semicolon at the end is common.
            if rest.isEmpty { return }
            let name = String(String.UnicodeScalarView(rest.prefix { $0 != "=" && $0 != ";" })).trimmingSpace()
                .lowercased()
            rest = rest.drop { $0 != "=" && $0 != ";" }
            guard !name.isEmpty, rest.popFirst() == "=" else { return nil }
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard let content = rest.first == "\"" ? Self.quoted(&rest) : Self.plain(&rest) else { return nil }
            guard parameters.updateValue(content, forKey: name) == nil else { return nil }
        }
    }

    /// A parameter by its name in lower case; its extended form (RFC 5987) where there is one.
    subscript(_ name: String) -> String? {
        if let extended = parameters[name + "*"].flatMap(Self.decodeExtended) { return extended }
        return parameters[name]
    }

    private static func plain(_ rest: inout ArraySlice<Unicode.Scalar>) -> String? {
        let content = String(String.UnicodeScalarView(rest.prefix { $0 != ";" })).trimmingSpace()
        rest = rest.drop { $0 != ";" }
        return content.unicodeScalars.contains("\"") ? nil : content
    }

    private static func quoted(_ rest: inout ArraySlice<Unicode.Scalar>) -> String? {
        rest = rest.dropFirst()
        var content = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"":
                rest = rest.drop { $0 == " " || $0 == "\t" }
                return rest.isEmpty || rest.first == ";" ? String(content) : nil
            // Only quotes and backslashes are escaped: some clients send the path of a file as it is.
            case "\\" where rest.first == "\"" || rest.first == "\\":
                if let escaped = rest.popFirst() { content.append(escaped) }
            default: content.append(scalar)
            }
        }
        return nil
    }

    /// `UTF-8'en'caf%C3%A9`; nil where it is not that.
    private static func decodeExtended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return PercentCoding.decode(parts[2])
    }
}

extension StringProtocol {
    /// Without spaces and tabs at both ends.
    func trimmingSpace() -> String {
        var text = self[...]
        while let first = text.unicodeScalars.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.unicodeScalars.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
