import SatchelCore
import Foundation
import Payloads
import TestSupport
import Testing

@testable import API

/// The document's schemas of profiles, and what is answered, against the table of a profile's fields.
@Suite struct ProfileDescriptionTests {
    let document = OpenAPIDocument.current

    @Test func `the document has every field with its type, range, default and explanation, and no other`() {
        for (name, fields) in Self.parts() {
            let schema = document.root["components"]?["schemas"]?[name]
            let properties = JSONValue(members: fields.map { ($0.name, Self.schema(of: $0)) })
            let required = JSONValue(elements: fields.map { JSONValue($0.name) })
            #expect(
                schema?["properties"]?.laidOut() == properties.laidOut()
                    && schema?["required"]?.laidOut() == required.laidOut(),
                """
                \(name) should have "properties": \(properties.laidOut(width: 120, indent: 8)),
                "required": \(required.laidOut(width: 120, indent: 8))
                """)
            #expect(schema?["description"]?.text?.isEmpty == false, "\(name)")
        }
    }

    @Test(arguments: Profile.builtIn)
    func `a profile is answered with every field, absent ones as null`(profile: Profile) async throws {
        try await LiveService.run { live in
            let reply = try await live.send(.get, "/v1/profiles", as: .read)
            let profiles = try #require(Self.read(reply.body)["profiles"]?.elements)
            let answered = try #require(profiles.first { $0["name"]?.text == profile.name })
            Self.expectAll(Profile.fields.map(\.description), in: answered, below: profile.name)
        }
    }

    @Test func `the document's example of a profile has every field`() throws {
        let answer = document.root["paths"]?["/v1/profiles"]?["get"]?["responses"]?["200"]
        let example = try #require(answer?["content"]?["application/json"]?["example"]?["profiles"]?.elements.first)
        let profile = try #require(Profile.builtIn.first { $0.name == example["name"]?.text })
        let written = try Self.read(JSON.encode(profile.values))
        #expect(Self.sorted(example).laidOut() == Self.sorted(written).laidOut(), "it should be \(written.laidOut())")
    }

    private static func read(_ text: Data) throws -> JSONValue {
        try JSONDocument.read(Array(text), .requestBody).root
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

    private static func schema(of field: FieldDescription) -> JSONValue {
        var members: [(key: String, value: JSONValue?)] = []
        func add(_ key: String, _ value: JSONValue) { members.append((key, value)) }
        func type(_ name: String) {
            add("type", field.isOptional ? words([name, "null"]) : JSONValue(name))
        }
        func words(_ words: [String]) -> JSONValue { JSONValue(elements: words.map { JSONValue($0) }) }
        switch field.type {
        case .text: type("string")
        case .name:
            type("string")
            add("pattern", JSONValue("^[A-Za-z0-9_-]+$"))
        case .colour:
            type("string")
            add("pattern", JSONValue("^#[0-9A-Fa-f]{6}$"))
        case .flag: type("boolean")
        case .integer(let range, _):
            type("integer")
            add("minimum", JSONValue(Double(range.lowerBound)))
            add("maximum", JSONValue(Double(range.upperBound)))
        case .bytes:
            type("integer")
            add("minimum", JSONValue(1.0))
        case .seconds(let range):
            type("number")
            add("minimum", JSONValue(range.lowerBound))
            add("maximum", JSONValue(range.upperBound))
        case .choice(let choices):
            type("string")
            add("enum", words(choices))
        case .list(let choices):
            type("array")
            add("items", JSONValue(members: [("type", JSONValue("string")), ("enum", words(choices))]))
            add("minItems", JSONValue(1.0))
        case .part(let name, _, _):
            add(
                "anyOf",
                JSONValue(elements: [
                    JSONValue(members: [("$ref", JSONValue("#/components/schemas/\(name)"))]),
                    JSONValue(members: [("type", JSONValue("null"))]),
                ]))
        }
        if field.type != .name, let value = try? read(JSON.encode(field.standard)) {
            // Generators of clients take no object for the default of what may be null.
            if case .object = value {} else { add("default", value) }
        }
        add("description", JSONValue(field.summary + (field.type.unit.map { " Unit: \($0)." } ?? "")))
        return JSONValue(members: members)
    }

    private static func expectAll(_ fields: [FieldDescription], in answer: JSONValue, below path: String) {
        #expect(answer.members.map(\.key).sorted() == fields.map(\.name).sorted(), "\(path)")
        for field in fields {
            guard case .part(_, let fields, _) = field.type, let part = answer[field.name], !part.isNull else {
                continue
            }
            expectAll(fields, in: part, below: "\(path).\(field.name)")
        }
    }

    private static func sorted(_ value: JSONValue) -> JSONValue {
        guard case .object = value else { return value }
        return JSONValue(members: value.members.sorted { $0.key < $1.key }.map { ($0.key, sorted($0.value)) })
    }
}
