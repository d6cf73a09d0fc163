import Foundation
import TestSupport
import Testing

@Suite struct TenantCommandTests {
    private func lines(_ url: URL) throws -> [[String: Any]] {
        try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func `an export has each record and each file, and again it adds what is missing or differs`() throws {
        let user = try CommandLineUser()
        let picture = try user.sample("png/alpha.png", as: "alpha.png")
        #expect(try user.run("add", picture.path, "--codecs", "1").status == 0)
        #expect(try user.run("key", "create", "--tenant", "local").status == 0)
        #expect(try user.run("key", "create", "--tenant", "other").status == 0)
        let export = user.home.url.appending(path: "export")
        func run() throws {
            let result = try user.run("tenant", "export", "local", export.path)
            #expect(result.status == 0, "\(result.errorText)")
        }
        try run()
        let attachments = try lines(export.appending(path: "attachments.jsonl"))
        let attachment = try #require(attachments.first)
        let id = try #require(attachment["id"] as? String)
        #expect(attachments.count == 1 && attachment["state"] as? String == "delivered")
        #expect(try lines(export.appending(path: "keys.jsonl")).count == 1)
        let audit = try lines(export.appending(path: "audit.jsonl"))
        #expect(audit.map { $0["action"] as? String } == ["made"])
        for name in ["jobs", "notifications", "firings", "responses", "categories", "calls", "uploads"] {
            #expect(FileManager.default.fileExists(atPath: export.path + "/\(name).jsonl"), "\(name)")
        }
        let check = Program(URL(filePath: "/usr/bin/sha256sum"), environment: [:], in: export)
        #expect(try check.run(["-c", "--strict", "--quiet", "SHA256SUMS"]).status == 0)
        let renditions = try #require(attachment["renditions"] as? [String: [String: Any]])
        let files = try FileManager.default.contentsOfDirectory(atPath: export.path + "/renditions/\(id)")
        #expect(files.count == renditions.count && files.count >= 2)
        // One is gone, one was changed.
        let paths = files.sorted().map { export.path + "/renditions/\(id)/\($0)" }
        try FileManager.default.removeItem(atPath: paths[0])
        try Data("changed".utf8).write(to: URL(filePath: paths[1]))
        #expect(try check.run(["-c", "--strict", "--quiet", "SHA256SUMS"]).status != 0)
        try run()
        #expect(try check.run(["-c", "--strict", "--quiet", "SHA256SUMS"]).status == 0)
        for path in try FileManager.default.subpathsOfDirectory(atPath: export.path) {
            #expect(!path.hasSuffix(".part"))
            let bytes = try? Data(contentsOf: export.appending(path: path))
            #expect(bytes?.range(of: Data("satk_".utf8)) == nil && bytes?.range(of: Data("whsec_".utf8)) == nil)
        }
        #expect(try user.run("tenant", "export", "nobody", export.path + "/none").status == 0)
        #expect(try lines(export.appending(path: "none/jobs.jsonl")).isEmpty)
    }
}
