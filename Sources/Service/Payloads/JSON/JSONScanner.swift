/// Reads JSON strictly by RFC 8259 into values that remember how they were written: the one reader of what others send.
struct JSONScanner {
    private let bytes: [UInt8]
    private let rules: JSONRules
    private var position = 0
    private var members = 0

    private init(_ bytes: [UInt8], _ rules: JSONRules) {
        self.bytes = bytes
        self.rules = rules
    }

    /// The one value of a document and the white space around it.
    static func scan(_ bytes: [UInt8], _ rules: JSONRules) throws(JSONSyntaxError) -> JSONDocument {
        var scanner = JSONScanner(bytes, rules)
        guard bytes.count <= rules.bytes else {
            throw JSONSyntaxError("the text is longer than \(rules.bytes) bytes", at: rules.bytes, in: bytes)
        }
        guard !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw JSONSyntaxError("the text begins with a byte order mark; leave it out", at: 0, in: bytes)
        }
        let before = scanner.whiteSpace()
        let root = try scanner.value(depth: 0)
        let after = scanner.whiteSpace()
        guard scanner.position == bytes.count else {
            throw scanner.error("nothing is expected after the value")
        }
        return JSONDocument(before: before, root: root, after: after)
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        switch next {
        case UInt8(ascii: "{"): .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): .array(try array(depth: depth + 1))
        case UInt8(ascii: "\""): .string(try string())
        case UInt8(ascii: "t"): .literal(try word("true"))
        case UInt8(ascii: "f"): .literal(try word("false"))
        case UInt8(ascii: "n"): .literal(try word("null"))
        case let byte? where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-"):
            .literal(try number())
        case nil: throw error("the text ends where a value is expected")
        default: throw error("a value is expected")
        }
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONObject {
        try open(depth)
        var object = JSONObject(members: [], closing: [])
        var names: Set<String> = []
        var before = whiteSpace()
        if take("}") {
            object.closing = before
            return object
        }
        while true {
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotation marks is expected") }
            try countMember()
            let start = position
            let key = try string()
            if rules.isInteroperable, let name = JSONString.decode(key), !names.insert(name).inserted {
                throw JSONSyntaxError("the key '\(name.prefix(64))' occurs twice", at: start, in: bytes)
            }
            let beforeColon = whiteSpace()
            guard take(":") else { throw error("a colon is expected") }
            let afterColon = whiteSpace()
            let value = try value(depth: depth)
            let after = whiteSpace()
            let isLast = take("}")
            object.members.append(
                JSONObject.Member(
                    before: before, key: key, beforeColon: beforeColon, afterColon: afterColon, value: value,
                    after: isLast ? [] : after))
            if isLast {
                object.closing = after
                return object
            }
            guard take(",") else { throw error("a comma or '}' is expected") }
            before = whiteSpace()
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONArray {
        try open(depth)
        var array = JSONArray(elements: [], closing: [])
        var before = whiteSpace()
        if take("]") {
            array.closing = before
            return array
        }
        while true {
            try countMember()
            let value = try value(depth: depth)
            let after = whiteSpace()
            let isLast = take("]")
            array.elements.append(JSONArray.Element(before: before, value: value, after: isLast ? [] : after))
            if isLast {
                array.closing = after
                return array
            }
            guard take(",") else { throw error("a comma or ']' is expected") }
            before = whiteSpace()
        }
    }

    private mutating func open(_ depth: Int) throws(JSONSyntaxError) {
        guard depth <= rules.depth else { throw error("objects and arrays are nested deeper than \(rules.depth)") }
        position += 1
    }

    private mutating func countMember() throws(JSONSyntaxError) {
        members += 1
        guard members <= rules.members else {
            throw error("there are more than \(rules.members) members and elements")
        }
    }

    // MARK: Words, numbers, strings

    private mutating func word(_ word: String) throws(JSONSyntaxError) -> JSONText {
        guard bytes[position...].starts(with: word.utf8) else { throw error("a value is expected") }
        let start = position
        position += word.utf8.count
        return bytes[start..<position]
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONText {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return bytes[start..<position]
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw error("a digit is expected") }
    }

    /// A string with its quotation marks.
    private mutating func string() throws(JSONSyntaxError) -> JSONText {
        let start = position
        var hasEscapes = false
        position += 1
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                let raw = bytes[start..<position]
                if rules.isInteroperable, hasEscapes, JSONString.decode(raw) == nil {
                    throw JSONSyntaxError("a string has half a surrogate pair", at: start, in: bytes)
                }
                return raw
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try escape()
            case 0..<0x20: throw error("a control character in a string must be escaped")
            case 0x20..<0x80: position += 1
            default: try multibyteScalar()
            }
        }
        throw error("the text ends within a string")
    }

    private mutating func escape() throws(JSONSyntaxError) {
        position += 1
        switch next {
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard let byte = next, byte.isHexadecimalDigit else {
                    throw error("four hexadecimal digits are expected")
                }
                position += 1
            }
        case let byte? where #""\/bfnrt"#.utf8.contains(byte): position += 1
        default: throw error("this is not a JSON escape")
        }
    }

    /// Well-formed UTF-8 by table 3-7 of the Unicode standard.
    private mutating func multibyteScalar() throws(JSONSyntaxError) {
        let ranges: [ClosedRange<UInt8>]
        let any: ClosedRange<UInt8> = 0x80...0xBF
        switch bytes[position] {
        case 0xC2...0xDF: ranges = [any]
        case 0xE0: ranges = [0xA0...0xBF, any]
        case 0xE1...0xEC, 0xEE...0xEF: ranges = [any, any]
        case 0xED: ranges = [0x80...0x9F, any]
        case 0xF0: ranges = [0x90...0xBF, any, any]
        case 0xF1...0xF3: ranges = [any, any, any]
        case 0xF4: ranges = [0x80...0x8F, any, any]
        default: throw error("the text is not UTF-8")
        }
        let tail = bytes[(position + 1)...].prefix(ranges.count)
        guard tail.count == ranges.count, zip(tail, ranges).allSatisfy({ $1.contains($0) }) else {
            throw error("the text is not UTF-8")
        }
        position += 1 + ranges.count
    }

    // MARK: Bytes

    private var next: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func whiteSpace() -> JSONText {
        let start = position
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        return bytes[start..<position]
    }

    private func error(_ reason: String) -> JSONSyntaxError {
        JSONSyntaxError(reason, at: position, in: bytes)
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
