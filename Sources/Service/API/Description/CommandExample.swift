import Payloads

/// Calls as a person would try them: with curl, from the description's examples.
enum CommandExample {
    private static let server = "https://satchel.example.com"

    /// The example of a media type: its own, or the first that it refers to.
    static func value(of content: JSONValue, in document: OpenAPIDocument) -> JSONValue? {
        if let example = content["example"] { return example }
        guard let named = content["examples"]?.members.first?.value else { return nil }
        return document.resolved(named)["value"]
    }

    /// One command for each kind of body that the call's description gives an example of.
    static func examples(of call: OpenAPIDocument.Operation, in document: OpenAPIDocument) -> [String] {
        let given = (call.value["x-codeSamples"]?.elements ?? []).compactMap { $0["source"]?.text }
        return [generated(call, document)] + given
    }

    private static func generated(_ call: OpenAPIDocument.Operation, _ document: OpenAPIDocument) -> String {
        var path = call.path
        var lines: [String] = []
        for parameter in (call.value["parameters"]?.elements ?? []).map(document.resolved) {
            guard let name = parameter["name"]?.text, let example = parameter["example"]?.text else { continue }
            switch parameter["in"]?.text {
            case "path":
                path = path.split(separator: "{\(name)}", omittingEmptySubsequences: false).joined(separator: example)
            case "header" where name == "Prefer": lines.append("-H '\(name): \(example)'")
            default: break
            }
        }
        if call.value["security"]?.elements.isEmpty == false {
            lines.insert("-H 'Authorization: Bearer satk_…'", at: 0)
        }
        let content = call.value["requestBody"]?["content"]?.members.first
        if let content, let example = value(of: content.value, in: document) {
            lines.append("-H 'Content-Type: \(content.key)'")
            lines.append("-d '\(example.laidOut(width: 80))'")
        }
        let method =
            switch call.method {
            case "GET": ""
            case "HEAD": "--head "
            default: "-X \(call.method) "
            }
        return (["curl \(method)\(server)\(path)"] + lines).joined(separator: " \\\n  ")
    }
}
