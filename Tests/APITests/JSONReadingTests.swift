import Foundation
import TestSupport
import Testing

@testable import API

/// JSON as it is read from requests.
@Suite struct JSONReadingTests {
    @Test(arguments: [
        "", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "01", "1.", "-", "+1", ".5", "1e", "\"", "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"a\nb\"", "tru", "nul", "NaN", "1 2", "{a:1}", "{\"a\" 1}", "[1 2]",
        "1e999",
        "\u{FEFF}1", "'a'", "{\"a\":}",
    ])
    func `what is no JSON is refused`(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONTree(text.utf8) }
    }

    @Test func `values are read as they are meant`() throws {
        let text = #" {"a": [1, -0.5e2, true, false, null, "\u00e9\ud83d\ude00\n\"\/é"], "b": {}} "#
        let expected = JSONTree.object([
            .init(
                name: "a",
                value: .array([.number(1), .number(-50), .bool(true), .bool(false), .null, .string("é😀\n\"/é")])),
            .init(name: "b", value: .object([])),
        ])
        #expect(try JSONTree(text.utf8) == expected)
    }

    @Test func `depth is bounded, and neither cut nor mutated texts trap`() throws {
        #expect(throws: Never.self) {
            try JSONTree((String(repeating: "[", count: 32) + String(repeating: "]", count: 32)).utf8)
        }
        #expect(throws: JSONSyntaxError.self) { try JSONTree(String(repeating: "[", count: 100_000).utf8) }
        let text = Array(#"{"a": [1.5e-3, "\u00e9x\\", {"b": [true, null]}]}"#.utf8)
        for end in 0..<text.count { #expect(throws: JSONSyntaxError.self) { try JSONTree(text[..<end]) } }
        var random = SeededGenerator()
        for _ in 0..<3000 {
            var copy = text
            copy[Int.random(in: 0..<copy.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            // The standard's reader takes whatever is taken here.
            if (try? JSONTree(copy)) != nil {
                #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(copy)) }
            }
        }
    }
}
