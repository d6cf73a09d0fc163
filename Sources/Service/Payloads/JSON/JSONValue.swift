/// A piece of JSON as it was written: a part of the document it came from, or bytes of our own.
public typealias JSONText = ArraySlice<UInt8>

/// A JSON value that remembers every byte of how it was written.
///
/// White space, escapes, the spelling of numbers, the order of keys and keys that occur twice are kept: what isn't
/// changed is written again as it was read. Commas, colons, braces and brackets aren't stored; they follow from the
/// structure, so that what is removed or added takes its comma along.
public enum JSONValue: Hashable, Sendable {
    case object(JSONObject)
    case array(JSONArray)
    /// With its quotation marks and escapes.
    case string(JSONText)
    /// A number, `true`, `false` or `null`.
    case literal(JSONText)

    public static let null = JSONValue.literal(Array("null".utf8)[...])

    /// A string that says `text`, escaped only where JSON requires it.
    public init(_ text: String) {
        self = .string(JSONString.encode(text)[...])
    }

    public init(_ truth: Bool) {
        self = .literal(Array(String(truth).utf8)[...])
    }

    /// A finite number; whole ones without a fraction.
    public init(_ number: Double) {
        self = .literal(Array((Int64(exactly: number).map(String.init) ?? String(number)).utf8)[...])
    }

    /// An object of those members that have a value, without white space.
    public init(members: [(key: String, value: JSONValue?)]) {
        var object = JSONObject(members: [], closing: [])
        for case (let key, let value?) in members { object.append(key, value) }
        self = .object(object)
    }

    /// An array without white space.
    public init(elements: [JSONValue]) {
        self = .array(
            JSONArray(elements: elements.map { JSONArray.Element(before: [], value: $0, after: []) }, closing: []))
    }

    /// What a string says; nil for another value, and for a string that is no Unicode text (a lone surrogate).
    public var text: String? {
        guard case .string(let raw) = self else { return nil }
        return JSONString.decode(raw)
    }

    /// The value of a number, infinite where it is beyond what a `Double` holds; nil for another value.
    public var number: Double? {
        guard case .literal(let raw) = self else { return nil }
        return Double(String(decoding: raw, as: UTF8.self))
    }

    /// The value of `true` or `false`; nil for another value.
    public var boolean: Bool? {
        guard case .literal(let raw) = self else { return nil }
        return raw.elementsEqual("true".utf8) ? true : raw.elementsEqual("false".utf8) ? false : nil
    }

    public var isNull: Bool {
        guard case .literal(let raw) = self else { return false }
        return raw.elementsEqual("null".utf8)
    }

    /// What an object has, in its order; nothing for another value.
    public var members: [(key: String, value: JSONValue)] {
        guard case .object(let object) = self else { return [] }
        return object.members.map { ($0.name, $0.value) }
    }

    /// What an array has; nothing for another value.
    public var elements: [JSONValue] {
        guard case .array(let array) = self else { return [] }
        return array.elements.map(\.value)
    }

    /// The values of an object under `key`, in their order; none for another value.
    func values(of key: String) -> [JSONValue] {
        guard case .object(let object) = self else { return [] }
        return object.members.filter { $0.isNamed(key) }.map(\.value)
    }

    /// The last value of an object under `key`, which is the one that readers take.
    public subscript(key: String) -> JSONValue? {
        values(of: key).last
    }
}

public struct JSONObject: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        /// White space after `{` or `,`.
        var before: JSONText
        /// With its quotation marks and escapes.
        var key: JSONText
        /// White space around the colon.
        var beforeColon: JSONText
        var afterColon: JSONText
        var value: JSONValue
        /// White space before the comma that follows; of the last member it belongs to ``JSONObject/closing``.
        var after: JSONText

        /// The key as it is meant; as it is written where it is no Unicode text (a lone surrogate).
        var name: String {
            JSONString.decode(key) ?? String(decoding: key, as: UTF8.self)
        }

        func isNamed(_ name: String) -> Bool {
            let inner = key.dropFirst().dropLast()
            // Nearly always the key is written without escapes.
            guard inner.contains(UInt8(ascii: "\\")) else { return inner.elementsEqual(name.utf8) }
            // Not by ==, to which canonically equivalent texts are the same.
            return JSONString.decode(key).map { $0.utf8.elementsEqual(name.utf8) } ?? false
        }
    }

    var members: [Member]
    /// White space before `}`.
    var closing: JSONText

    /// Adds a member at the end, laid out as the last one is.
    mutating func append(_ key: String, _ value: JSONValue) {
        let last = members.last
        members.append(
            Member(
                before: last?.before ?? [], key: JSONString.encode(key)[...], beforeColon: last?.beforeColon ?? [],
                afterColon: last?.afterColon ?? [], value: value, after: []))
    }
}

public struct JSONArray: Hashable, Sendable {
    struct Element: Hashable, Sendable {
        /// White space after `[` or `,`.
        var before: JSONText
        var value: JSONValue
        /// White space before the comma that follows; of the last element it belongs to ``JSONArray/closing``.
        var after: JSONText
    }

    var elements: [Element]
    /// White space before `]`.
    var closing: JSONText
}

extension JSONValue {
    /// The value as it is written.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .string(let raw), .literal(let raw): bytes += raw
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in object.members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += member.before
                bytes += member.key
                bytes += member.beforeColon
                bytes.append(UInt8(ascii: ":"))
                bytes += member.afterColon
                member.value.write(to: &bytes)
                bytes += member.after
            }
            bytes += object.closing
            bytes.append(UInt8(ascii: "}"))
        case .array(let array):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in array.elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += element.before
                element.value.write(to: &bytes)
                bytes += element.after
            }
            bytes += array.closing
            bytes.append(UInt8(ascii: "]"))
        }
    }
}
