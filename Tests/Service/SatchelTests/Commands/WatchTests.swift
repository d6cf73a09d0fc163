import Foundation
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct WatchTests {
    /// The lines so far, by path; a path that has two fails the test.
    private func lines(_ watch: RunningProgram) throws -> [String: [String: Any]] {
        var lines: [String: [String: Any]] = [:]
        for text in try watch.outputSoFar.split(separator: "\n", omittingEmptySubsequences: true) {
            guard let line = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
                let path = line["path"] as? String
            else { continue }
            #expect(lines[path] == nil, "\(path) came twice")
            lines[path] = line
        }
        return lines
    }

    private func wait(for count: Int, _ watch: RunningProgram) async throws -> [String: [String: Any]] {
        try await whenFound("\(count) lines") {
            let lines = try lines(watch)
            return lines.count >= count ? lines : nil
        }
    }

    @Test func `what is there and what comes later is prepared once, in new directories too, until it is stopped`()
        async throws
    {
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        let watch = try user.satchel.start([
            "watch", "in", "--output", "out", "--format", "jsonl", "--settle", "0.3", "--interval", "3600",
        ])
        #expect(try await wait(for: 1, watch)["a.jpg"]?["state"] as? String == "delivered")
        try user.sample("png/alpha.png", as: "in/new/deep/b.png")
        try user.file("in/note.txt", Data("a note\n".utf8))
        let lines = try await wait(for: 3, watch)
        #expect(lines["new/deep/b.png"]?["state"] as? String == "delivered")
        #expect(lines["note.txt"]?["state"] as? String == "skipped")
        // The same name with other bytes is news; moved into place it needs no wait for its writer.
        let other = try user.sample("jpeg/coffee.jpg", as: "beside.png")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: other.path)
        try FileManager.default.moveItem(at: other, to: user.home.url.appending(path: "in/new/c.png"))
        #expect(try await wait(for: 4, watch)["new/c.png"]?["state"] as? String == "delivered")
        watch.process.terminate()
        let result = try await watch.end()
        #expect(result.status == 0, "\(result.errorText)")
        #expect(result.errorText.contains("4 files: 3 delivered, 1 skipped"))
        let mirrored = try FileManager.default.subpathsOfDirectory(
            atPath: user.home.url.appending(path: "out").path(percentEncoded: false))
        #expect(mirrored.contains { $0.hasPrefix("new/deep/b") })
        // Nothing is done twice by who comes next.
        #expect(try user.batch("in").lines.allSatisfy { $0["state"] as? String != "delivered" })
    }

    @Test func `a file that grows slowly is taken once, and whole`() async throws {
        let user = try CommandLineUser()
        let bytes = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let url = try user.file("in/slow.jpg", Data())
        let watch = try user.satchel.start([
            "watch", "in", "--format", "jsonl", "--settle", "3", "--interval", "0.2",
        ])
        let handle = try FileHandle(forWritingTo: url)
        for start in stride(from: 0, to: bytes.count, by: bytes.count / 6 + 1) {
            try handle.write(contentsOf: bytes[start..<min(start + bytes.count / 6 + 1, bytes.count)])
            try await Task.sleep(for: .milliseconds(200))
        }
        try handle.close()
        let line = try #require(try await wait(for: 1, watch)["slow.jpg"])
        #expect(line["state"] as? String == "delivered" && line["fidelity"] as? String == "full")
        watch.process.interrupt()
        let result = try await watch.end()
        #expect(result.status == 0)
        #expect(try lines(watch).count == 1)
    }
}
