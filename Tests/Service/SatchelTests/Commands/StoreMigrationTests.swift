import Foundation
import TestSupport
import Testing

@Suite struct StoreMigrationTests {
    private static let commands = [["list"], ["store", "migrate"], ["store", "migrate", "--dry-run"]]

    @Test func `a dry run says what schema a store has, and what an upgrade would do`() throws {
        let user = try CommandLineUser()
        let missing = try user.run("store", "migrate", "--dry-run")
        #expect(missing.status == 2 && missing.errorText.contains("There is no Satchel store"), "\(missing.errorText)")
        #expect(!FileManager.default.fileExists(atPath: user.store.path))
        let picture = try user.sample("png/alpha.png", as: "alpha.png")
        #expect(try user.run("add", picture.path, "--codecs", "1").status == 0)
        let dry = try user.run("store", "migrate", "--dry-run")
        #expect(dry.status == 0 && dry.outputText.hasSuffix("has schema 1.\nIt is up to date.\n"), "\(dry.outputText)")
        let migrated = try user.run("store", "migrate")
        #expect(migrated.status == 0 && migrated.outputText.hasSuffix("has schema 1.\n"), "\(migrated.outputText)")
    }

    @Test func `a store that a development version made is refused`() throws {
        let user = try CommandLineUser()
        let picture = try user.sample("png/alpha.png", as: "alpha.png")
        #expect(try user.run("add", picture.path, "--codecs", "1").status == 0)
        let records = user.store.appending(path: "records.sqlite").path(percentEncoded: false)
        #expect(try Program.tool("sqlite3").run([records, "PRAGMA application_id = 1398895698"]).status == 0)
        for command in Self.commands {
            let result = try user.satchel.run(command)
            #expect(result.status == 2, "\(command)")
            #expect(
                result.errorText.contains(
                    "This store was made by a development version of Satchel before 0.1.0. Start with an empty store and run your batch again."
                ), "\(result.errorText)")
        }
    }
}
