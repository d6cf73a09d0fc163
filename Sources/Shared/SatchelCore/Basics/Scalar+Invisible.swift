extension Unicode.Scalar {
    /// Whether a terminal doesn't show it but acts on it: moves its cursor, begins a line, turns the direction of a text.
    public var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension String {
    /// For people: what is invisible is escaped, as `\u{202E}`.
    ///
    /// - Parameter kept: What stays as it is nevertheless.
    public func showingInvisible(but kept: Unicode.Scalar? = nil) -> String {
        guard unicodeScalars.contains(where: { $0.isInvisible && $0 != kept }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isInvisible, scalar != kept {
                text += scalar.escaped(asASCII: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The same of JSON, over lines: what is invisible is escaped as JSON has it, so that the same value is read from it.
    public func escapingInvisible() -> String {
        guard unicodeScalars.contains(where: { $0.isInvisible && $0 != "\n" }) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            guard scalar.isInvisible, scalar != "\n" else { return text.unicodeScalars.append(scalar) }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }
}
