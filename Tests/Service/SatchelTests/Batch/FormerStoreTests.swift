import SatchelCore
import Foundation
import Ingest
import Jobs
import TestSupport
import Testing

/// Trees that earlier versions did, and profiles that have changed since.
@Suite struct FormerStoreTests {
    @Test(arguments: FormerProfile.all)
    func `a profile of 0.1.0 has the digest that 0.1.0 gave it`(former: FormerProfile) throws {
        let profile = try JSONDecoder().decode(Profile.self, from: Data(former.stored.utf8))
        #expect(try profile.digest == former.digest)
    }

    @Test(arguments: Profile.builtIn)
    func `a built-in profile is 0.1.0's, but for archive's speed and its check of copies`(profile: Profile) throws {
        let former = try #require(FormerProfile.all.first { $0.name == profile.name })
        var past = try JSONDecoder().decode(Profile.self, from: Data(former.stored.utf8))
        if profile.name == "archive" {
            past.speed = .best
            past.video?.check = .decode
        }
        #expect(past == profile)
    }

    @Test(arguments: Profile.builtIn)
    func `a tree that 0.1.0 did is unchanged, unless its profile changed, which a dry run counts`(
        profile: Profile
    ) throws {
        let isChanged = profile.name == "archive"
        let user = try CommandLineUser()
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        try user.sample("png/alpha.png", as: "in/deep/b.png")
        #expect(try user.batch("in", "--profile", profile.name).status == 0)
        try user.leaveAsOf010(profile.name, ["a.jpg", "deep/b.png"])
        let dry = try user.run("batch", "in", "--profile", profile.name, "--dry-run")
        #expect(dry.status == 0, "\(dry.errorText)")
        #expect(dry.outputText.contains(#/unchanged +2 /#) != isChanged, "\(dry.outputText)")
        let told =
            "2 files were prepared under another version of the profile '\(profile.name)', and would be prepared again."
        #expect(dry.errorText.contains(told) == isChanged, "\(dry.errorText)")
        let again = try user.batch("in", "--profile", profile.name)
        let state = isChanged ? "delivered" : "unchanged"
        #expect(again.lines.map { $0["state"] as? String } == [state, state], "\(again.errors)")
    }

    @Test func `a dry run counts what is done anew because the profile changed, and what is unchanged`() throws {
        let user = try CommandLineUser()
        func profile(_ quality: Int) throws {
            let yaml = "profiles: {mine: {based_on: avatar, image: {quality: \(quality)}}}\n"
            try user.file("mine.yaml", Data(yaml.utf8))
        }
        func dry() throws -> ProgramResult {
            try user.run("batch", "in", "--profiles", "mine.yaml", "--profile", "mine", "--dry-run")
        }
        try profile(70)
        try user.sample("jpeg/coffee.jpg", as: "in/a.jpg")
        try user.sample("png/alpha.png", as: "in/b.png")
        #expect(try user.batch("in", "--profiles", "mine.yaml", "--profile", "mine").status == 0)
        try user.sample("png/alpha.png", as: "in/c.png")
        let same = try dry()
        #expect(
            same.outputText.contains(#/image +1 /#) && same.outputText.contains(#/unchanged +2 /#), "\(same.outputText)"
        )
        #expect(!same.errorText.contains("prepared again"), "\(same.errorText)")
        try profile(71)
        let changed = try dry()
        #expect(changed.outputText.contains(#/image +3 /#) && !changed.outputText.contains("unchanged"))
        #expect(
            changed.errorText.contains(
                "2 files were prepared under another version of the profile 'mine', and would be prepared again."),
            "\(changed.errorText)")
        // What is counted is what is then done.
        let run = try user.batch("in", "--profiles", "mine.yaml", "--profile", "mine")
        #expect(run.lines.map { $0["state"] as? String } == ["delivered", "delivered", "delivered"])
        try profile(70)
        #expect(try dry().outputText.contains(#/unchanged +2 /#))
    }
}

extension CommandLineUser {
    /// Makes of a store what 0.1.0 would have left of the same work: the profile and the keys of the work as it wrote them.
    fileprivate func leaveAsOf010(_ name: String, _ paths: [String]) throws {
        let former = try #require(FormerProfile.all.first { $0.name == name })
        var commands = """
            UPDATE profiles SET body = '\(former.stored.replacing("'", with: "''"))' WHERE name = '\(name)';
            UPDATE jobs SET work_key = NULL;
            """
        for path in paths {
            let file = home.url.appending(path: "in/" + path).path(percentEncoded: false)
            var walk = try DirectoryWalk(Data(file.utf8))
            guard case .file(_, let state)? = walk.next() else { throw CocoaError(.fileNoSuchFile) }
            let key = WorkKey.of(path: Data(file.utf8), state: state, profileDigest: former.digest)
            commands += """
                UPDATE jobs SET work_key = '\(key)' WHERE key = (SELECT job FROM attachments WHERE identifier = '\(path)');
                """
        }
        let records = store.appending(path: "records.sqlite").path(percentEncoded: false)
        let result = try Program.tool("sqlite3").run([records, commands])
        #expect(result.status == 0, "\(result.errorText)")
        let count = try Program.tool("sqlite3").run([records, "SELECT count(*) FROM jobs WHERE work_key IS NOT NULL"])
        #expect(count.outputText == "\(paths.count)\n")
    }
}
