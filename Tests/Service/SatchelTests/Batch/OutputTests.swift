import Foundation
import Glibc
import TestSupport
import Testing

/// What `--output` and `--move` can't do for one file is that file's line, and no other's.
@Suite(.serialized) struct OutputTests {
    private static let photo = Repository.media.appending(path: "jpeg/coffee.jpg")

    private static func line(of path: String, in lines: [[String: Any]]) throws -> [String: Any] {
        try #require(lines.first { $0["path"] as? String == path }, "\(path)")
    }

    private static func code(_ line: [String: Any]) -> String? {
        (line["error"] as? [String: Any])?["code"] as? String
    }

    /// The files of a line in the output, by role, as the report names them.
    private static func files(_ line: [String: Any]) throws -> [String: String] {
        let renditions = try #require(line["renditions"] as? [String: [String: Any]])
        return renditions.compactMapValues { $0["file"] as? String }
    }

    private static func size(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }

    @Test func `names that are too long are shortened, each to another one, and the report has them`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Self.photo)
        let names = [
            String(repeating: "n", count: 247) + ".jpg", String(repeating: "n", count: 246) + "m.jpg",
            String(repeating: "é", count: 125) + ".jpg", "a.jpg",
        ]
        for name in names { try user.file("in/deep/" + name, photo) }
        let first = try user.batch("in", "--output", "out")
        #expect(first.status == 0, "\(first.errors)")
        var written: Set<String> = []
        for name in names {
            let line = try Self.line(of: "deep/" + name, in: first.lines)
            let files = try Self.files(line)
            #expect(files.keys.sorted() == ["main", "thumbnail"])
            for (role, file) in files {
                #expect(file.hasSuffix(".\(role).jpg") && file.hasPrefix("deep/" + name.prefix(1)), "\(file)")
                #expect(file.split(separator: "/").allSatisfy { $0.utf8.count <= 255 })
                let bytes = (line["renditions"] as? [String: [String: Any]])?[role]?["bytes"] as? Int
                #expect(try Self.size(user.home.path + "/out/" + file) == bytes)
                written.insert(file)
            }
        }
        #expect(written.count == 2 * names.count)
        #expect(written.isSuperset(of: ["deep/a.jpg.main.jpg", "deep/a.jpg.thumbnail.jpg"]))
        let again = try user.batch("in", "--output", "out")
        #expect(Set(try again.lines.flatMap { try Self.files($0).values }) == written)
        let there = try FileManager.default.contentsOfDirectory(atPath: user.home.path + "/out/deep")
        #expect(there.count == written.count)
    }

    @Test func `an output that can't be written fails its own file, and is written by the same command later`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Self.photo)
        for name in ["a.jpg", "b.jpg"] { try user.file("in/" + name, photo) }
        // A directory is where the file would be.
        try user.file("out/a.jpg.main.jpg/mine", Data("mine".utf8))
        let first = try user.batch("in", "--output", "out", "--profile", "archive", "--move")
        #expect(first.status == 1)
        let failed = try Self.line(of: "a.jpg", in: first.lines)
        #expect(failed["state"] as? String == "failed" && Self.code(failed) == "output_failed", "\(failed)")
        #expect(try Self.files(failed).keys.sorted() == ["original", "thumbnail"])
        #expect(failed["attachment_id"] is String)
        #expect(
            first.errors.contains("'a.jpg.main.jpg' could not be written to the output directory: Is a directory"))
        #expect(try Self.line(of: "b.jpg", in: first.lines)["state"] as? String == "delivered")
        // What has no output yet isn't moved.
        #expect(try FileManager.default.contentsOfDirectory(atPath: user.home.path + "/in") == ["a.jpg"])
        try FileManager.default.removeItem(atPath: user.home.path + "/out/a.jpg.main.jpg")
        let second = try user.batch("in", "--output", "out", "--profile", "archive", "--move")
        #expect(second.status == 0, "\(second.errors)")
        #expect(try Self.files(Self.line(of: "a.jpg", in: second.lines)).count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: user.home.path + "/in").isEmpty)
    }

    @Test func `a source that can't be removed fails its own file, whose original is kept`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Self.photo)
        try user.file("in/b.jpg", photo)
        try MemoryDisk.mounted(at: user.home.url.appending(path: "card")) { disk in
            try user.file("card/a.jpg", photo)
            try disk.remount("size=64m", readOnly: true)
            let first = try user.batch("card", "in", "--profile", "archive", "--move")
            #expect(first.status == 1)
            let failed = try Self.line(of: "card/a.jpg", in: first.lines)
            #expect(Self.code(failed) == "removal_failed", "\(failed)")
            #expect(first.errors.contains("the source could not be deleted"), "\(first.errors)")
            let id = try #require(failed["attachment_id"] as? String)
            #expect(try user.run("get", id, "--rendition", "original").output == photo)
            #expect(try Self.line(of: "in/b.jpg", in: first.lines)["state"] as? String == "delivered")
            #expect(try FileManager.default.contentsOfDirectory(atPath: user.home.path + "/in").isEmpty)
            try disk.remount("size=64m")
            #expect(try user.batch("card", "--profile", "archive", "--move").status == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path(percentEncoded: false)).isEmpty)
        }
    }

    @Test(arguments: ["", "unnamed"])
    func `an output that is full holds whole files, and the others say so`(refused: String) throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Self.photo)
        for number in 0..<6 { try user.file("in/\(number).jpg", photo + Data("\(number)".utf8)) }
        try MemoryDisk.mounted(at: user.home.url.appending(path: "out"), options: "size=200k") { disk in
            let command = ["batch", "in", "--output", "out", "--format", "jsonl"]
            let full = try user.run(command, refusing: refused)
            #expect(full.status == 1)
            let lines = try full.output.split(separator: UInt8(ascii: "\n")).map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            }
            #expect(lines.count == 6)
            let failed = lines.filter { Self.code($0) == "output_failed" }
            #expect((1..<6).contains(failed.count), "\(failed.count)")
            #expect(failed.count + lines.count { $0["state"] as? String == "delivered" } == 6)
            #expect(full.errorText.contains("No space left on device"), "\(full.errorText)")
            var named: Set<String> = []
            for line in lines {
                for (role, file) in try Self.files(line) {
                    let bytes = (line["renditions"] as? [String: [String: Any]])?[role]?["bytes"] as? Int
                    #expect(try Self.size(user.home.path + "/out/" + file) == bytes)
                    named.insert(file)
                }
            }
            let there = try FileManager.default.contentsOfDirectory(atPath: disk.url.path(percentEncoded: false))
            #expect(Set(there) == named)
            try disk.remount("size=64m")
            #expect(try user.satchel.run(command).status == 0)
        }
    }
}
