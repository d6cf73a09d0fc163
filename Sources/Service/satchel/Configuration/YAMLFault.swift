import Yams

/// What keeps a text from being YAML, for whoever wrote it.
struct YAMLFault {
    /// Nil where the text as a whole is meant.
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
            reason = "there is more than one \(keys.sorted().map { "'\($0)'" }.joined(separator: ", "))"
        case .reader(let problem, _, _, _): reason = problem
        default: reason = "it is no text in UTF-8"
        }
    }
}
