/// Text that is safe to put between tags and into attributes.
struct HTMLText: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    /// As it stands in the page.
    private(set) var description: String

    init(stringLiteral value: String) {
        description = value
    }

    init(stringInterpolation: Interpolation) {
        description = stringInterpolation.text
    }

    /// Literal pieces are markup; what is put between them is text, unless it is HTML already.
    struct Interpolation: StringInterpolationProtocol {
        var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 32)
        }

        mutating func appendLiteral(_ literal: String) {
            text += literal
        }

        mutating func appendInterpolation(_ value: String) {
            text += HTMLText.escaped(value)
        }

        mutating func appendInterpolation(_ value: HTMLText) {
            text += value.description
        }

        /// The elements one after the other.
        mutating func appendInterpolation(_ values: [HTMLText]) {
            for value in values { text += value.description }
        }

        mutating func appendInterpolation(_ number: Int) {
            text += "\(number)"
        }

        mutating func appendInterpolation(_ number: Double) {
            text += "\(number)"
        }

        /// Somebody's text, in its own direction: whatever turns directions in it ends with it (UAX #9, isolates).
        mutating func appendInterpolation(isolated value: String) {
            text += "<bdi>\(HTMLText.escaped(value))</bdi>"
        }

        /// Paragraphs, with `code` between backticks.
        mutating func appendInterpolation(prose: String) {
            let pieces = prose.split(separator: "`", omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                let escaped = HTMLText.escaped(String(piece))
                text += index % 2 == 1 ? "<code>\(escaped)</code>" : escaped
            }
        }
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(text.count)
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
