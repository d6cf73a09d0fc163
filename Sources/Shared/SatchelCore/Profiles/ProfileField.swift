/// A part of a profile that is a table of fields: the profile itself, or one of its policies.
///
/// From ``fields`` come reading and writing, validation, the order in which fields are shown, the API's body, and the
/// explanations of `satchel profile show --explain`; tests hold the API's document and the client's types to it.
public protocol ProfilePart: Hashable, Sendable, Codable {
    /// Every field at its default.
    static var defaults: Self { get }

    /// In the order in which they are shown, from the general to the particular.
    static var fields: [ProfileField<Self>] { get }
}

/// One field of a profile or of a policy: its name, where it is, what it takes, its default, and what it does.
public struct ProfileField<Part: ProfilePart>: Sendable {
    typealias Path<Value> = WritableKeyPath<Part, Value> & Sendable
    /// The remedy for a value in range that contradicts another field of the part; nil where it doesn't.
    typealias Rule = @Sendable (Part) -> String?

    public let description: FieldDescription
    let value: @Sendable (Part) -> PlainValue
    /// Where the value can't be taken, what was there stays.
    let set: @Sendable (PlainValue, inout Part) -> [ProfileProblem]
    let problems: @Sendable (Part) -> [ProfileProblem]
    let encode: @Sendable (Part, inout KeyedEncodingContainer<NameKey>) throws -> Void
    let decode: @Sendable (KeyedDecodingContainer<NameKey>, inout Part) throws -> Void

    var name: String { description.name }

    /// A field with one value.
    init<Value: Hashable & Codable>(
        _ name: String, _ path: any Path<Value>, _ kind: FieldKind<Value>, _ summary: String,
        rule: @escaping Rule = { _ in nil }
    ) {
        self.init(name, path, kind, summary, rule) { value, key, container in
            try container.encode(value, forKey: key)
        } decode: { key, container in
            try container.decode(Value.self, forKey: key)
        }
    }

    /// A field with one value or none.
    init<Value: Hashable & Codable>(
        _ name: String, _ path: any Path<Value?>, _ kind: FieldKind<Value>, _ summary: String,
        rule: @escaping Rule = { _ in nil }
    ) {
        self.init(name, path, kind.orNull, summary, rule) { value, key, container in
            try container.encodeIfPresent(value, forKey: key)
        } decode: { key, container in
            try container.decodeIfPresent(Value.self, forKey: key)
        }
    }

    private init<Value: Hashable>(
        _ name: String, _ path: any Path<Value>, _ kind: FieldKind<Value>, _ summary: String, _ rule: @escaping Rule,
        encode: @escaping @Sendable (Value, NameKey, inout KeyedEncodingContainer<NameKey>) throws -> Void,
        decode: @escaping @Sendable (NameKey, KeyedDecodingContainer<NameKey>) throws -> Value
    ) {
        let standard = Part.defaults[keyPath: path]
        description = FieldDescription(
            name: name, type: kind.type, isOptional: kind.isOptional, standard: kind.show(standard),
            summary: summary)
        let expected = description.expected
        value = { kind.show($0[keyPath: path]) }
        set = { value, part in
            guard let read = kind.read(value) else {
                return [ProfileProblem(key: name, value: value.text, remedy: "must be \(expected)")]
            }
            part[keyPath: path] = read
            return []
        }
        problems = { part in
            let value = kind.show(part[keyPath: path])
            if value == .nothing { return [] }
            let wrong = kind.type.wrong(value).map {
                ProfileProblem(key: name, value: $0.text, remedy: "must be \(expected)")
            }
            if !wrong.isEmpty { return wrong }
            return rule(part).map { [ProfileProblem(key: name, value: value.text, remedy: $0)] } ?? []
        }
        let key = NameKey(name.camelCased)
        self.encode = { part, container in try encode(part[keyPath: path], key, &container) }
        self.decode = { container, part in part[keyPath: path] = try decode(key, container) }
    }

    /// A policy, which may be absent; it begins with what is there, else with its defaults.
    init<Policy: ProfilePart>(_ name: String, _ path: any Path<Policy?>, _ summary: String) {
        let key = NameKey(name.camelCased)
        description = FieldDescription(
            name: name, type: .part(Policy.self), isOptional: true,
            standard: Part.defaults[keyPath: path]?.values ?? .nothing, summary: summary)
        let expected = description.expected
        value = { $0[keyPath: path]?.values ?? .nothing }
        set = { value, part in
            switch value {
            case .nothing:
                part[keyPath: path] = nil
                return []
            case .object(let members):
                var policy = part[keyPath: path] ?? .defaults
                let problems = policy.set(members)
                part[keyPath: path] = policy
                return problems.map { $0.below(name) }
            default:
                return [ProfileProblem(key: name, value: value.text, remedy: "must be \(expected)")]
            }
        }
        problems = { part in (part[keyPath: path]?.problems ?? []).map { $0.below(name) } }
        encode = { part, container in try container.encodeIfPresent(part[keyPath: path], forKey: key) }
        decode = { container, part in part[keyPath: path] = try container.decodeIfPresent(Policy.self, forKey: key) }
    }
}

extension ProfilePart {
    /// All fields with their values; what is absent is there as nothing.
    public var values: PlainValue {
        .object(Self.fields.map { PlainValue.Member($0.name, $0.value(self)) })
    }

    /// Changes what is named; a profile's own name is not among it.
    ///
    /// - Parameter others: Names that somebody else reads.
    /// - Returns: What could not be read. What is in no range is told by ``problems``.
    public mutating func set(_ members: [PlainValue.Member], beside others: [String] = []) -> [ProfileProblem] {
        var problems: [ProfileProblem] = []
        let fields = Self.fields.filter { $0.description.type != .name }
        for member in members where !others.contains(member.name) {
            if let field = fields.first(where: { $0.name == member.name }) {
                problems += field.set(member.value, &self)
            } else {
                let known = (others + fields.map(\.name)).joined(separator: ", ")
                problems.append(
                    ProfileProblem(key: member.name, value: "", remedy: "is not a field; must be one of \(known)"))
            }
        }
        return problems
    }

    /// Everything that is wrong with the values of the fields, in their order.
    var problems: [ProfileProblem] { Self.fields.flatMap { $0.problems(self) } }

    // Everything that is stored or sent is written in these keys: camelCase in the records, snake_case elsewhere.

    public init(from decoder: any Decoder) throws {
        self = .defaults
        let container = try decoder.container(keyedBy: NameKey.self)
        for field in Self.fields { try field.decode(container, &self) }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NameKey.self)
        for field in Self.fields { try field.encode(self, &container) }
    }
}

/// What is known of a field without a profile.
public struct FieldDescription: Hashable, Sendable {
    /// In snake_case.
    public var name: String
    public var type: FieldType
    /// Whether it may be null.
    public var isOptional: Bool
    /// Its default.
    public var standard: PlainValue
    /// What it does.
    public var summary: String

    /// What would do, for a complaint: `a whole number from 1 to 100`.
    public var expected: String { type.expected + (isOptional ? ", or null" : "") }
}

extension String {
    /// Of snake_case.
    fileprivate var camelCased: String {
        let words = split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
