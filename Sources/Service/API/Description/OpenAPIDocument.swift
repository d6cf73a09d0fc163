import Payloads

/// The API's description as it is served: OpenAPI 3.1, from `openapi.json` beside this file.
struct OpenAPIDocument: Sendable {
    /// The file as it is.
    static let bytes: [UInt8] = EmbeddedFile.openAPI
    // That it can be read is tested.
    static let current = OpenAPIDocument(root: (try? JSONDocument.read(bytes, .ours).root) ?? .null)

    let root: JSONValue

    /// One call.
    struct Operation {
        /// In upper case.
        var method: String
        var path: String
        var value: JSONValue
    }

    static let methods = ["get", "head", "post", "put", "delete", "patch", "options"]

    var operations: [Operation] {
        (root["paths"]?.members ?? []).flatMap { path in
            path.value.members.filter { Self.methods.contains($0.key) }.map {
                Operation(method: $0.key.uppercased(), path: path.key, value: $0.value)
            }
        }
    }

    /// What a value refers to by `$ref`, or the value itself.
    func resolved(_ value: JSONValue) -> JSONValue {
        guard let reference = value["$ref"]?.text, reference.hasPrefix("#/") else { return value }
        return reference.dropFirst(2).split(separator: "/").reduce(root) { $0[String($1)] ?? .null }
    }
}

extension JSONRules {
    /// Of what we wrote ourselves.
    fileprivate static let ours = JSONRules(depth: 64, bytes: .max, members: .max, isInteroperable: true)
}
