import Foundation
import TestSupport
import Testing

@testable import Payloads

/// The reader beside Python's, which says what JSON is, and Foundation's.
@Suite struct JSONReadingTests {
    /// What a text is to Python: no JSON, JSON, or JSON in which every reader sees the same.
    private enum Verdict: String, Decodable {
        case refused, read, interoperable
    }

    /// Python's own additions (NaN, a byte order mark in bytes, other encodings) are turned off.
    private static let judge = """
        import base64, json, sys, unicodedata

        def verdict(text):
            same = True
            def pairs(members):
                nonlocal same
                keys = [unicodedata.normalize('NFC', key) for key, value in members]
                same = same and len(set(keys)) == len(keys)
                for key in keys: string(key)
                for key, value in members: string(value)
                return dict(members)
            def string(value):
                nonlocal same
                if isinstance(value, list):
                    for element in value: string(element)
                elif isinstance(value, str) and any(0xD800 <= ord(c) < 0xE000 for c in value): same = False
            def constant(word): raise ValueError(word)
            try: value = json.loads(text.decode('utf-8'), object_pairs_hook=pairs, parse_constant=constant)
            except ValueError: return 'refused'
            string(value)
            return 'interoperable' if same else 'read'

        texts = [base64.b64decode(text) for text in json.loads(sys.argv[1])]
        print(json.dumps([verdict(text) for text in texts]))
        """

    private static func verdicts(_ texts: [[UInt8]]) throws -> [Verdict] {
        let list = try JSONEncoder().encode(texts.map { Data($0).base64EncodedString() })
        let result = try Python.run(judge, [String(decoding: list, as: UTF8.self)])
        return try #require(try? JSONDecoder().decode([Verdict].self, from: result.output), "\(result.errorText)")
    }

    private func expect(_ verdict: Verdict, of text: [UInt8]) {
        let spelled = String(decoding: text, as: UTF8.self)
        let rules = JSONRules(depth: 64, bytes: .max, members: .max, isInteroperable: true)
        let read = try? JSONDocument.read(text, .passedOn)
        #expect((read != nil) == (verdict != .refused), "\(spelled)")
        #expect(read == nil || read?.bytes == text, "\(spelled)")
        #expect(((try? JSONDocument.read(text, rules)) != nil) == (verdict == .interoperable), "\(spelled)")
    }

    @Test func `the edges of JSON are where Python has them`() throws {
        let texts = [
            "", " ", "{", "[1,]", #"{"a":1,}"#, #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "{\"é\":1,\"e\u{301}\":2}",
            "01", "-01", "1.", "-", "+1", ".5", "1e", "1e+", "0x1", "1_0", "\"", #""\x""#, #""\u12""#, #""\u12g4""#,
            #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud83d\ude00""#, #""\ude00\ud83d""#, #"["\ud800"]"#,
            #"{"\ud800":1}"#, "\"a\nb\"", "\"\u{7F}\"", "\"\u{0}\"", "tru", "nul", "True", "NaN", "-Infinity", "1 2",
            "{a:1}", "{\"a\" 1}", "[1 2]", "1e999", "-1e-999", "123456789012345678901234567890.000e+00", "\u{FEFF}1",
            "'a'", "{\"a\":}", "{} {}", "// no\n{}", "[\u{A0}]", "[\u{0B}1]", "\u{2028}1", "[[]", "[]]", "{\"a\":1}}",
            "-0.0e-0", "\"\\/\"", "\"\\u0000\"",
        ].map { Array($0.utf8) }
        for (text, verdict) in zip(texts, try Self.verdicts(texts)) { expect(verdict, of: text) }
    }

    @Test(arguments: 0..<8) func `documents that were damaged are taken where Python takes them`(seed: UInt64) throws {
        var random = RandomJSON(seed: seed)
        let texts = (0..<500).map { _ in random.damaged() }
        let verdicts = try Self.verdicts(texts)
        for verdict in [Verdict.refused, .read, .interoperable] { #expect(verdicts.contains(verdict)) }
        for (text, verdict) in zip(texts, verdicts) {
            expect(verdict, of: text)
            if verdict == .interoperable {
                #expect(throws: Never.self) {
                    try JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)
                }
            }
        }
    }

    @Test func `values are read as they are meant`() throws {
        let text = #" {"a": [1, -0.5e2, true, false, null, "\u00e9\ud83d\ude00\n\"\/é"], "b": {}, "c\u0064": 1e999} "#
        let root = try JSONDocument.read(Array(text.utf8), .passedOn).root
        #expect(root.members.map(\.key) == ["a", "b", "cd"])
        let elements = try #require(root["a"]?.elements)
        #expect(elements.map(\.number) == [1, -50, nil, nil, nil, nil])
        #expect(elements.map(\.boolean) == [nil, nil, true, false, nil, nil])
        #expect(elements.map(\.isNull) == [false, false, false, false, true, false])
        #expect(elements.last?.text == "é😀\n\"/é")
        #expect(root["b"]?.members.isEmpty == true && root["b"]?.elements.isEmpty == true)
        #expect(root["cd"]?.number == .infinity)
    }

    @Test func `members and elements are counted over the whole text`() {
        let rules = JSONRules(depth: 4, bytes: 1000, members: 6, isInteroperable: false)
        #expect(throws: Never.self) { try JSONDocument.read(Array(#"{"a":[1,2],"b":[[3]]}"#.utf8), rules) }
        #expect {
            try JSONDocument.read(Array(#"{"a":[1,2],"b":[[3]],"c":4}"#.utf8), rules)
        } throws: { "\($0)" == "there are more than 6 members and elements (line 1, column 22)" }
    }
}

extension RandomJSON {
    /// A document, mostly with one thing changed that may or may not keep it from being JSON.
    fileprivate mutating func damaged() -> [UInt8] {
        let text = document()
        var bytes = Array(text.utf8)
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(Array(#"{}[],:"\0 1-.e"#.utf8).randomElement(using: &random) ?? 0, at: place)
        case 3: bytes.removeSubrange(place...)
        case 4: bytes = Array(text.replacing("\"k1", with: "\"k0").utf8)
        case 5: bytes = Array(text.replacing(#"\u0041"#, with: #"\uDC41"#).utf8)
        default: break
        }
        return bytes
    }
}
