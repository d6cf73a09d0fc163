/// A JSON value as a client sent it, read strictly: no key twice, nothing after the value, no endless depth.
enum JSONTree: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONTree])
    /// In the order of the text.
    case object([Member])

    struct Member: Hashable, Sendable {
        var name: String
        var value: JSONTree
    }

    /// Arrays and objects within each other, at most.
    static let maximumDepth = 32

    /// Reads a whole text.
    init(_ text: some Sequence<UInt8>) throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: Array(text))
        self = try parser.document()
    }

    /// What an error calls it.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Where a text stops being JSON, and why.
struct JSONSyntaxError: Error, Hashable {
    /// In bytes, from 0.
    var offset: Int
    /// A clause: `a string has no end`.
    var reason: String
}

private struct JSONParser {
    let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONSyntaxError) -> JSONTree {
        let value = try value()
        skipSpace()
        guard position == bytes.count else { throw error("something follows the value") }
        return value
    }

    private func error(_ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: position, reason: reason)
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONTree {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try nested { parser throws(JSONSyntaxError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(JSONSyntaxError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw error("a value is missing")
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(JSONSyntaxError) -> JSONTree
    ) throws(JSONSyntaxError) -> JSONTree {
        guard depth < JSONTree.maximumDepth else {
            throw error("it is nested deeper than \(JSONTree.maximumDepth) levels")
        }
        depth += 1
        position += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func word(_ text: String, _ value: JSONTree) throws(JSONSyntaxError) -> JSONTree {
        guard bytes[position...].starts(with: text.utf8) else { throw error("this is no value") }
        position += text.utf8.count
        return value
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONTree {
        var members: [JSONTree.Member] = []
        var names: Set<String> = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("a name in quotes is missing") }
            let name = try string()
            guard names.insert(name).inserted else { throw error("the name '\(name.prefix(64))' comes twice") }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw error("a colon is missing") }
            members.append(JSONTree.Member(name: name, value: try value()))
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or a closing brace is missing") }
        }
    }

    private mutating func array() throws(JSONSyntaxError) -> JSONTree {
        var elements: [JSONTree] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value())
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or a closing bracket is missing") }
        }
    }

    private mutating func number() throws(JSONSyntaxError) -> Double {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        if take(UInt8(ascii: ".")) { try digits() }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        guard let value = Double(String(decoding: bytes[start..<position], as: UTF8.self)), value.isFinite else {
            throw error("a number is too large")
        }
        return value
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
        guard position > start else { throw error("this is no value") }
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        var units: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                guard let text = String(validating: units, as: UTF8.self) else {
                    throw error("a string is not valid UTF-8")
                }
                return text
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &units)
            case 0..<0x20: throw error("a string holds a control character; escape it")
            default:
                units.append(byte)
                position += 1
            }
        }
        throw error("a string has no end")
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
        UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C,
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]

    private mutating func escape(into units: inout [UInt8]) throws(JSONSyntaxError) {
        guard let letter = next else { throw error("a string has no end") }
        if let byte = Self.escapes[letter] {
            position += 1
            units.append(byte)
            return
        }
        guard letter == UInt8(ascii: "u") else { throw error("a string holds an unknown escape") }
        position += 1
        var code = try UInt32(hexadecimal())
        if (0xD800..<0xDC00).contains(code) {
            guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw error("half a surrogate pair") }
            let low = try UInt32(hexadecimal())
            guard (0xDC00..<0xE000).contains(low) else { throw error("half a surrogate pair") }
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error("half a surrogate pair") }
        units.append(contentsOf: String(scalar).utf8)
    }

    private mutating func hexadecimal() throws(JSONSyntaxError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("an escape lacks its four hexadecimal digits")
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}
