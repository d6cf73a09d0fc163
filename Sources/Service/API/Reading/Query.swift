import SatchelCore
import HTTPTypes
import Hummingbird
import Payloads

/// The parameters of a request's query, decoded, each at most once.
struct Query {
    /// In the order of the URL.
    let parameters: [(name: String, value: String)]

    /// - Throws: A problem for what can't be decoded, and for a parameter that comes twice.
    init(_ request: Request) throws(Problem) {
        try self.init(String(request.uri.query ?? ""))
    }

    /// What a form sends is written like a query.
    init(_ text: String) throws(Problem) {
        var parameters: [(name: String, value: String)] = []
        var names: Set<String> = []
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true),
                let value = PercentCoding.decode(parts.count > 1 ? parts[1] : "", plusIsSpace: true)
            else {
                throw .invalid(String(parts[0].prefix(64)), "Must be percent-encoded UTF-8.")
            }
            guard names.insert(name).inserted else { throw .invalid(name, "Must be given only once.") }
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    /// The parameters as fields; whatever is not `known` is a validation error. A known name that ends in a dot stands for all that
    /// begin with it.
    func reader(known: [String], _ errors: ValidationErrors) -> FieldReader {
        let prefixes = known.filter { $0.hasSuffix(".") }
        let free = parameters.map(\.name).filter { name in
            prefixes.contains { name.hasPrefix($0) && name.utf8.count > $0.utf8.count }
        }
        let named = known.map { $0.hasSuffix(".") ? $0 + "KEY" : $0 }
        return FieldReader(
            parameters.map { ($0.name, JSONValue($0.value)) }, named: .parameter(""), known: named + free, errors)
    }
}
