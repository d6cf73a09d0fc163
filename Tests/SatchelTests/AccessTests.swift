import Foundation
import TestSupport
import Testing

@Suite struct AccessCommandTests {
    private func added(_ person: borrowing CommandLineUser) throws -> String {
        try person.sample("jpeg/coffee.jpg", as: "a.jpg")
        let result = try person.run("add", "a.jpg", "--format", "jsonl")
        let line = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        return try #require(line["attachment_id"] as? String)
    }

    private func object(_ result: ProgramResult) throws -> [String: String] {
        let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
        return object.compactMapValues { $0 as? String }
    }

    @Test func `a lease opens an attachment until it is stopped`() throws {
        let person = try CommandLineUser()
        let id = try added(person)
        let whole = try person.run("get", id).output
        #expect(whole.count > 1000)
        let lease = try object(person.run("lease", id, "--format", "json"))
        let token = try #require(lease["token"])
        #expect(token.hasPrefix("satl_"))
        #expect(try person.run("get", "--lease", token).output == whole)
        #expect(try person.run("revoke", try #require(lease["id"])).status == 0)
        let refused = try person.run("get", "--lease", token)
        #expect(refused.status == 1 && refused.output.isEmpty && refused.errorText.contains("opens nothing"))
        #expect(try person.run("get", id).output == whole)
    }

    @Test func `a grant starts leases, a narrower one less, and revoking takes all of them`() throws {
        let person = try CommandLineUser()
        let id = try added(person)
        let grant = try object(person.run("grant", id, "--format", "json"))
        let narrow = try object(
            person.run("grant", "--from", try #require(grant["token"]), "--rendition", "thumbnail", "--format", "json"))
        let lease = try object(person.run("lease", "--grant", try #require(narrow["token"]), "--format", "json"))
        let token = try #require(lease["token"])
        #expect(try person.run("get", "--lease", token, "--rendition", "thumbnail").status == 0)
        #expect(try person.run("get", "--lease", token, "--rendition", "main").status == 1)
        #expect(try person.run("revoke", try #require(grant["id"])).status == 0)
        #expect(try person.run("get", "--lease", token, "--rendition", "thumbnail").status == 1)
        #expect(try person.run("lease", "--grant", try #require(narrow["token"])).status == 1)
    }

    @Test func `deleting an attachment ends all access to it`() throws {
        let person = try CommandLineUser()
        let id = try added(person)
        let lease = try object(person.run("lease", id, "--format", "json"))
        let link = try object(person.run("lease", id, "--link", "--format", "json"))
        #expect(try person.run("rm", id).status == 0)
        for access in [lease, link] {
            #expect(try person.run("get", "--lease", try #require(access["token"])).status == 1)
        }
        #expect(try person.run("show", id).status == 1)
        #expect(try person.run("rm", id).errorText.contains("there is no attachment"))
    }

    @Test func `no secret is in the store, nor in what a command says by the way`() throws {
        let person = try CommandLineUser()
        let id = try added(person)
        var secrets: [String] = []
        for arguments in [["lease", id], ["lease", id, "--link"], ["grant", id]] {
            let result = try person.satchel.run(arguments + ["--format", "json"])
            let token = try #require(try object(result)["token"])
            secrets.append(String(token.dropFirst(5).dropFirst(22)))
            #expect(!result.errorText.contains(token))
        }
        let shown = try person.run("show", id).outputText + person.run("list", "--format", "jsonl").outputText
        let keys = try Data(contentsOf: person.home.url.appending(path: "keys/access.keys"))
        let files = FileManager.default.enumerator(at: person.store, includingPropertiesForKeys: nil)
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
                atPath: person.home.path + "/keys/access.keys")[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
