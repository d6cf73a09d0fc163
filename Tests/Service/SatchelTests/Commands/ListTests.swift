import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct ListTests {
    private static let photo = Repository.media.appending(path: "jpeg/coffee.jpg")

    /// The paths of what is listed.
    private static func paths(_ user: borrowing CommandLineUser, _ arguments: String...) throws -> [String] {
        let result = try user.satchel.run(["list", "--format", "jsonl"] + arguments)
        return try result.output.split(separator: UInt8(ascii: "\n")).map { line in
            let record = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            return try #require((record["source"] as? [String: Any])?["path"] as? String)
        }
    }

    @Test func `attachments are listed by their paths, without what was passed over`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Self.photo)
        for name in ["a.jpg", "sub/a.jpg", "sub/deep/\u{202E}b.jpg"] { try user.file("in/" + name, photo) }
        try user.file("in/sub/cut.jpg", photo.prefix(9_000))
        try user.file("in/sub/note.txt", Data("note".utf8))
        try user.file("in/sub/empty.jpg", Data())
        #expect(try user.batch("in").status == 1)
        #expect(try user.run("add", "in/sub/a.jpg").status == 0)
        let batch = ["a.jpg", "sub/a.jpg", "sub/cut.jpg", "sub/deep/\u{202E}b.jpg"]
        #expect(try Self.paths(user).sorted() == (batch + ["in/sub/a.jpg"]).sorted())
        #expect(try Self.paths(user, "--state", "failed") == ["sub/cut.jpg"])
        let table = try user.run("list").outputText
        #expect(table.split(separator: "\n").first?.hasSuffix("PATH") == true, "\(table)")
        #expect(table.contains("  sub/a.jpg\n") && table.contains("  in/sub/a.jpg\n"), "\(table)")
        #expect(!table.contains("note.txt") && !table.contains("\u{202E}"), "\(table)")
        let csv = try user.run("list", "--format", "csv").outputText
        #expect(csv.hasPrefix("attachment_id,state,kind,result,bytes,finished_at,path\n"), "\(csv)")
    }

    @Test func `a list is narrowed by path, and says when there is more`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Self.photo)
        for name in ["a.jpg", "b.jpg", "2024/a.jpg", "2024/c.jpg"] { try user.file("in/" + name, photo) }
        #expect(try user.batch("in").status == 0)
        #expect(try Self.paths(user, "--path", "2024/*").sorted() == ["2024/a.jpg", "2024/c.jpg"])
        #expect(
            try Self.paths(user, "--path", "*/a.jpg", "--path", "b.*").sorted() == ["2024/a.jpg", "b.jpg"])
        #expect(try Self.paths(user, "--path", "2024/*", "--limit", "1").count == 1)
        for (arguments, isMore) in [
            (["--path", "2024/*", "--limit", "1"], true), (["--path", "2024/*", "--limit", "2"], false),
            (["--limit", "3"], true), (["--limit", "4"], false),
        ] {
            let result = try user.satchel.run(["list"] + arguments)
            #expect(result.errorText.contains("There are more") == isMore, "\(arguments): \(result.errorText)")
        }
        let nothing = try user.run("list", "--path", "2023/*")
        #expect(nothing.output.isEmpty && nothing.errorText.contains("No attachments found"), "\(nothing.errorText)")
    }
}
