import Foundation
import TestSupport
import Testing

@Suite struct AccessCommandTests {
    private func added(_ user: borrowing CommandLineUser, _ options: String...) throws -> String {
        try user.sample("jpeg/coffee.jpg", as: "a.jpg")
        let result = try user.satchel.run(["add", "a.jpg", "--format", "jsonl"] + options)
        let line = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        return try #require(line["attachment_id"] as? String)
    }

    private func object(_ result: ProgramResult) throws -> [String: String] {
        let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        return object.compactMapValues { $0 as? String }
    }

    @Test func `a lease opens an attachment until it is stopped`() throws {
        let user = try CommandLineUser()
        let id = try added(user)
        let whole = try user.run("get", id).output
        #expect(whole.count > 1000)
        let lease = try object(user.run("lease", id, "--format", "json"))
        let token = try #require(lease["token"])
        #expect(token.hasPrefix("satl_"))
        #expect(try user.run("get", "--lease", token).output == whole)
        #expect(try user.run("revoke", try #require(lease["id"])).status == 0)
        let refused = try user.run("get", "--lease", token)
        #expect(
            refused.status == 4 && refused.output.isEmpty && refused.errorText.contains("invalid, expired or revoked"))
        #expect(try user.run("get", id).output == whole)
    }

    @Test func `a grant starts leases, a narrower one less, and revoking takes all of them`() throws {
        let user = try CommandLineUser()
        let id = try added(user)
        let grant = try object(user.run("grant", id, "--format", "json"))
        let narrow = try object(
            user.run("grant", "--from", try #require(grant["token"]), "--rendition", "thumbnail", "--format", "json"))
        let lease = try object(user.run("lease", "--grant", try #require(narrow["token"]), "--format", "json"))
        let token = try #require(lease["token"])
        #expect(try user.run("get", "--lease", token, "--rendition", "thumbnail").status == 0)
        #expect(try user.run("get", "--lease", token, "--rendition", "main").status == 4)
        #expect(try user.run("revoke", try #require(grant["id"])).status == 0)
        #expect(try user.run("get", "--lease", token, "--rendition", "thumbnail").status == 4)
        #expect(try user.run("lease", "--grant", try #require(narrow["token"])).status == 4)
    }

    @Test func `deleting an attachment ends all access to it`() throws {
        let user = try CommandLineUser()
        let id = try added(user)
        let lease = try object(user.run("lease", id, "--format", "json"))
        let link = try object(user.run("lease", id, "--link", "--format", "json"))
        #expect(try user.run("rm", id).status == 0)
        for access in [lease, link] {
            #expect(try user.run("get", "--lease", try #require(access["token"])).status == 4)
        }
        #expect(try user.run("show", id).status == 4)
        #expect(try user.run("rm", id).errorText.contains("there is no attachment"))
    }

    @Test(arguments: ["matrix", "aesgcm"])
    func `what is kept encrypted is got decrypted, or as it is kept; without its key the second alone`(scheme: String)
        throws
    {
        let user = try CommandLineUser()
        let id = try added(user, "--encrypt", scheme)
        let lease = try #require(try object(user.run("lease", id, "--format", "json"))["token"])
        let whole = try user.run("get", id).output
        #expect(whole.starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(try user.run("get", "--lease", lease).output == whole)
        let kept = try user.run("get", id, "--encrypted").output
        #expect(kept.count == whole.count + (scheme == "aesgcm" ? 16 : 0) && !kept.starts(with: [0xFF, 0xD8]))
        #expect(try user.run("get", id, "--output", "b.jpg").status == 0)
        #expect(try Data(contentsOf: user.home.url.appending(path: "b.jpg")) == whole)
        // In the clear it is other work.
        #expect(try added(user) != id)

        try Data("new".utf8).write(to: user.home.url.appending(path: "keys/access.keys"))
        let lost = try user.run("get", id)
        #expect(lost.status == 1 && lost.output.isEmpty && lost.errorText.contains("--encrypted"))
        #expect(try user.run("get", id, "--encrypted").output == kept)
    }

    @Test func `no secret is in the store, nor in what a command says by the way`() throws {
        let user = try CommandLineUser()
        let id = try added(user)
        var secrets: [String] = []
        for arguments in [["lease", id], ["lease", id, "--link"], ["grant", id]] {
            let result = try user.satchel.run(arguments + ["--format", "json"])
            let token = try #require(try object(result)["token"])
            secrets.append(String(token.dropFirst(5).dropFirst(22)))
            #expect(!result.errorText.contains(token))
        }
        let shown = try user.run("show", id).outputText + user.run("list", "--format", "jsonl").outputText
        let keys = try Data(contentsOf: user.home.url.appending(path: "keys/access.keys"))
        let files = FileManager.default.enumerator(at: user.store, includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard let data = try? Data(contentsOf: file) else { continue }
            for secret in secrets {
                #expect(data.range(of: Data(secret.utf8)) == nil, "a secret is in \(file.lastPathComponent)")
            }
            #expect(keys.isEmpty || data.range(of: keys) == nil)
        }
        for secret in secrets { #expect(!shown.contains(secret)) }
        let mode =
            try FileManager.default.attributesOfItem(
                atPath: user.home.path + "/keys/access.keys")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
