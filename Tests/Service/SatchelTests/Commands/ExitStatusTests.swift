@testable import satchel
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ExitStatusTests {
    /// A command, and how it ends.
    struct Case: CustomTestStringConvertible, Sendable {
        var status: satchel.ExitStatus
        var command: [String]
        var testDescription: String { command.joined(separator: " ") }

        init(_ status: satchel.ExitStatus, _ command: String) {
            self.status = status
            self.command = command.split(separator: " ").map(String.init)
        }
    }

    private static let unreachable = "--store postgres://user@127.0.0.1:1/none"

    static let cases = [
        Case(.done, "batch photos"), Case(.done, "list"), Case(.done, "failures"), Case(.done, "store verify"),
        Case(.done, "inspect photos/a.jpg"),
        Case(.failed, "inspect note.txt"), Case(.failed, "add note.txt"), Case(.failed, "batch damaged"),
        Case(.failed, "config check wrong.yaml"), Case(.failed, "profile check wrong.yaml"),
        Case(.usage, "list --bogus"), Case(.usage, "bogus"), Case(.usage, "batch nowhere"),
        Case(.usage, "add nowhere.jpg"),
        Case(.usage, "batch photos --profile bogus"), Case(.usage, "serve --set bogus=1"),
        Case(.usage, "list --store nowhere"), Case(.usage, "doctor --allow-unsandboxed --require-sandbox full"),
        Case(.unavailable, "list \(unreachable)"), Case(.unavailable, "batch photos \(unreachable)"),
        Case(.unavailable, "serve \(unreachable)"), Case(.unavailable, "health http://127.0.0.1:1"),
        Case(.unavailable, "serve --listen 192.0.2.1:8080 --public-url https://media.example.com"),
        Case(.notFound, "show none"), Case(.notFound, "get none -o out"), Case(.notFound, "rm none"),
        Case(.notFound, "cancel none"), Case(.notFound, "retry none"), Case(.notFound, "lease none"),
        Case(.notFound, "revoke none"), Case(.notFound, "key revoke none"), Case(.notFound, "category show none"),
        Case(.notFound, "notification show none"),
    ]

    @Test(.inCheck("runs every command"), arguments: cases)
    func `each command ends with the status that is documented`(what: Case) throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "photos/a.jpg")
        try user.file("note.txt", Data("note".utf8))
        try user.file("wrong.yaml", Data("bogus: [".utf8))
        try user.file(
            "damaged/a.jpg", Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg")).prefix(2000))
        try #require(try user.run("add", "photos/a.jpg").status == 0)
        try #require(try user.run("key", "create", "--name", "other").status == 0)
        var satchel = user.satchel
        satchel.environment["SATCHEL_BLOBS"] = what.command.contains { $0.hasPrefix("postgres:") } ? "s3://none/x" : ""
        satchel.environment["SATCHEL_S3_ENDPOINT"] = "http://127.0.0.1:1"
        satchel.environment["AWS_ACCESS_KEY_ID"] = "a"
        satchel.environment["AWS_SECRET_ACCESS_KEY"] = "b"
        let result = try satchel.run(what.command)
        #expect(result.status == what.status.rawValue, "\(result.errorText)")
        if ![.done, .failed].contains(what.status) { #expect(!result.errorText.isEmpty) }
    }

    @Test func `failures of an earlier run are told, and fail the next only where that is wanted`() throws {
        let user = try CommandLineUser()
        try user.file("in/a.jpg", Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg")).prefix(2000))
        #expect(try user.batch("in").status == 1)
        let again = try user.batch("in")
        #expect(again.status == 0)
        #expect(again.errors.contains("1 file failed in an earlier run"), "\(again.errors)")
        #expect(try user.batch("in", "--fail-on-known").status == 1)
        #expect(try user.batch("in", "--retry-failed").status == 1)
    }

    @Test func `a page of the manual lists all statuses`() throws {
        let user = try CommandLineUser()
        let manual = Repository.root.appending(path: "Packaging/man.py").path(percentEncoded: false)
        let made = try Program.tool("python3").run(
            [manual, user.satchel.executable.path(percentEncoded: false), user.home.path + "/man"])
        #expect(made.status == 0, "\(made.errorText)")
        let page = try String(contentsOfFile: user.home.path + "/man/satchel-batch.1", encoding: .utf8)
        let section = try #require(page.firstMatch(of: /(?s)\.Sh EXIT STATUS(.*?)\.Sh/)).1
        for status in satchel.ExitStatus.allCases { #expect(section.contains(".It \(status.rawValue)\n")) }
    }
}
