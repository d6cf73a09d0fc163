import Payloads
import TestSupport
import Testing

@testable import API

/// JSON as it is read from requests; how a text is read at all is tested where the reader is.
@Suite struct FieldReaderTests {
    private func problem(_ text: String, known: [String] = ["a"]) -> Problem? {
        let errors = ValidationErrors()
        do throws(Problem) {
            let reader = try FieldReader(body: text.utf8, known: known, errors)
            _ = reader.number("a", in: 0...9)
            try errors.check()
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        (#"{"a": 1,"#, "line 1, column 9"), ("{\"a\": 1,\n \"a\": 2}", "the key 'a' occurs twice (line 2, column 2)"),
        (#"{"a": "\ud800"}"#, "half a surrogate pair (line 1, column 7)"), ("\u{FEFF}{}", "byte order mark"),
        ("{} {}", "line 1, column 4"),
    ])
    func `a body that every reader doesn't see the same in is refused where it is so`(text: String, place: String) {
        let problem = problem(text)
        #expect(problem?.code == "invalid_json" && problem?.detail.contains(place) == true, "\(problem as Any)")
    }

    @Test func `depth and the number of members are bounded`() {
        func nested(_ depth: Int) -> String {
            "{\"a\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        func list(_ count: Int) -> String {
            "{\"a\":[" + repeatElement("0", count: count).joined(separator: ",") + "]}"
        }
        #expect(problem(nested(31))?.code == "invalid_request")
        #expect(problem(nested(32))?.code == "invalid_json")
        #expect(problem(nested(100_000))?.code == "invalid_json")
        #expect(problem(list(9999))?.code == "invalid_request")
        #expect(problem(list(10_000))?.code == "invalid_json")
    }

    @Test(arguments: [
        ("1e999", "between 0 and 9"), ("1e-999", nil), ("-0", nil), ("9.000", nil), ("\"1\"", "not a string"),
        ("true", "not a boolean"), ("{}", "not an object"), ("[]", "not an array"), ("null", nil),
    ])
    func `a number is one of its range, however it is written`(value: String, expected: String?) {
        let problem = problem(#"{"a": \#(value)}"#)
        #expect((problem == nil) == (expected == nil))
        if let expected { #expect(problem?.errors.first?.detail.contains(expected) == true, "\(problem as Any)") }
    }
}
