import Attachments
import Foundation
import TestSupport
import Testing

@testable import API

/// The document's schemas of profiles, and what is answered, against the table of a profile's fields.
@Suite struct ProfileDescriptionTests {
    let document = OpenAPIDocument.current

    @Test func `the document has every field with its type, range, default and explanation, and no other`() {
        for (name, fields) in Self.parts() {
            let schema = document.root["components"]?["schemas"]?[name]
            let properties = DocumentValue.object(
                fields.map { DocumentValue.Member(key: $0.name, value: Self.schema(of: $0)) })
            let required = DocumentValue.array(fields.map { .string($0.name) })
            #expect(
                schema?["properties"] == properties && schema?["required"] == required,
                """
                \(name) should have "properties": \(properties.json(width: 120, indent: 8)),
                "required": \(required.json(width: 120, indent: 8))
                """)
            #expect(schema?["description"]?.text?.isEmpty == false, "\(name)")
        }
    }

    @Test(arguments: Profile.builtIn)
    func `a profile is answered with every field, absent ones as null`(profile: Profile) async throws {
        try await LiveService.run { live in
            let reply = try await live.send(.get, "/v1/profiles", as: .read)
            let profiles = try #require(DocumentValue(parsing: Array(reply.body))?["profiles"]?.elements)
            let answered = try #require(profiles.first { $0["name"]?.text == profile.name })
            Self.expectAll(Profile.fields.map(\.description), in: answered, below: profile.name)
        }
    }

    @Test func `the document's example of a profile has every field`() throws {
        let answer = document.root["paths"]?["/v1/profiles"]?["get"]?["responses"]?["200"]
        let example = try #require(answer?["content"]?["application/json"]?["example"]?["profiles"]?.elements.first)
        let profile = try #require(Profile.builtIn.first { $0.name == example["name"]?.text })
        let written = try #require(DocumentValue(parsing: Array(JSON.encode(profile.values))))
        #expect(Self.sorted(example) == Self.sorted(written), "it should be \(written.json())")
    }

    /// The fields of the profile and of each policy, by their schemas' names.
    private static func parts() -> [(String, [FieldDescription])] {
        var parts: [(String, [FieldDescription])] = []
        func collect(_ name: String, _ fields: [FieldDescription]) {
            parts.append((name, fields))
            for field in fields {
                if case .part(let name, let fields, _) = field.type { collect(name, fields) }
            }
        }
        collect("Profile", Profile.fields.map(\.description))
        return parts
    }

    private static func schema(of field: FieldDescription) -> DocumentValue {
        var members: [DocumentValue.Member] = []
        func add(_ key: String, _ value: DocumentValue) { members.append(DocumentValue.Member(key: key, value: value)) }
        func type(_ name: String) {
            add("type", field.isOptional ? .array([.string(name), .string("null")]) : .string(name))
        }
        func words(_ words: [String]) -> DocumentValue { .array(words.map(DocumentValue.string)) }
        switch field.type {
        case .text: type("string")
        case .name:
            type("string")
            add("pattern", .string("^[A-Za-z0-9_-]+$"))
        case .colour:
            type("string")
            add("pattern", .string("^#[0-9A-Fa-f]{6}$"))
        case .flag: type("boolean")
        case .integer(let range, _):
            type("integer")
            add("minimum", .number("\(range.lowerBound)"))
            add("maximum", .number("\(range.upperBound)"))
        case .bytes:
            type("integer")
            add("minimum", .number("1"))
        case .seconds(let range):
            type("number")
            add("minimum", .number(PlainValue.number(range.lowerBound).text))
            add("maximum", .number(PlainValue.number(range.upperBound).text))
        case .choice(let choices):
            type("string")
            add("enum", words(choices))
        case .list(let choices):
            type("array")
            add(
                "items",
                .object([
                    DocumentValue.Member(key: "type", value: .string("string")),
                    DocumentValue.Member(key: "enum", value: words(choices)),
                ]))
            add("minItems", .number("1"))
        case .part(let name, _, _):
            add(
                "anyOf",
                .array([
                    .object([DocumentValue.Member(key: "$ref", value: .string("#/components/schemas/\(name)"))]),
                    .object([DocumentValue.Member(key: "type", value: .string("null"))]),
                ]))
        }
        if field.type != .name, let text = try? JSON.encode(field.standard),
            let value = DocumentValue(parsing: Array(text))
        {
            // Generators of clients take no object for the default of what may be null.
            if case .object = value {} else { add("default", value) }
        }
        add("description", .string(field.summary + (field.type.unit.map { " In \($0)." } ?? "")))
        return .object(members)
    }

    private static func expectAll(_ fields: [FieldDescription], in answer: DocumentValue, below path: String) {
        #expect(answer.members.map(\.key).sorted() == fields.map(\.name).sorted(), "\(path)")
        for field in fields {
            guard case .part(_, let fields, _) = field.type, let part = answer[field.name], part != .null else {
                continue
            }
            expectAll(fields, in: part, below: "\(path).\(field.name)")
        }
    }

    private static func sorted(_ value: DocumentValue) -> DocumentValue {
        guard case .object(let members) = value else { return value }
        return .object(
            members.sorted { $0.key < $1.key }.map { DocumentValue.Member(key: $0.key, value: sorted($0.value)) })
    }
}
