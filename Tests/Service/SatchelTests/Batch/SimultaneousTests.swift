import Foundation
import Glibc
import TestSupport
import Testing

/// Two batches over the same files and with the same store, at the same time.
@Suite(.serialized) struct SimultaneousTests {
    private static let count = 40

    /// Files of which no two are the same.
    private static func makeFiles(of user: borrowing CommandLineUser) throws -> Set<String> {
        let photo = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        let names = (0..<count).map { "\($0).jpg" }
        for name in names { try user.file("in/" + name, photo + Data(name.utf8)) }
        return Set(names)
    }

    /// The lines of a batch by path.
    private static func lines(_ result: ProgramResult) throws -> [String: [String: Any]] {
        var lines: [String: [String: Any]] = [:]
        for line in result.output.split(separator: UInt8(ascii: "\n")) {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
            let path = try #require(object["path"] as? String)
            #expect(lines[path] == nil, "two lines for \(path)")
            lines[path] = object
        }
        return lines
    }

    @Test func `each reports every file, which one of them has done`() throws {
        let user = try CommandLineUser()
        let names = try Self.makeFiles(of: user)
        let command = ["batch", "in", "--profile", "archive", "--move", "--output", "out", "--format", "jsonl"]
        let running = try [user.satchel.start(command), user.satchel.start(command)]
        let results = try running.map { try $0.wait(atMost: 60) }
        let lines = try results.map { try Self.lines($0) }
        for (result, lines) in zip(results, lines) {
            #expect(result.status == 0, "\(result.errorText)")
            #expect(Set(lines.keys) == names)
            #expect(lines.values.allSatisfy { ["delivered", "unchanged"].contains($0["state"] as? String) })
        }
        for name in names {
            let ids = Set(lines.compactMap { $0[name]?["attachment_id"] as? String })
            #expect(ids.count == 1, "\(name) was done twice")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: user.home.path + "/in").isEmpty)
        let listed = try user.run("list", "--limit", "0", "--format", "csv").outputText
        #expect(listed.split(separator: "\n").count == Self.count + 1)
        let verified = try user.run("store", "verify")
        #expect(verified.status == 0 && !verified.outputText.contains("unused"), "\(verified.outputText)")
    }

    @Test func `what a batch that is killed leaves is done by the one that waited for it`() throws {
        let user = try CommandLineUser()
        let names = try Self.makeFiles(of: user)
        let command = ["batch", "in", "--format", "jsonl"]
        let first = try user.satchel.start(command)
        func wait(_ what: String, until condition: () throws -> Bool) throws {
            let end = Date(timeIntervalSinceNow: 30)
            while try !condition() {
                try #require(Date() < end, "\(what)")
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
        try wait("the first batch has begun") { try !first.outputSoFar.isEmpty }
        let second = try user.satchel.start(command)
        // It has opened the store when it holds a lock of its own there.
        let workers = user.store.appending(path: "workers").path(percentEncoded: false)
        try wait("the second batch has begun") {
            try FileManager.default.contentsOfDirectory(atPath: workers).count > 2 || !second.process.isRunning
        }
        kill(first.process.processIdentifier, SIGKILL)
        _ = try first.wait(atMost: 10)
        let result = try second.wait(atMost: 60)
        #expect(result.status == 0, "\(result.errorText)")
        #expect(Set(try Self.lines(result).keys) == names)
        #expect(try user.batch("in").lines.allSatisfy { $0["state"] as? String == "unchanged" })
    }
}
