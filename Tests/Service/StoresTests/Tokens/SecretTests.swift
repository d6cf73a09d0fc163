import SatchelCore
import Postgres
import Foundation
import GRDB
import TestSupport
import Testing

@testable import Stores

@Suite struct SecretTests {
    /// A busy scenario; then every byte that was written or said is searched for every secret that was made.
    @Test func `no secret is in any file of the store, any dump of it, or any error`() async throws {
        let fixture = try Fixture()
        let records = fixture.records
        var said: [String] = []
        var tokens: [AccessToken] = []
        let attachment = try await fixture.store.deliver([.main: "main", .thumbnail: "small"])
        for _ in 0..<5 {
            let granted = try await records.grant(
                on: attachment.id, in: .owner(.local), renditions: nil, for: .seconds(1000), leaseLimit: 2)
            let (grant, root) = try #require(granted)
            let narrowed = try await records.grant(
                on: nil, in: .bearer(root), renditions: [.main], for: .seconds(100), leaseLimit: 1)
            let (_, child) = try #require(narrowed)
            let started = try await records.startLease(in: .bearer(child), renditions: nil, for: .seconds(50))
            let (lease, token) = try #require(started)
            let linked = try await records.link(to: attachment.id, of: .local, renditions: nil, for: .seconds(50))
            let (link, reusable) = try #require(linked)
            tokens += [root, child, token, reusable]
            do {
                _ = try await records.startLease(in: .bearer(child), renditions: nil, for: .seconds(50))
            } catch {
                said += ["\(error)", error.message]
            }
            _ = try await records.open(token, role: .main)
            said += ["\(grant)", "\(lease)", "\(link)", "\(root)", "\(token)", "\(fixture.store)", "\(records)"]
            var dumped = ""
            dump(fixture.store, to: &dumped)
            dump([root, child, token, reusable], to: &dumped)
            said.append(dumped)
            try fixture.store.keys.rotate()
            _ = try await records.revoke(lease.id, in: .owner(.local))
        }
        let secret = tokens[0].secretText
        let broken = await #expect(throws: AttachmentError.self) {
            _ = try await fixture.sqlite.write { work in
                _ = try work.run("INSERT INTO access (id) VALUES ($1)", [.text(secret)])
            }
        }
        said.append("\(String(describing: broken))")

        var secrets = tokens.map { Data($0.secretText.dropFirst(27).prefix(43).utf8) }
        let keyFile = try Data(contentsOf: URL(filePath: fixture.directory.path + "/keys"))
        let lines = try #require(try JSONSerialization.jsonObject(with: keyFile) as? [[String: Any]])
        #expect(lines.count == 6)
        for line in lines {
            let text = try #require(line["key"] as? String)
            secrets += [Data(text.utf8), try #require(Data(base64Encoded: text))]
        }
        #expect(secrets.count == 32)

        let root = fixture.store.directory
        var searched = 0
        for path in try FileManager.default.subpathsOfDirectory(atPath: root) {
            guard let content = FileManager.default.contents(atPath: root + "/" + path) else { continue }
            searched += 1
            for secret in secrets { #expect(content.range(of: secret) == nil, "\(path)") }
        }
        #expect(searched >= 5)
        said.append(try sqlite(root + "/records.sqlite", ".dump"))
        #expect(said.last?.contains(tokens[0].secretText.dropFirst(5).prefix(22)) == true)
        for text in said {
            let bytes = Data(text.utf8)
            for secret in secrets { #expect(bytes.range(of: secret) == nil) }
        }
    }

    @Test func `credentials for an origin reach the worker, and no byte of the store`() async throws {
        let fixture = try Fixture()
        var submission = JobSubmission.sample()
        submission.attachments[0].location = .url(
            "https://example.com/a", headers: ["Authorization": "Bearer canary-7f3a"])
        _ = try await fixture.records.submit([submission], SubmissionOptions())
        try fixture.expectNowhere("canary-7f3a")
        let claim = try await fixture.claim()
        #expect(claim.submission.attachments[0].location == submission.attachments[0].location)
        _ = try await fixture.records.deliver(
            [.failed(claim.attachments[0], .unreadable(Finding(.checksumDiffers)))], under: claim)
        try fixture.expectNowhere("canary-7f3a")
    }
}

extension Fixture {
    /// No file of the store holds `secret`: neither the database nor its log, written back or not.
    func expectNowhere(_ secret: String) throws {
        if let database {
            let rows = try database.dump()
            #expect(!rows.isEmpty && !rows.contains { $0.contains(secret) })
            return
        }
        if sqlite.connections is DatabaseQueue {
            let copy = try DatabaseQueue(path: store.directory + "/copy")
            try sqlite.connections.backup(to: copy)
            try copy.close()
        }
        for isWrittenBack in [false, true] {
            if isWrittenBack { try sqlite.connections.writeWithoutTransaction { _ = try $0.checkpoint(.full) } }
            var searched = 0
            for path in try FileManager.default.subpathsOfDirectory(atPath: store.directory) {
                guard let content = FileManager.default.contents(atPath: store.directory + "/" + path) else { continue }
                searched += content.count
                #expect(content.range(of: Data(secret.utf8)) == nil, "\(path)")
            }
            #expect(searched > 4096)
        }
    }
}
