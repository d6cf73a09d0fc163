import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct DamagedStoreTests {
    /// Commands, each with its exit status over a damaged database.
    private static let commands: [(arguments: [String], status: Int32)] = [
        (["store", "verify"], 1), (["doctor"], 1), (["store", "backup", "backup"], 3), (["list"], 3), (["jobs"], 3),
        (["add", "alpha.png"], 3), (["key", "list"], 3), (["store", "gc"], 3), (["failures"], 3),
        (["rm", "none"], 3), (["lease", "none"], 3), (["batch", "in"], 3), (["retry", "none"], 3),
    ]

    @Test func `each command over a damaged database says so, and advises no retry`() throws {
        let user = try CommandLineUser()
        try user.sample("png/alpha.png", as: "alpha.png")
        try user.sample("png/alpha.png", as: "in/alpha.png")
        #expect(try user.run("add", "alpha.png").status == 0)
        #expect(try user.run("store", "backup", "backup").status == 0)
        let database = user.store.appending(path: "records.sqlite")
        let whole = try Data(contentsOf: database)
        var damaged = whole
        // All pages but the first, which has the beginning of the schema.
        for index in stride(from: 4096, to: damaged.count, by: 1) {
            damaged[index] = UInt8(truncatingIfNeeded: index &* 31)
        }
        for (arguments, status) in Self.commands {
            try damaged.write(to: database)
            let result = try user.satchel.run(arguments)
            let text = result.outputText + result.errorText
            #expect(result.status == status, "\(arguments): \(text)")
            #expect(text.contains("damaged") && !text.lowercased().contains("try again"), "\(arguments): \(text)")
        }
        let backup = user.home.url.appending(path: "backup/records.sqlite").path(percentEncoded: false)
        let judged = try Program.tool("sqlite3").run([backup, "PRAGMA integrity_check"])
        #expect(judged.outputText == "ok\n")
        try damaged.write(to: URL(filePath: backup))
        let restored = try user.run("store", "restore", "backup", "--store", "restored")
        #expect(restored.status == 3 && restored.errorText.contains("damaged"), "\(restored.errorText)")
        try whole.write(to: database)
        #expect(try user.run("store", "verify").status == 0)
    }

    @Test func `verify names the paths that need a missing file, and deletes their attachments`() throws {
        let user = try CommandLineUser()
        try user.sample("png/alpha.png", as: "in/alpha.png")
        #expect(try user.run("batch", "in").status == 0)
        let blobs = user.store.appending(path: "blobs")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: blobs.path(percentEncoded: false))
        let blob = try #require(paths.first { $0.count > 3 })
        try FileManager.default.removeItem(at: blobs.appending(path: blob))
        let found = try user.run("store", "verify")
        #expect(found.status == 1 && found.outputText.contains("alpha.png"), "\(found.outputText)")
        #expect(found.outputText.contains("missing  \(blob.dropFirst(3))") && found.outputText.contains("rendition "))
        let removed = try user.run("store", "verify", "--remove-damaged")
        #expect(removed.status == 0 && removed.outputText.contains("deleted  "), "\(removed.outputText)")
        #expect(try user.run("audit", "--tenant", "local").outputText.contains("deleted"))
        #expect(try user.run("list").outputText.isEmpty)
        #expect(try user.run("batch", "in").status == 0)
        #expect(try user.run("store", "verify").outputText.contains("all are intact"))
    }
}
