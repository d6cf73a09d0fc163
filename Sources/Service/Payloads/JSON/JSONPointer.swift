/// Names a value in a JSON document (RFC 6901): `/aps/alert/body`.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// The keys and indexes on the way, unescaped.
    public var tokens: [String]

    public init(tokens: [String]) {
        self.tokens = tokens
    }

    /// Reads a pointer; nil where `text` is none. A text without a slash at its start is the key of a member of the
    /// root: `my-attachment` is `/my-attachment`.
    public init?(_ text: String) {
        // By scalars: a combining mark after a slash would hide it from a search by characters.
        guard text.unicodeScalars.first == "/" else {
            guard !text.isEmpty else { return nil }
            tokens = [text]
            return
        }
        tokens = []
        for part in text.unicodeScalars.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            var token = String.UnicodeScalarView()
            var rest = part[...]
            while let scalar = rest.popFirst() {
                guard scalar == "~" else {
                    token.append(scalar)
                    continue
                }
                switch rest.popFirst() {
                case "0": token.append("~")
                case "1": token.append("/")
                default: return nil
                }
            }
            tokens.append(String(token))
        }
    }

    public var description: String {
        var text = String.UnicodeScalarView()
        for token in tokens {
            text.append("/")
            for scalar in token.unicodeScalars {
                switch scalar {
                case "~": text.append(contentsOf: "~0".unicodeScalars)
                case "/": text.append(contentsOf: "~1".unicodeScalars)
                default: text.append(scalar)
                }
            }
        }
        return String(text)
    }
}
