import SatchelCore
import Foundation
import Payloads
import TestSupport
import Testing

@testable import API

/// The OpenAPI document and the page that is made of it.
@Suite struct DescriptionTests {
    let document = OpenAPIDocument.current

    @Test func `every endpoint is described, with who may use it, and nothing else is`() {
        let described = document.operations.map { operation in
            let schemes = (operation.value["security"]?.elements ?? []).flatMap(\.members).map { scheme in
                scheme.value.elements.first?.text.map { "\(scheme.key) \($0)" } ?? scheme.key
            }
            return "\(operation.method) \(operation.path): \(schemes.joined(separator: ", "))"
        }
        let routed = Endpoint.all.map { endpoint in
            let access =
                switch endpoint.access {
                case .anyone: ""
                case .key(let roles): roles.map { "apiKey \($0.rawValue)" }.joined(separator: ", ")
                case .keyOrGrant(let roles):
                    (roles.map { "apiKey \($0.rawValue)" } + ["grant"]).joined(separator: ", ")
                case .grant: "grant"
                }
            return "\(endpoint.name): \(access)"
        }
        #expect(described.sorted() == routed.sorted())
    }

    @Test func `every reference leads somewhere, and every operation has a name of its own`() {
        var references: [String] = []
        func collect(_ value: JSONValue) {
            if let reference = value["$ref"]?.text {
                references.append(reference)
                #expect(document.resolved(value) != .null, "\(reference) leads nowhere")
            }
            for member in value.members { collect(member.value) }
            for element in value.elements { collect(element) }
        }
        collect(document.root)
        #expect(references.count > 100)
        let names = document.operations.compactMap { $0.value["operationId"]?.text }
        #expect(Set(names).count == Endpoint.all.count)
    }

    @Test func `parameters of a path are described, and no others`() {
        for operation in document.operations {
            let inPath = operation.path.split(separator: "/").filter { $0.hasPrefix("{") }.map {
                String($0.dropFirst().dropLast())
            }
            let described = (operation.value["parameters"]?.elements ?? []).map(document.resolved)
                .filter { $0["in"]?.text == "path" }.compactMap { $0["name"]?.text }
            #expect(described == inPath, "\(operation.method) \(operation.path)")
        }
    }

    private var tabled: [(code: String, unError: JSONValue?)] {
        (document.root["x-errors"]?.elements ?? []).map { ($0["code"]?.text ?? "", $0["un_error"]) }
    }

    @Test func `every error of an attachment is in the schema and the table, with its UNError`() {
        let listed = document.root["components"]?["schemas"]?["ErrorCode"]?["enum"]?.elements.compactMap(\.text)
        #expect(listed?.sorted() == ErrorCode.allCases.map(\.rawValue).sorted())
        for code in ErrorCode.allCases {
            let row = tabled.first { $0.code == code.rawValue }
            #expect(row?.unError == (code.unError.map { JSONValue(Double($0)) } ?? .null), "\(code.rawValue)")
        }
    }

    @Test func `every code and part of a finding is in the schema`() {
        let finding = document.root["components"]?["schemas"]?["Finding"]?["properties"]
        let listed = ["code", "part"].map { finding?[$0]?["examples"]?.elements.compactMap(\.text) }
        #expect(listed == [Finding.Code.allCases.map(\.rawValue), Finding.Part.allCases.map(\.rawValue)])
    }

    @Test func `every code that a problem can have, in the source or in an answer, is in the table`() throws {
        let sources = Repository.root.appending(path: "Sources/Service/API")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var codes: Set<String> = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in text.matches(of: #/Problem\(\s*\.?[A-Za-z0-9_(:, "\-.)]+?,\s*"([a-z_]+)"/#) {
                codes.insert(String(match.1))
            }
        }
        #expect(codes.isSuperset(of: ["unauthorized", "not_found", "method_not_allowed", "body_too_large"]))
        func collect(_ value: JSONValue) {
            for code in value["x-codes"]?.elements ?? [] { codes.insert(code.text ?? "") }
            for member in value.members { collect(member.value) }
            for element in value.elements { collect(element) }
        }
        collect(document.root["paths"] ?? .null)
        collect(document.root["components"]?["responses"] ?? .null)
        #expect(codes.subtracting(tabled.map(\.code)) == [])
    }

    @Test func `every error is the one problem, with the codes that it may have`() {
        for operation in document.operations {
            for response in operation.value["responses"]?.members ?? [] {
                let answer = document.resolved(response.value)
                let schema = answer["content"]?["application/problem+json"]?["schema"]
                let isError = operation.method != "HEAD" && (response.key.hasPrefix("4") || response.key.hasPrefix("5"))
                let codes = answer["x-codes"]?.elements ?? []
                let place = "\(operation.method) \(operation.path) \(response.key)"
                #expect(schema?["$ref"]?.text == (codes.isEmpty ? nil : "#/components/schemas/Problem"), "\(place)")
                #expect(!isError || !codes.isEmpty || ["412", "416", "503"].contains(response.key), "\(place)")
            }
        }
    }

    @Test func `the page shows every call, value and code, and needs no outside asset`() {
        let page = DocumentationPage.current
        let anchors = Set(page.matches(of: #/id="([^"]*)"/#).map { String($0.1) })
        let calls = document.operations.compactMap { $0.value["operationId"]?.text }
        let values = (document.root["components"]?["schemas"]?.members ?? []).map { "value-\($0.key)" }
        #expect(anchors.isSuperset(of: calls + values + tabled.map { "error-\($0.code)" }))
        // Programs of the guides may speak of anything.
        let own = page.replacing(#/<pre[^>]*>.*?<\/pre>/#.dotMatchesNewlines(), with: "")
        #expect(own.matches(of: #/src="([^"]*)"/#).map { String($0.1) } == [Asset.documentationScript.path])
        let outside = ["@import", "url("].filter(own.contains)
        #expect(outside == [])
        let links = Set(page.matches(of: #/href="([^"]*)"/#).map { String($0.1) })
        #expect(links.subtracting(anchors.map { "#\($0)" }) == ["/openapi.json"])
    }

    @Test func `markup in the description stays text`() {
        let evil = "<b onclick='x'>&\"`<i>`"
        let html: HTMLText = "<p title=\"\(evil)\">\(prose: evil)</p>"
        #expect(!html.description.contains("<b") && !html.description.contains("<i>"))
        #expect(html.description.contains("<code>&lt;i&gt;</code>"))
    }
}
