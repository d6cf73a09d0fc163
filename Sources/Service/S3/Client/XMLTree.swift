/// An element of an XML document, with what is in it, as far as S3 and STS use XML: elements and text.
///
/// Attributes are passed over, for the answers have but namespaces there. What those never have is refused: document types,
/// with which entities come, processing instructions and CDATA sections. So is a document that isn't well-formed, or that is
/// nested deeper than any answer.
struct XMLTree: Sendable {
    var name: String
    /// Of the element itself, as it stands there.
    var text = ""
    var children: [XMLTree] = []

    struct Malformed: Error, Hashable {
        var reason: String
    }

    static let maximumDepth = 16

    /// The first child of that name.
    subscript(_ name: String) -> XMLTree? { children.first { $0.name == name } }

    func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }

    init(name: String) {
        self.name = name
    }

    init(_ bytes: [UInt8]) throws(Malformed) {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed(reason: "it isn't UTF-8") }
        var reader = Reader(bytes: bytes)
        self = try reader.document()
    }

    private struct Reader {
        let bytes: [UInt8]
        private var place = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func document() throws(Malformed) -> XMLTree {
            _ = take("\u{FEFF}")
            // Sent while an answer takes its time, so that the connection lives.
            skipSpace()
            if startsWith("<?xml") { try skip(past: "?>") }
            try skipSpaceAndComments()
            let tree = try element(depth: 1)
            try skipSpaceAndComments()
            guard place == bytes.count else { throw Malformed(reason: "something follows its end") }
            return tree
        }

        private mutating func element(depth: Int) throws(Malformed) -> XMLTree {
            guard depth <= XMLTree.maximumDepth else { throw Malformed(reason: "it is nested too deeply") }
            guard take("<") else { throw Malformed(reason: "an element is missing") }
            var tree = XMLTree(name: try readName())
            if try skipAttributes() { return tree }
            var text: [UInt8] = []
            while true {
                let start = place
                while place < bytes.count, bytes[place] != UInt8(ascii: "<"), bytes[place] != UInt8(ascii: "&") {
                    place += 1
                }
                text += bytes[start..<place]
                guard place < bytes.count else { throw Malformed(reason: "it ends within <\(tree.name)>") }
                if take("</") {
                    guard try readName() == tree.name else { throw Malformed(reason: "</\(tree.name)> is missing") }
                    skipSpace()
                    guard take(">") else { throw Malformed(reason: "</\(tree.name)> has no end") }
                    tree.text = String(decoding: text, as: UTF8.self)
                    return tree
                } else if startsWith("<!--") {
                    try skip(past: "-->")
                } else if startsWith("<") {
                    tree.children.append(try element(depth: depth + 1))
                } else {
                    text += try reference()
                }
            }
        }

        /// - Returns: Whether the element ends with its start tag.
        private mutating func skipAttributes() throws(Malformed) -> Bool {
            while true {
                let before = place
                skipSpace()
                if take("/>") { return true }
                if take(">") { return false }
                guard place > before else { throw Malformed(reason: "a tag has no end") }
                _ = try readName()
                skipSpace()
                guard take("=") else { throw Malformed(reason: "an attribute has no value") }
                skipSpace()
                guard let quote = ["\"", "'"].first(where: startsWith) else {
                    throw Malformed(reason: "an attribute's value has no quotes")
                }
                place += 1
                let start = place
                try skip(past: quote)
                guard !bytes[start..<place].contains(UInt8(ascii: "<")) else {
                    throw Malformed(reason: "a tag is within another")
                }
            }
        }

        /// One of the five of XML's own, or a character's number.
        private mutating func reference() throws(Malformed) -> [UInt8] {
            let start = place + 1
            // The longest is a character's number, &#1114111;
            guard let end = bytes[start...].prefix(10).firstIndex(of: UInt8(ascii: ";")) else {
                throw Malformed(reason: "a reference has no end")
            }
            place = end + 1
            let name = String(decoding: bytes[start..<end], as: UTF8.self)
            switch name {
            case "amp": return Array("&".utf8)
            case "lt": return Array("<".utf8)
            case "gt": return Array(">".utf8)
            case "quot": return Array("\"".utf8)
            case "apos": return Array("'".utf8)
            default:
                let digits = name.dropFirst(name.hasPrefix("#x") ? 2 : 1)
                guard name.hasPrefix("#"),
                    digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                    let number = UInt32(digits, radix: name.hasPrefix("#x") ? 16 : 10),
                    let scalar = Unicode.Scalar(number)
                else { throw Malformed(reason: "&\(name); is unknown") }
                return Array(String(Character(scalar)).utf8)
            }
        }

        /// Beyond ASCII everything may be part of a name: what isn't will not be one that somebody asks for.
        private mutating func readName() throws(Malformed) -> String {
            let start = place
            while place < bytes.count, Self.isOfName(bytes[place]) { place += 1 }
            guard place > start else { throw Malformed(reason: "a name is missing") }
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }

        private static func isOfName(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
                true
            default: ":_-.".utf8.contains(byte)
            }
        }

        private mutating func skipSpaceAndComments() throws(Malformed) {
            skipSpace()
            while startsWith("<!--") {
                try skip(past: "-->")
                skipSpace()
            }
        }

        private mutating func skipSpace() {
            while place < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
        }

        private mutating func skip(past end: String) throws(Malformed) {
            while !startsWith(end) {
                guard place < bytes.count else { throw Malformed(reason: "\(end) is missing") }
                place += 1
            }
            place += end.utf8.count
        }

        private func startsWith(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

        private mutating func take(_ text: String) -> Bool {
            guard startsWith(text) else { return false }
            place += text.utf8.count
            return true
        }
    }

    /// Text as it stands in an element.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\r", "\n", "\t": escaped += "&#\(scalar.value);"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
