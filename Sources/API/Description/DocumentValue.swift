/// A JSON value that keeps its keys in the order in which they were written, as the description's readers see them.
indirect enum DocumentValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// As it was written.
    case number(String)
    case string(String)
    case array([DocumentValue])
    case object([Member])

    struct Member: Equatable, Sendable {
        var key: String
        var value: DocumentValue
    }

    /// Reads the JSON of a document of our own; nil where it isn't any.
    init?(parsing text: [UInt8]) {
        var reader = DocumentReader(text: text[...])
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }

    subscript(key: String) -> DocumentValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }

    var elements: [DocumentValue] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// JSON over as few lines as stay within `width` columns each.
    func json(width: Int = 100, indent: Int = 0) -> String {
        let flat = compact
        let pad = String(repeating: " ", count: indent)
        guard flat.count + indent > width else { return flat }
        switch self {
        case .object(let members) where !members.isEmpty:
            let lines = members.map {
                "\(pad)  \(Self.quoted($0.key)): \($0.value.json(width: width, indent: indent + 2))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(pad)}"
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { "\(pad)  \($0.json(width: width, indent: indent + 2))" }
            return "[\n\(lines.joined(separator: ",\n"))\n\(pad)]"
        default: return flat
        }
    }

    private var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let text): text
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[\(elements.map(\.compact).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\(Self.quoted($0.key)): \($0.value.compact)" }.joined(separator: ", "))}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}

/// Reads JSON from its first byte to its last.
private struct DocumentReader {
    var text: ArraySlice<UInt8>

    var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return text.isEmpty
        }
    }

    mutating func value() -> DocumentValue? {
        skipSpace()
        switch text.first {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map(DocumentValue.string)
        default: return literal()
        }
    }

    private mutating func skipSpace() {
        text = text.drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        skipSpace()
        guard text.first == UInt8(ascii: byte) else { return false }
        text.removeFirst()
        return true
    }

    private mutating func object() -> DocumentValue? {
        guard take("{") else { return nil }
        var members: [DocumentValue.Member] = []
        if take("}") { return .object([]) }
        repeat {
            skipSpace()
            guard let key = string(), take(":"), let value = value() else { return nil }
            members.append(DocumentValue.Member(key: key, value: value))
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array() -> DocumentValue? {
        guard take("[") else { return nil }
        var elements: [DocumentValue] = []
        if take("]") { return .array([]) }
        repeat {
            guard let value = value() else { return nil }
            elements.append(value)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var bytes: [UInt8] = []
        while let byte = text.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escape = text.popFirst() else { return nil }
                switch escape {
                case UInt8(ascii: "n"): bytes.append(0x0A)
                case UInt8(ascii: "t"): bytes.append(0x09)
                case UInt8(ascii: "r"): bytes.append(0x0D)
                case UInt8(ascii: "b"): bytes.append(0x08)
                case UInt8(ascii: "f"): bytes.append(0x0C)
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(escape)
                case UInt8(ascii: "u"):
                    guard text.count >= 4,
                        let code = UInt32(String(decoding: text.prefix(4), as: UTF8.self), radix: 16),
                        let scalar = Unicode.Scalar(code)
                    else { return nil }
                    text = text.dropFirst(4)
                    bytes.append(contentsOf: String(Character(scalar)).utf8)
                default: return nil
                }
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func literal() -> DocumentValue? {
        let word = text.prefix { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        text = text.dropFirst(word.count)
        switch String(decoding: word, as: UTF8.self) {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        case let number where Double(number) != nil: return .number(number)
        default: return nil
        }
    }
}
