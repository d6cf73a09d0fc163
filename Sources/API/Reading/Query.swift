import HTTPTypes
import Hummingbird
import Payloads

/// The parameters of a request's query, decoded, each at most once.
struct Query {
    /// In the order of the URL.
    let parameters: [(name: String, value: String)]

    /// - Throws: A problem for what can't be decoded, and for a parameter that comes twice.
    init(_ request: Request) throws(Problem) {
        var parameters: [(name: String, value: String)] = []
        var names: Set<String> = []
        for pair in (request.uri.query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentCoding.decode(parts[0], plusIsSpace: true),
                let value = PercentCoding.decode(parts.count > 1 ? parts[1] : "", plusIsSpace: true)
            else {
                throw .invalid(String(parts[0].prefix(64)), "This is not percent-encoded UTF-8.")
            }
            guard names.insert(name).inserted else { throw .invalid(name, "This parameter comes twice.") }
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    /// The parameters as fields; whatever is not `known` is a complaint.
    func reader(known: [String], _ errors: ValidationErrors) -> FieldReader {
        FieldReader(
            parameters.map { ($0.name, JSONValue($0.value)) }, named: .parameter(""), known: known, errors)
    }
}
