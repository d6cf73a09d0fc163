/// What a field of a profile takes.
public enum FieldType: Hashable, Sendable {
    case text
    /// A profile's own, which it is given by who reads it: letters, digits, `-` and `_`.
    case name
    /// `#rrggbb`.
    case colour
    case flag
    case integer(ClosedRange<Int>, unit: String)
    /// More than none; the least that something fits into is a rule's.
    case bytes
    case seconds(ClosedRange<Double>)
    case choice([String])
    /// Several of these, best first.
    case list([String])
    /// A policy of this name, and its values where nothing else is said.
    case part(String, fields: [FieldDescription], defaults: PlainValue)

    public static func part<Part: ProfilePart>(_ part: Part.Type) -> FieldType {
        .part("\(part)", fields: part.fields.map(\.description), defaults: part.defaults.values)
    }

    /// What would do: `a whole number from 1 to 100`.
    public var expected: String {
        switch self {
        case .text: "a string"
        case .name: "made of letters, digits, '-' and '_'"
        case .colour: "a color such as #ffffff"
        case .flag: "true or false"
        case .integer(let range, let unit):
            "a whole number\(unit.isEmpty ? "" : " of \(unit)") from \(range.lowerBound) to \(range.upperBound)"
        case .bytes: "a whole number of bytes"
        case .seconds(let range):
            "a number of seconds from \(PlainValue.number(range.lowerBound).text) to \(PlainValue.number(range.upperBound).text)"
        case .choice(let words): words.count == 1 ? words[0] : "one of \(words.joined(separator: ", "))"
        case .list(let words): "a list of \(words.joined(separator: ", "))"
        case .part: "a mapping"
        }
    }

    /// Of numbers; nil for those that have none, such as qualities.
    public var unit: String? {
        switch self {
        case .integer(_, let unit): unit.isEmpty ? nil : unit
        case .bytes: "bytes"
        case .seconds: "seconds"
        default: nil
        }
    }

    /// What of a value of this type is not in its range.
    func wrong(_ value: PlainValue) -> [PlainValue] {
        let isSound =
            switch (self, value) {
            case (.name, .text(let text)): !text.isEmpty && text.allSatisfy(\.isNameCharacter)
            case (.colour, .text(let text)): text.isColor
            case (.integer(let range, _), .integer(let number)): range.contains(Int(clamping: number))
            case (.seconds(let range), .number(let number)): range.contains(number)
            case (.choice(let words), .text(let word)): words.contains(word)
            case (.list(let words), .list(let list)): !list.isEmpty && list.allSatisfy(words.contains)
            default: true
            }
        guard !isSound else { return [] }
        guard case .list(let words) = self, case .list(let list) = value, !list.isEmpty else { return [value] }
        return list.filter { !words.contains($0) }.map(PlainValue.text)
    }
}

/// How the values of a field are read and shown.
struct FieldKind<Value: Sendable>: Sendable {
    var type: FieldType
    var isOptional = false
    /// Nil for what is not of this type; what is in no range can be read.
    var read: @Sendable (PlainValue) -> Value?
    var show: @Sendable (Value) -> PlainValue

    /// The same, or nothing.
    var orNull: FieldKind<Value?> {
        FieldKind<Value?>(type: type, isOptional: true) { [read] in
            $0 == .nothing ? .some(nil) : read($0).map(Value?.some)
        } show: { [show] in
            $0.map(show) ?? .nothing
        }
    }
}

extension FieldKind<String> {
    private static func text(_ type: FieldType) -> Self {
        FieldKind(type: type) {
            guard case .text(let text) = $0 else { return nil }
            return text
        } show: {
            .text($0)
        }
    }

    static var text: Self { text(.text) }
    static var colour: Self { text(.colour) }
    static var name: Self { text(.name) }
}

extension FieldKind<Bool> {
    static var flag: Self {
        FieldKind(type: .flag) {
            guard case .flag(let flag) = $0 else { return nil }
            return flag
        } show: {
            .flag($0)
        }
    }
}

extension FieldKind where Value: FixedWidthInteger {
    private static func whole(_ type: FieldType) -> Self {
        FieldKind(type: type) {
            guard case .integer(let number) = $0 else { return nil }
            return Value(exactly: number)
        } show: {
            .integer(Int64($0))
        }
    }

    static func integer(_ range: ClosedRange<Int>, of unit: String = "") -> Self { whole(.integer(range, unit: unit)) }
    static var bytes: Self { whole(.bytes) }
}

extension FieldKind<Double> {
    static func seconds(_ range: ClosedRange<Double>) -> Self {
        FieldKind(type: .seconds(range)) {
            switch $0 {
            case .number(let number): number
            case .integer(let number): Double(number)
            default: nil
            }
        } show: {
            .number($0)
        }
    }
}

extension FieldKind where Value: RawRepresentable<String> & CaseIterable {
    static var choice: Self { choice(among: Array(Value.allCases)) }

    static func choice(among values: [Value]) -> Self {
        FieldKind(type: .choice(values.map(\.rawValue))) {
            guard case .text(let word) = $0 else { return nil }
            return Value(rawValue: word)
        } show: {
            .text($0.rawValue)
        }
    }
}

extension FieldKind<MediaType> {
    /// Written as a media type, an extension or a UTI.
    static func type(among types: [MediaType]) -> Self {
        var kind = choice(among: types)
        kind.read = {
            guard case .text(let text) = $0 else { return nil }
            return MediaType(declared: text)
        }
        return kind
    }
}

extension FieldKind<[MediaType]> {
    static func types(among types: [MediaType]) -> Self {
        FieldKind(type: .list(types.map(\.rawValue))) {
            guard case .list(let list) = $0 else { return nil }
            let types = list.compactMap(MediaType.init(declared:))
            return types.count == list.count ? types : nil
        } show: {
            .list($0.map(\.rawValue))
        }
    }
}

extension Character {
    fileprivate var isNameCharacter: Bool {
        isASCII && (isLetter || isNumber || self == "-" || self == "_")
    }
}

extension String {
    /// `#rrggbb`.
    fileprivate var isColor: Bool {
        count == 7 && first == "#" && dropFirst().allSatisfy(\.isHexDigit)
    }
}
