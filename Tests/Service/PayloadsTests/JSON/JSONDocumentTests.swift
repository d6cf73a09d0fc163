import Foundation
import Testing

@testable import Payloads

@Suite struct JSONDocumentTests {
    // MARK: Reading and writing

    @Test(arguments: 0..<400) func `what is read is written again byte for byte`(seed: UInt64) throws {
        var random = RandomJSON(seed: seed)
        let text = random.document()
        #expect(String(decoding: try JSONDocument.read(Array(text.utf8), .passedOn).bytes, as: UTF8.self) == text)
    }

    @Test(arguments: 0..<200) func `strings are read as Foundation reads them`(seed: UInt64) throws {
        var random = RandomJSON(seed: seed)
        let raw = random.string()
        let theirs = try #require(
            JSONSerialization.jsonObject(with: Data(raw.utf8), options: .fragmentsAllowed) as? String)
        let ours = try #require(JSONString.decode(Array(raw.utf8)[...]))
        #expect(Array(ours.utf8) == Array(theirs.utf8))
        #expect(JSONString.decode(JSONString.encode(ours)[...]).map { Array($0.utf8) } == Array(ours.utf8))
    }

    @Test func `an encoded string has only the escapes it must have`() {
        #expect(
            String(decoding: JSONString.encode("a/\"\\\n\u{1}é\u{7F}"), as: UTF8.self) == #""a/\"\\\n\u0001é"#
                + "\u{7F}\"")
    }

    @Test func `keys that occur twice and numbers of any length are kept`() throws {
        let text = #"{"a":1,"a":2,"n":123456789012345678901234567890.000e+00,"a":{"a":[]}}"#
        #expect(try JSONDocument.read(Array(text.utf8), .passedOn).bytes == Array(text.utf8))
    }

    @Test func `a lone surrogate is kept but says nothing`() throws {
        let text = #"{"a":"\ud83d","b":"\ude00\ud83d"}"#
        let document = try JSONDocument.read(Array(text.utf8), .passedOn)
        #expect(document.bytes == Array(text.utf8))
        #expect(document.root["a"]?.text == nil)
    }

    @Test(arguments: [
        ("", 1, 1), ("{", 1, 2), ("[1,]", 1, 4), (#"{"a":1,}"#, 1, 8), (#"{"a" 1}"#, 1, 6), ("{a:1}", 1, 2),
        ("[01]", 1, 3), ("[1.]", 1, 4), ("[.5]", 1, 2), ("[+1]", 1, 2), ("[1e]", 1, 4), ("[-]", 1, 3),
        ("[tru]", 1, 2), ("[NaN]", 1, 2), ("['a']", 1, 2), ("\n\n  [1 2]", 3, 6), ("[\"a\n\"]", 1, 4),
        (#"["\x"]"#, 1, 4), (#"["\u12g4"]"#, 1, 7), ("[\"a", 1, 4), ("{} {}", 1, 4), ("// no\n{}", 1, 1),
        ("{\"é\":x}", 1, 7),
    ])
    func `what is no JSON is refused where it stops being one`(text: String, line: Int, column: Int) {
        #expect {
            try JSONDocument.read(Array(text.utf8), .passedOn)
        } throws: { error in
            (error as? JSONSyntaxError).map { ($0.line, $0.column) == (line, column) } ?? false
        }
    }

    @Test(
        arguments: [
            [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80],
            [0xF5, 0x80, 0x80, 0x80], [0x80], [0xE2, 0x82], [0xFF],
        ] as [[UInt8]])
    func `bytes that are no UTF-8 are refused`(bytes: [UInt8]) {
        let text = Array("[\"".utf8) + bytes + Array("\"]".utf8)
        #expect(String(validating: bytes, as: UTF8.self) == nil)
        #expect(throws: JSONSyntaxError.self) { try JSONDocument.read(text, .passedOn) }
    }

    @Test func `a byte order mark is refused by name`() {
        #expect {
            try JSONDocument.read([0xEF, 0xBB, 0xBF] + Array("{}".utf8), .passedOn)
        } throws: { "\($0)".contains("byte order mark") }
    }

    @Test func `nesting is taken to a depth of 64`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(try JSONDocument.read(nested(64), .passedOn).bytes == nested(64))
        #expect(throws: JSONSyntaxError.self) { try JSONDocument.read(nested(65), .passedOn) }
        #expect(throws: JSONSyntaxError.self) { try JSONDocument.read(nested(30_000), .passedOn) }
    }

    @Test func `a text is taken up to 64 KiB`() throws {
        func text(_ size: Int) -> [UInt8] { Array(("\"" + String(repeating: "a", count: size - 2) + "\"").utf8) }
        #expect(try JSONDocument.read(text(65_536), .passedOn).bytes.count == 65_536)
        #expect(throws: JSONSyntaxError.self) { try JSONDocument.read(text(65_537), .passedOn) }
    }

    // MARK: Editing

    @Test(arguments: 0..<400) func `replacing a value changes its bytes alone`(seed: UInt64) throws {
        var random = RandomJSON(seed: seed)
        var document = try JSONDocument.read(Array(random.document().utf8), .passedOn)
        let before = document.bytes
        guard let path = document.allPaths.randomElement(using: &random.random) else { return }
        let old = document[path].bytes
        document[path] = JSONValue("new")
        let after = document.bytes
        let places = before.indices.filter { before[$0...].starts(with: old) }
        #expect(places.contains { before[..<$0] + Array("\"new\"".utf8) + before[($0 + old.count)...] == after[...] })
        try expectModel(document, before) { $0.replace(at: path, with: "new") }
    }

    @Test(arguments: 0..<400) func `removing takes commas and emptied containers along, and nothing else`(seed: UInt64)
        throws
    {
        var random = RandomJSON(seed: seed)
        var document = try JSONDocument.read(Array(random.document().utf8), .passedOn)
        let before = document.bytes
        let paths = document.allPaths.shuffled(using: &random.random).prefix(
            Int.random(in: 0...4, using: &random.random))
        document.remove(paths)
        try expectModel(document, before) { $0.remove(Array(paths)) }
        #expect(isSubsequence(document.bytes, of: before))
    }

    @Test(arguments: 0..<200) func `a member is added at the end, everything before it stays`(seed: UInt64) throws {
        var random = RandomJSON(seed: seed)
        var document = try JSONDocument.read(Array(random.document().utf8), .passedOn)
        let before = document.bytes
        document.set("new", to: JSONValue("é\"\n"), inObjectAt: [])
        try expectModel(document, before) { $0.append("new", "é\"\n") }
        #expect(isSubsequence(before, of: document.bytes))
    }

    @Test func `what is added is laid out as its neighbours are`() throws {
        var document = try JSONDocument.read(Array("{\n  \"a\": 1,\n  \"b\": 2\n}\n".utf8), .passedOn)
        document.set("c", to: JSONValue("x"), inObjectAt: [])
        #expect(String(decoding: document.bytes, as: UTF8.self) == "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": \"x\"\n}\n")
        document.remove([[2]])
        #expect(String(decoding: document.bytes, as: UTF8.self) == "{\n  \"a\": 1,\n  \"b\": 2\n}\n")
        document.remove([[0]])
        #expect(String(decoding: document.bytes, as: UTF8.self) == "{\n  \"b\": 2\n}\n")
        document.remove([[0]])
        #expect(String(decoding: document.bytes, as: UTF8.self) == "{}\n")
    }

    // MARK: Pointers

    @Test func `pointers name values as RFC 6901 has it`() throws {
        let text = #"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"m~n":8,"k\u0065y":9,"x":{"1":"one"}}"#
        let document = try JSONDocument.read(Array(text.utf8), .passedOn)
        func number(_ pointer: String) -> [Double?] {
            JSONPointer(pointer).map { document.paths(to: $0).map { document[$0].number } } ?? []
        }
        #expect(number("/") == [0])
        #expect(number("/a~1b") == [1])
        #expect(number("/c%d") == [2])
        #expect(number("/m~0n") == [8])
        #expect(number("key") == [9])
        #expect(number("/foo/2").isEmpty)
        #expect(number("/foo/-").isEmpty)
        #expect(number("/foo/01").isEmpty)
        #expect(JSONPointer("/a~2") == nil)
        #expect(JSONPointer("") == nil)
        #expect(document.paths(to: JSONPointer(tokens: ["foo", "1"])).map { document[$0].text } == ["baz"])
        #expect(document.paths(to: JSONPointer(tokens: ["x", "1"])).map { document[$0].text } == ["one"])
        #expect(document.pointer(of: [2]).description == "/a~1b")
        #expect(document.pointer(of: [0, 1]).description == "/foo/1")
    }

    @Test func `a pointer names all members of a key that occurs twice`() throws {
        let document = try JSONDocument.read(Array(#"{"a":{"b":1},"a":{"b":2,"b":3}}"#.utf8), .passedOn)
        #expect(document.paths(to: JSONPointer(tokens: ["a", "b"])) == [[0, 0], [1, 0], [1, 1]])
    }

    // MARK: The model

    /// Foundation reads the edited text as what the model makes of the text before.
    private func expectModel(_ document: JSONDocument, _ before: [UInt8], _ edit: (inout Model) -> Void) throws {
        var model = Model(
            try JSONSerialization.jsonObject(with: Data(before)), like: try JSONDocument.read(before, .passedOn).root)
        edit(&model)
        let after = try JSONSerialization.jsonObject(with: Data(document.bytes))
        func canonical(_ value: Any) throws -> String {
            String(decoding: try JSONSerialization.data(withJSONObject: value, options: .sortedKeys), as: UTF8.self)
        }
        #expect(try canonical(model.foundation) == canonical(after))
    }

    private func isSubsequence(_ short: [UInt8], of long: [UInt8]) -> Bool {
        var rest = short[...]
        for byte in long where rest.first == byte { rest.removeFirst() }
        return rest.isEmpty
    }
}

extension JSONDocument {
    /// The ways to all values but the root.
    var allPaths: [Path] {
        var paths: [Path] = []
        func visit(_ value: JSONValue, _ path: Path) {
            if !path.isEmpty { paths.append(path) }
            switch value {
            case .object(let object):
                for (index, member) in object.members.enumerated() { visit(member.value, path + [index]) }
            case .array(let array):
                for (index, element) in array.elements.enumerated() { visit(element.value, path + [index]) }
            case .string, .literal: break
            }
        }
        visit(root, [])
        return paths
    }
}

/// What Foundation read, with the order of keys that it forgets.
private indirect enum Model {
    case object([(key: String, value: Model)])
    case array([Model])
    case other(NSObject)

    init(_ value: Any, like shape: JSONValue) {
        switch (value, shape) {
        case (let dictionary as [String: Any], .object(let object)):
            self = .object(
                object.members.map { member in
                    let key = JSONString.decode(member.key) ?? ""
                    return (key, Model(dictionary[key] ?? "missing", like: member.value))
                })
        case (let values as [Any], .array(let array)):
            self = .array(zip(values, array.elements).map { Model($0, like: $1.value) })
        default: self = .other(value as? NSObject ?? NSNull())
        }
    }

    var foundation: NSObject {
        switch self {
        case .object(let members):
            let dictionary = NSMutableDictionary()
            for (key, value) in members { dictionary.setObject(value.foundation, forKey: key as NSString) }
            return dictionary
        case .array(let values): return NSArray(array: values.map(\.foundation))
        case .other(let value): return value
        }
    }

    mutating func replace(at path: [Int], with text: String) {
        edit(path) { _ in .other(text as NSString) }
    }

    mutating func append(_ key: String, _ text: String) {
        guard case .object(let members) = self else { return }
        self = .object(members + [(key, .other(text as NSString))])
    }

    /// Marks, then sweeps: a container goes if it had something and keeps nothing.
    mutating func remove(_ paths: [[Int]]) {
        self = without(paths, at: []) ?? .object([])
    }

    private func without(_ paths: [[Int]], at here: [Int]) -> Model? {
        if paths.contains(here) { return nil }
        switch self {
        case .object(let members):
            let kept = members.enumerated().compactMap { index, member in
                member.value.without(paths, at: here + [index]).map { (key: member.key, value: $0) }
            }
            return kept.isEmpty && !members.isEmpty && !here.isEmpty ? nil : .object(kept)
        case .array(let values):
            let kept = values.enumerated().compactMap { $1.without(paths, at: here + [$0]) }
            return kept.isEmpty && !values.isEmpty && !here.isEmpty ? nil : .array(kept)
        case .other: return self
        }
    }

    private mutating func edit(_ path: [Int], _ body: (Model) -> Model) {
        guard let index = path.first else {
            self = body(self)
            return
        }
        switch self {
        case .object(var members):
            members[index].value.edit(Array(path.dropFirst()), body)
            self = .object(members)
        case .array(var values):
            values[index].edit(Array(path.dropFirst()), body)
            self = .array(values)
        case .other: break
        }
    }
}
