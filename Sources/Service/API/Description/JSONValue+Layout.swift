public import Payloads

extension JSONValue {
    /// The value over as few lines as stay within `width` columns each.
    public func laidOut(width: Int = 100, indent: Int = 0) -> String {
        let flat = flat
        let pad = String(repeating: " ", count: indent)
        guard flat.count + indent > width else { return flat }
        let inner = indent + 2
        switch self {
        case .object where !members.isEmpty:
            let lines = members.map { key, value in
                "\(pad)  \(JSONValue(key).flat): \(value.laidOut(width: width, indent: inner))"
            }
            return "{\n\(lines.joined(separator: ",\n"))\n\(pad)}"
        case .array where !elements.isEmpty:
            let lines = elements.map { "\(pad)  \($0.laidOut(width: width, indent: inner))" }
            return "[\n\(lines.joined(separator: ",\n"))\n\(pad)]"
        default: return flat
        }
    }

    private var flat: String {
        switch self {
        case .string(let raw), .literal(let raw): String(decoding: raw, as: UTF8.self)
        case .array: "[\(elements.map(\.flat).joined(separator: ", "))]"
        case .object: "{\(members.map { "\(JSONValue($0.key).flat): \($0.value.flat)" }.joined(separator: ", "))}"
        }
    }
}
