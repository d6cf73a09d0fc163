import SatchelCore
import Foundation
import Ingest
import TestSupport
import Testing

@testable import API

/// A category's description, field by field.
@Suite struct CategoryReaderTests {
    private let reader = CategoryReader(profiles: ["notification", "avatar"], webhooks: FetchGuard())

    private func read(_ json: String, id: String? = "c") throws -> Category {
        try reader.category(Array(json.utf8), id: id)
    }

    /// What is wrong, each by its pointer.
    private func pointers(_ json: String, id: String? = "c") -> [String] {
        do {
            _ = try read(json, id: id)
            return []
        } catch let problem as Problem {
            #expect(problem.errors.allSatisfy { !$0.detail.isEmpty })
            return problem.errors.map(\.pointer).sorted()
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `what a category says of itself is what it is read from`() throws {
        let sample = Category.sample()
        #expect(try reader.category(JSON.encode(sample), id: sample.id) == sample)
        #expect(try reader.category(file: JSON.encode(sample)) == sample)
        #expect(try read("{}") == Category(id: "c"))
        let least = #"{"actions": [{"id": "a", "title": "A"}], "extension": {}, "responses": {}}"#
        #expect(
            try read(least)
                == Category(
                    id: "c", actions: [CategoryAction(id: "a", title: "A")], extension: ContentExtension(),
                    responses: ResponseSettings()))
        let slider =
            #"{"extension": {"controls": [{"type": "slider", "title": "S", "sets": "opacity", "minimum": 0.2}]}}"#
        #expect(
            try read(slider).extension?.controls
                == [.slider(title: "S", sets: .opacity, minimum: 0.2, maximum: 1, value: 1)])
        #expect(try read(#"{"options": ["allow_in_car_play", "allow_in_car_play"]}"#).options == [.allowInCarPlay])
    }

    @Test func `every problem is told at once, by pointer`() {
        let json = """
            {"id": "d", "titel": 1, "options": ["loud", 7], "intents": ["", "ok"], "hidden_body": "", "summary_format": 3, "profile": "none",
             "actions": [
               {"id": "default", "title": "A"}, {"id": "a", "title": ""}, {"id": "a", "title": "A", "options": ["bold"]},
               {"icon": {}, "text_input": {"placeholder": 1}}, {"id": "b", "title": "B", "icon": {"system": "x", "template": "y"}, "colour": "red"}, 5],
             "extension": {"initial_content_size_ratio": 0, "default_content_hidden": "yes", "ratio": 1,
               "controls": [{"type": "dial", "title": "D"}, {"title": "E"}, {"type": "button", "title": "B", "does": "explode", "value": 1},
                 {"type": "slider", "title": "S", "does": "open", "minimum": 0.5, "maximum": 0.5},
                 {"type": "slider", "title": "S", "sets": "opacity", "minimum": 0.5, "value": 0.4}]},
             "responses": {"handler": {"timeout": 6}, "forward": {"url": "no"}, "record_text": 1, "ttl": 1, "rate": 0}}
            """
        #expect(
            pointers(json) == [
                "/actions/0/id", "/actions/1/title", "/actions/2/id", "/actions/2/options/0", "/actions/3/icon",
                "/actions/3/id", "/actions/3/text_input/button_title", "/actions/3/text_input/placeholder",
                "/actions/3/title", "/actions/4/colour", "/actions/4/icon", "/actions/5",
                "/extension/controls/0/type", "/extension/controls/1/type", "/extension/controls/2/does",
                "/extension/controls/2/value", "/extension/controls/3/does", "/extension/controls/3/maximum",
                "/extension/controls/3/sets", "/extension/controls/4/value", "/extension/default_content_hidden",
                "/extension/initial_content_size_ratio", "/extension/ratio", "/hidden_body", "/id", "/intents/0",
                "/options/0", "/options/1", "/profile", "/responses/forward/url", "/responses/handler/timeout",
                "/responses/handler/url", "/responses/rate", "/responses/record_text", "/responses/ttl",
                "/summary_format", "/titel",
            ])
    }

    @Test(arguments: [
        ("actions", #"{"id": "ID", "title": "A"}"#, CategoryLimits.actions),
        ("intents", #""ID""#, CategoryLimits.intents),
    ])
    func `lists have a limit`(field: String, element: String, limit: Int) {
        for count in [limit, limit + 1] {
            let elements = (0..<count).map { element.replacing("ID", with: "\($0)") }
            let json = "{\"\(field)\": [\(elements.joined(separator: ","))]}"
            #expect(pointers(json) == (count > limit ? ["/\(field)"] : []))
        }
        let control = #"{"type": "button", "title": "B", "does": "open"}"#
        let controls = Array(repeating: control, count: CategoryLimits.controls + 1).joined(separator: ",")
        #expect(pointers(#"{"extension": {"controls": [\#(controls)]}}"#) == ["/extension/controls"])
    }

    @Test func `texts are bounded in bytes and hold no control characters`() {
        let long = String(repeating: "é", count: CategoryLimits.text / 2)
        #expect(pointers(#"{"hidden_body": "\#(long)"}"#) == [])
        for text in [long + "x", #"a\nb"#, #"a\u0000b"#, #"a\u0085b"#] {
            #expect(pointers(#"{"hidden_body": "\#(text)"}"#) == ["/hidden_body"])
            #expect(pointers(#"{"actions": [{"id": "a", "title": "\#(text)"}]}"#) == ["/actions/0/title"])
        }
        #expect(pointers(#"{"intents": ["a\u001Bb"]}"#) == ["/intents/0"])
    }

    @Test(arguments: ["", "a b", "a/b", ".", "..", "ä", String(repeating: "a", count: 129)])
    func `a file says an id that fits into a path`(id: String) {
        #expect(pointers(#"{"id": "\#(id)"}"#, id: nil) == ["/id"])
        #expect(pointers("{}", id: nil) == ["/id"])
        #expect(pointers(#"{"id": "com.example_a~b-C.1"}"#, id: nil) == [])
    }

    @Test func `where responses go is looked at as a callback's URL is`() {
        func problem(_ url: String, of field: String) -> Problem? {
            do {
                _ = try read(#"{"responses": {"\#(field)": {"url": "\#(url)"}}}"#)
                return nil
            } catch {
                return error as? Problem
            }
        }
        for field in ["handler", "forward"] {
            #expect(problem("https://api.example.com/respond", of: field) == nil)
            for (url, code) in [
                ("http://127.0.0.1/", "blocked_address"), ("http://localhost/", "blocked_address"),
                ("https://api.example.com:8443/", "blocked_address"), ("ftp://api.example.com/", "invalid_source"),
            ] {
                let problem = problem(url, of: field)
                #expect(problem?.code == code, "\(url)")
                #expect(problem?.errors.map(\.pointer) == ["/responses/\(field)/url"], "\(url)")
            }
        }
    }

    @Test func `a file's problems are lines`() {
        #expect(throws: FileProblems.self) { try reader.category(file: Array("{".utf8)) }
        do throws(FileProblems) {
            _ = try reader.category(file: Array(#"{"id": "a", "x": 1, "y": 2}"#.utf8))
            Issue.record("it was taken")
        } catch {
            #expect(error.lines.map { $0.prefix(4) } == ["/x: ", "/y: "])
        }
    }
}
