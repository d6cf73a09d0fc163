import SatchelCore
import Foundation
import TestSupport
import Testing

@Suite(.serialized) struct BatchTests {
    @Test func `a second run does nothing twice, and a changed file is new work`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        try user.sample("png/alpha.png", as: "in/deep/er/b.png")
        let first = try user.batch("in")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.lines.map { $0["state"] as? String } == ["delivered", "delivered"])
        #expect(Set(first.lines.compactMap { $0["path"] as? String }) == ["a.jpg", "deep/er/b.png"])

        let second = try user.batch("in")
        #expect(second.status == 0)
        #expect(second.lines.allSatisfy { $0["state"] as? String == "unchanged" })
        #expect(
            Set(second.lines.compactMap { $0["attachment_id"] as? String })
                == Set(first.lines.compactMap { $0["attachment_id"] as? String }))
        #expect(second.errors.contains("Nothing to do"))

        try user.sample("jpeg/coffee.jpg", as: "in/deep/er/b.png")
        let third = try user.batch("in")
        #expect(third.lines.compactMap { $0["state"] as? String }.sorted() == ["delivered", "unchanged"])
        let list = try user.run("list", "--format", "jsonl").outputText
        #expect(list.split(separator: "\n").count == 3)
    }

    @Test func `another profile is other work`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        #expect(try user.batch("in").status == 0)
        let other = try user.batch("in", "--profile", "avatar")
        #expect(other.lines.first?["state"] as? String == "delivered")
        let main = try #require((other.lines.first?["renditions"] as? [String: [String: Any]])?["main"])
        #expect(main["width"] as? Int == main["height"] as? Int)
    }

    @Test func `what is no media is skipped, what is damaged fails, and the rest is delivered`() throws {
        let user = try CommandLineUser()
        let photo = try user.sample("jpeg/coffee.jpg", as: "in/good.jpg")
        try user.file("in/cut.jpg", Data(contentsOf: photo).prefix(9_000))
        try user.file("in/note.txt", Data("just a note\n".utf8))
        try user.file("in/empty.jpg", Data())
        try FileManager.default.createSymbolicLink(
            at: user.home.url.appending(path: "in/link.jpg"), withDestinationURL: photo)
        let result = try user.batch("in")
        #expect(result.status == 1)
        let states = Dictionary(
            uniqueKeysWithValues: result.lines.map { ($0["path"] as? String ?? "", $0["state"] as? String ?? "") })
        #expect(
            states == [
                "good.jpg": "delivered", "cut.jpg": "failed", "note.txt": "skipped", "empty.jpg": "skipped",
                "link.jpg": "skipped",
            ])
        #expect(result.errors.contains("cut.jpg: corrupt."))
        // Old failures are shown again, and tried again when asked.
        let again = try user.batch("in")
        #expect(again.status == 0 && again.errors.contains("--retry-failed"))
        let retried = try user.batch("in", "--retry-failed")
        #expect(retried.lines.first { $0["path"] as? String == "cut.jpg" }?["state"] as? String == "failed")
        #expect(retried.lines.first { $0["path"] as? String == "cut.jpg" }?["attempt"] as? Int ?? 0 >= 1)
        let verified = try user.run("store", "verify")
        #expect(verified.status == 0, "\(verified.errorText)")
        #expect(!verified.outputText.contains("unused"), "a failed source left a file behind")
    }

    @Test func `odd names are data`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let names = ["-rf.jpg", "a\nb.jpg", "…\u{202E}gpj.exe.jpg", " .jpg", "'$(touch x)'.jpg"]
        for name in names { try user.file("in/" + name, photo) }
        let bytes = user.home.path + "/in/"
        let path = Array(bytes.utf8) + [0xFF, 0xFE] + Array(".jpg".utf8) + [0]
        let opened = unsafe path.withUnsafeBytes {
            unsafe open($0.assumingMemoryBound(to: CChar.self).baseAddress!, O_CREAT | O_WRONLY, 0o644)
        }
        try FileHandle(fileDescriptor: opened, closeOnDealloc: true).write(contentsOf: photo)
        let result = try user.batch("in", "--output", "out")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.lines.count == names.count + 1)
        #expect(Set(result.lines.compactMap { $0["path"] as? String }) == Set(names))
        #expect(
            result.lines.contains {
                $0["path_base64"] as? String == Data([0xFF, 0xFE, 0x2E, 0x6A, 0x70, 0x67]).base64EncodedString()
            })
        let table = try user.run("batch", "in", "--all").outputText
        #expect(!table.unicodeScalars.contains("\u{202E}"))
        #expect(table.split(separator: "\n").count == names.count + 2, "a line feed in a name must not make a line")
    }

    @Test func `a filter, a shard and a list choose the files`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for name in ["a.jpg", "b.jpg", "sub/c.jpg", "sub/d.jpeg"] { try user.file("in/" + name, photo) }
        func paths(_ arguments: [String]) throws -> Set<String> {
            let result = try user.satchel.run(["batch", "--format", "jsonl"] + arguments)
            return Set(
                result.outputText.split(separator: "\n").compactMap {
                    (try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])?["path"] as? String
                })
        }
        #expect(try paths(["in", "--include", "*.jpeg"]) == ["sub/d.jpeg"])
        #expect(try paths(["in", "--exclude", "sub"]) == ["a.jpg", "b.jpg"])
        let halves = try [paths(["in", "--shard", "1/2"]), paths(["in", "--shard", "2/2"])]
        #expect(halves[0].isDisjoint(with: halves[1]) && halves[0].union(halves[1]).count == 4)
        let listed = try user.satchel.run(
            ["batch", "--format", "jsonl", "--files-from", "-", "--null"], input: Data("in/a.jpg\0in/sub/c.jpg\0".utf8))
        #expect(listed.status == 0 && listed.outputText.split(separator: "\n").count == 2, "\(listed.errorText)")
    }

    @Test func `the output mirrors the tree, never over a source`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/2024/a.jpg")
        let result = try user.batch("in", "--output", "out")
        #expect(result.status == 0, "\(result.errors)")
        let renditions = try #require(result.lines.first?["renditions"] as? [String: [String: Any]])
        for (role, rendition) in renditions {
            let file = try #require(rendition["file"] as? String)
            #expect(file == "2024/a.jpg.\(role).jpg")
            let size =
                try FileManager.default.attributesOfItem(
                    atPath: user.home.path + "/out/" + file)[.size] as? Int
            #expect(size == rendition["bytes"] as? Int)
        }
        // What is missing is put back by a run that has nothing else to do.
        try FileManager.default.removeItem(atPath: user.home.path + "/out/2024/a.jpg.main.jpg")
        #expect(try user.batch("in", "--output", "out").status == 0)
        #expect(FileManager.default.fileExists(atPath: user.home.path + "/out/2024/a.jpg.main.jpg"))
        for output in ["in", "."] {
            let refused = try user.batch("in", "--output", output)
            #expect(refused.status == 2 && refused.errors.contains("--output"), "\(refused.errors)")
        }
        // Beneath the source it is not taken for a source.
        let inside = try user.batch("in", "--output", "in/out")
        #expect(inside.lines.count == 1)
        #expect(try user.batch("in", "--output", "in/out").lines.count == 1)
    }

    @Test func `files of the same name from several places don't share an output`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for name in ["a/x.jpg", "b/x.jpg", "deep/c/x.jpg"] { try user.file(name, photo) }
        let roots = try user.batch("a", "b", "--output", "out")
        #expect(Set(roots.lines.compactMap { $0["path"] as? String }) == ["a/x.jpg", "b/x.jpg"])
        try user.file("list", Data("deep/c/x.jpg\na/../b/x.jpg\n".utf8))
        let listed = try user.batch("--files-from", "list", "--output", "out")
        #expect(listed.status == 0, "\(listed.errors)")
        for file in ["a/x.jpg", "b/x.jpg", "deep/c/x.jpg", "a/__/b/x.jpg"] {
            #expect(FileManager.default.fileExists(atPath: user.home.path + "/out/\(file).main.jpg"), "\(file)")
        }
    }

    @Test func `sources are moved only where the original is kept`() throws {
        let user = try CommandLineUser()
        let photo = try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        let bytes = try Data(contentsOf: photo)
        try user.file("in/broken.jpg", bytes.prefix(9_000))
        #expect(try user.batch("in", "--move").status == 2)
        #expect(FileManager.default.fileExists(atPath: photo.path))
        let result = try user.batch("in", "--move", "--profile", "archive")
        #expect(result.status == 1, "\(result.errors)")
        #expect(!FileManager.default.fileExists(atPath: photo.path))
        #expect(FileManager.default.fileExists(atPath: user.home.path + "/in/broken.jpg"))
        let delivered = try #require(result.lines.first { $0["state"] as? String == "delivered" })
        let id = try #require(delivered["attachment_id"] as? String)
        #expect(try user.run("get", id, "--rendition", "original").output == bytes)
    }

    @Test func `a dry run looks and leaves nothing`() throws {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        try user.file("in/note.txt", Data("note".utf8))
        let result = try user.run("batch", "in", "--dry-run")
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.outputText.contains("image") && result.outputText.contains("unrecognized_type"))
        #expect(result.errorText.contains("Estimated"))
        #expect(!FileManager.default.fileExists(atPath: user.store.path))
    }

    @Test func `a run stops at its number of failures, and the same command carries on`() throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 0..<40 { try user.file("in/\(number).jpg", photo.prefix(2_000 + number)) }
        let result = try user.batch("in", "--max-failures", "3")
        #expect(result.status == 1 && result.errors.contains("--max-failures"), "\(result.errors)")
        #expect(result.lines.count < 40)
        let rest = try user.batch("in")
        #expect(rest.lines.count == 40)
        #expect(rest.lines.contains { $0["state"] as? String == "failed" })
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `what was interrupted carries on, and nothing is done twice`(signal: Int32) throws {
        let user = try CommandLineUser()
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        for number in 0..<60 { try user.file("in/\(number).jpg", photo + Data("\(number)".utf8)) }
        let running = try user.satchel.start(["batch", "in", "--format", "jsonl"])
        let end = Date(timeIntervalSinceNow: 60)
        func finished() throws -> Int {
            try user.run("list", "--state", "delivered", "--limit", "0", "--format", "jsonl").outputText
                .split(separator: "\n").count
        }
        while Date() < end, (try? finished()) ?? 0 < 5 { Thread.sleep(forTimeInterval: 0.05) }
        kill(running.process.processIdentifier, signal)
        let result = try running.wait()
        #expect(signal == SIGKILL ? result.signal == SIGKILL : result.status == 130, "\(result.errorText)")
        #expect(signal == SIGKILL || result.errorText.contains(" delivered"), "no summary: \(result.errorText)")
        let before = try finished()
        #expect(before >= 5 && before < 60, "the signal came too late to interrupt anything")
        let start = Date()
        let rest = try user.batch("in")
        #expect(rest.status == 0, "\(rest.errors)")
        #expect(Date().timeIntervalSince(start) < 20, "a dead run's claims were waited for")
        #expect(rest.lines.count == 60)
        #expect(rest.lines.count { $0["state"] as? String == "unchanged" } == before)
        #expect(try finished() == 60)
        #expect(try user.run("store", "gc").status == 0)
        let verified = try user.run("store", "verify").outputText
        #expect(!verified.contains("missing") && !verified.contains("unused"), "\(verified)")
    }

    @Test func `a file that took too long is tried again by the next run`() throws {
        let user = try CommandLineUser()
        try user.sample("mp4/film.mp4", as: "in/film.mp4")
        let short = try user.batch("in", "--timeout", "0.01")
        #expect((short.lines.first?["error"] as? [String: Any])?["code"] as? String == "deadline_exceeded")
        let long = try user.batch("in")
        #expect(long.status == 0 && long.lines.first?["state"] as? String == "delivered", "\(long.errors)")
    }

    @Test func `skipped files are neither jobs nor failures, and what was added is`() throws {
        let user = try CommandLineUser()
        try user.file("in/note.txt", Data("note".utf8))
        try user.file("in/empty.jpg", Data())
        #expect(try user.batch("in").status == 0)
        #expect(try user.run("jobs").outputText.split(separator: "\n").count <= 1)
        #expect(try user.run("failures").errorText.contains("No failures found."))
        #expect(try user.run("add", "in/note.txt").status == 1)
        let failures = try user.run("failures", "--format", "jsonl").outputText
        #expect(failures.contains("unrecognized_type") && failures.contains("\"count\":1"), "\(failures)")
        #expect(try user.run("jobs", "--format", "jsonl").outputText.split(separator: "\n").count == 1)
    }

    @Test func `a dry run of many files examines a sample`() throws {
        let user = try CommandLineUser()
        let first = try user.sample("jpeg/pixel.jpg", as: "in/0.jpg")
        for number in 1..<1_000 {
            try FileManager.default.linkItem(at: first, to: user.home.url.appending(path: "in/\(number).jpg"))
        }
        let result = try user.run("batch", "in", "--dry-run")
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.errorText.contains("1000 files (285 kB) to prepare, 0 unchanged."), "\(result.errorText)")
        #expect(result.errorText.contains("Examined 200 of 1000 files"), "\(result.errorText)")
        #expect(result.outputText.contains(#/image +~1000 /#), "\(result.outputText)")
    }
}
