/// A value of a setting or of a profile's field, whatever its type: what YAML and JSON are made of.
public enum PlainValue: Hashable, Sendable {
    case nothing
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)
    case list([String])
    /// In the order in which they are read.
    case object([Member])

    public struct Member: Hashable, Sendable {
        public var name: String
        public var value: PlainValue

        public init(_ name: String, _ value: PlainValue) {
            self.name = name
            self.value = value
        }
    }

    /// As it would be written on a line.
    public var text: String {
        switch self {
        case .nothing: "none"
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        case .flag(let flag): "\(flag)"
        case .list(let list): list.isEmpty ? "none" : list.joined(separator: ",")
        case .object(let members):
            members.isEmpty ? "none" : members.map { "\($0.name)=\($0.value.text)" }.joined(separator: ",")
        }
    }

    public var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }
}

extension PlainValue: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .nothing: try container.encodeNil()
        case .text(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .object(let members):
            // A dictionary's keys stay as they are, whatever the encoder does with others.
            try container.encode(Dictionary(members.map { ($0.name, $0.value) }) { $1 })
        }
    }
}
