import SatchelCore
import Foundation
import TestSupport
import Testing

@Suite struct CategoryCommandTests {
    @Test func `a file is put, listed, shown, taken into an app and removed`() throws {
        let user = try CommandLineUser()
        let sample = Category.sample("event-invite")
        try user.file("invite.json", JSON.encode(sample))
        #expect(try user.run("category", "put", "invite.json").outputText == "event-invite was added\n")
        #expect(try user.run("category", "put", "invite.json").outputText == "event-invite was replaced\n")
        #expect(
            try user.run("category", "list").outputText == """
                CATEGORY      ACTIONS       EXTENSION  RESPONSES        PROFILE
                event-invite  rotate,reply  yes        handler,forward  notification

                """)
        let shown = try user.run("category", "show", "event-invite")
        #expect(try JSON.decode(Category.self, from: shown.output) == sample)
        for form in CategoryExport.allCases {
            let text = try form.text([sample])
            #expect(try user.run("category", "show", "event-invite", "--as", form.rawValue).outputText == text)
            #expect(try user.run("category", "list", "--as", form.rawValue).outputText == text)
        }
        // Another tenant's are others.
        #expect(try user.run("category", "show", "event-invite", "--tenant", "default").status == 4)
        #expect(try user.run("category", "rm", "event-invite").status == 0)
        for command in ["show", "rm"] {
            let result = try user.run("category", command, "event-invite")
            #expect(result.status == 4 && result.errorText.contains("there is no category 'event-invite'"))
        }
    }

    @Test func `every problem of a file is a line, and nothing is put`() throws {
        let user = try CommandLineUser()
        try user.file(
            "bad.json",
            Data(
                #"""
                {"id": "a b", "titel": "x", "profile": "none", "actions": [{"id": "dismiss", "title": "\u202Ex"}],
                 "responses": {"handler": {"url": "http://127.0.0.1:8090/"}}}
                """#.utf8))
        let bad = try user.run("category", "put", "bad.json")
        #expect(bad.status == 2 && bad.output.isEmpty)
        let lines = bad.errorText.split(separator: "\n").map(String.init)
        #expect(lines.first == "satchel: bad.json has 5 problems:")
        #expect(
            lines.dropFirst().map { String($0.prefix { $0 != ":" }) }.sorted()
                == ["  /actions/0/id", "  /id", "  /profile", "  /responses/handler/url", "  /titel"])
        #expect(try user.run("category", "put", "missing.json").errorText.contains("can't be read"))
        #expect(!FileManager.default.fileExists(atPath: user.store.path(percentEncoded: false)))
    }
}
