import Foundation
import TestSupport
import Testing

/// Files that were prepared before their profile changed.
@Suite struct ChangedProfileTests {
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
