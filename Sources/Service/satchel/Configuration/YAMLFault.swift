import Yams

/// A syntax error in YAML.
struct YAMLFault {
    /// `nil` if the error is not on one line.
    var line: Int?
    var reason: String

    init(_ error: any Error) {
        switch error as? YamlError {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            line = mark.line
            reason = problem
        case .duplicatedKeysInMapping(let keys, let context):
            line = context.mark.line
            reason = keys.sorted().map { "'\($0)' appears twice" }.joined(separator: ", ")
        case .reader(let problem, _, _, _): reason = problem
        default: reason = "the text is not UTF-8"
        }
    }
}
