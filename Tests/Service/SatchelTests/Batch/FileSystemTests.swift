import Foundation
import TestSupport
import Testing

/// What the file systems beneath the store, the spool, the sources and the output can't do, or have no room for.
@Suite(.serialized) struct FileSystemTests {
    private static let photo = Repository.media.appending(path: "jpeg/coffee.jpg")

    /// Every file beneath a directory, hidden ones too, by its path there.
    private static func files(beneath directory: URL) throws -> [String: Data] {
        let manager = FileManager.default
        var found: [String: Data] = [:]
        for path in try manager.subpathsOfDirectory(atPath: directory.path(percentEncoded: false)) {
            let file = directory.appending(path: path)
            var isDirectory: ObjCBool = false
            _ = unsafe manager.fileExists(atPath: file.path(percentEncoded: false), isDirectory: &isDirectory)
            if !isDirectory.boolValue { found[path] = try Data(contentsOf: file) }
        }
        return found
    }

    /// A batch that keeps originals, moves sources and writes an output came out whole, and left nothing besides.
    private static func examine(_ lines: [[String: Any]], of user: borrowing CommandLineUser, source: Data) throws {
        let line = try #require(lines.first)
        #expect(line["state"] as? String == "delivered", "\(line)")
        let id = try #require(line["attachment_id"] as? String)
        #expect(try user.run("get", id, "--rendition", "original").output == source)
        let renditions = try #require(line["renditions"] as? [String: [String: Any]])
        let written = try files(beneath: user.home.url.appending(path: "out"))
        #expect(Set(written.keys) == Set(renditions.values.compactMap { $0["file"] as? String }))
        for rendition in renditions.values {
            let file = try #require(rendition["file"] as? String)
            #expect(written[file]?.count == rendition["bytes"] as? Int, "\(file)")
        }
        #expect(written["a.jpg.original.jpg"] == source)
        #expect(try files(beneath: user.home.url.appending(path: "in")).isEmpty)
        #expect(try files(beneath: user.store.appending(path: "staging")).isEmpty)
        let verified = try user.run("store", "verify")
        #expect(verified.status == 0 && !verified.outputText.contains("unused"), "\(verified.outputText)")
    }

    @Test(arguments: ["store", "in", "out"])
    func `originals are kept, sources moved and outputs written across two file systems`(apart: String) throws {
        let user = try CommandLineUser()
        let source = try Data(contentsOf: Self.photo)
        try MemoryDisk.mounted(at: user.home.url.appending(path: apart)) { _ in
            try user.file("in/a.jpg", source)
            let result = try user.batch("in", "--profile", "archive", "--move", "--output", "out")
            #expect(result.status == 0, "\(result.errors)")
            try Self.examine(result.lines, of: user, source: source)
        }
    }

    @Test func `what was fetched into a spool on a file system of its own is kept`() throws {
        let user = try CommandLineUser()
        let source = try Data(contentsOf: try user.sample("jpeg/coffee.jpg", as: "site/photo.jpg"))
        // The store is made first: a spool alone is none.
        #expect(try user.run("store", "gc", "--store", "none").status == 2)
        #expect(try user.run("add", "site/photo.jpg").status == 0)
        let server = try Program(Program.tool("python3").executable, in: user.home.url.appending(path: "site"))
            .start(["-u", "-m", "http.server", "--bind", "127.0.0.1", "0"])
        var port: String?
        let end = Date(timeIntervalSinceNow: 10)
        while port == nil, Date() < end {
            Thread.sleep(forTimeInterval: 0.05)
            port = try server.outputSoFar.firstMatch(of: /port (\d+)/).map { String($0.1) }
        }
        let url = "http://127.0.0.1:\(try #require(port))/photo.jpg"
        try MemoryDisk.mounted(at: user.store.appending(path: "spool")) { _ in
            let added = try user.run(
                "add", url, "--fetch-allow", "127.0.0.1", "--profile", "archive", "--format", "jsonl")
            let line = try #require(try JSONSerialization.jsonObject(with: added.output) as? [String: Any])
            let id = try #require(line["attachment_id"] as? String, "\(added.errorText)")
            #expect(try user.run("get", id, "--rendition", "original").output == source)
        }
    }

    @Test(arguments: ["copying", "unnamed", "links", "leases", "delegations", "copying,unnamed,links,leases"])
    func `a file system that can't copy, stage without a name, link, or tell what is open will do`(refused: String)
        throws
    {
        let user = try CommandLineUser()
        let source = try Data(contentsOf: Self.photo)
        try user.file("in/a.jpg", source)
        let arguments = ["batch", "in", "--profile", "archive", "--move", "--output", "out", "--format", "jsonl"]
        let result = try user.run(arguments, refusing: refused)
        #expect(result.status == 0, "\(result.errorText)")
        let line = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        try Self.examine([line], of: user, source: source)
    }

    @Test(arguments: [
        ["batch", "in"], ["add", "in/a.jpg"], ["key", "create"], ["serve", "--listen", "127.0.0.1:0"],
    ])
    func `a store that can't be written to is said in a sentence, with exit status 3`(command: [String]) throws {
        let user = try CommandLineUser()
        try user.file("in/a.jpg", Data(contentsOf: Self.photo))
        try MemoryDisk.mounted(at: user.home.url.appending(path: "disk")) { disk in
            let store = disk.url.appending(path: "store").path(percentEncoded: false)
            #expect(try user.run("add", "in/a.jpg", "--store", store).status == 0)
            try disk.remount("size=64m", readOnly: true)
            let result = try user.satchel.run(command + ["--store", store])
            #expect(result.status == 3)
            #expect(
                result.errorText.contains("can't be used as a store: Read-only file system."), "\(result.errorText)")
            #expect(result.errorText.split(separator: "\n").count == 1 && result.output.isEmpty, "\(result.errorText)")
        }
    }

    @Test(arguments: ["", "unnamed"])
    func `a store that is full before an original is in it keeps nothing of it`(refused: String) throws {
        let user = try CommandLineUser()
        // What follows the picture isn't decoded, but kept with it.
        let source = try Data(contentsOf: Self.photo) + Data(count: 12_000_000)
        try user.file("in/a.jpg", source)
        try MemoryDisk.mounted(at: user.home.url.appending(path: "disk"), options: "size=10m") { disk in
            let store = disk.url.appending(path: "store")
            let path = store.path(percentEncoded: false)
            let full = try user.run(
                ["batch", "in", "--profile", "archive", "--store", path], refusing: refused)
            #expect(full.status == 3)
            #expect(full.errorText.contains("disk is full. Free some space or inodes"), "\(full.errorText)")
            #expect(try Self.files(beneath: store.appending(path: "blobs")).isEmpty, "renditions were left behind")
            #expect(try Self.files(beneath: store.appending(path: "staging")).isEmpty)
            try disk.remount("size=64m")
            #expect(try user.run("batch", "in", "--profile", "archive", "--store", path).status == 0)
        }
    }
}
