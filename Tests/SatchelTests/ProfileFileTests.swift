import Attachments
import Testing

@testable import satchel

@Suite struct ProfileFileTests {
    @Test(arguments: Profile.builtIn)
    func `a profile survives its YAML`(profile: Profile) throws {
        let read = try ProfileFile(yaml: ProfileFile.yaml(of: profile), path: "mine.yaml").profiles
        #expect(read == [profile])
    }

    @Test func `a profile starts from the one it is based on, and null takes a policy out`() throws {
        let yaml = """
            profiles:
              banner:
                based_on: notification
                image:
                  longest_side: 800
                video: null
            """
        let profile = try #require(try ProfileFile(yaml: yaml, path: "mine.yaml").profiles.first)
        #expect(profile.name == "banner")
        #expect(profile.image?.longestSide == 800)
        #expect(profile.image?.quality == Profile.notification.image?.quality)
        #expect(profile.video == nil && profile.audio == Profile.notification.audio)
    }

    @Test(arguments: [MediaType.gif, .webp, .mp4, .png, .jpeg])
    func `animations can become animated pictures, videos and stills, quickly or well`(type: MediaType) throws {
        let yaml = """
            profiles:
              quick:
                based_on: message
                speed: fast
                animation: {type: \(type.rawValue)}
            """
        let profile = try #require(try ProfileFile(yaml: yaml, path: "mine.yaml").profiles.first)
        #expect(profile.speed == .fast && profile.animation?.type == type)
        let shown = try ProfileFile.yaml(of: profile)
        #expect(shown.contains("speed: fast") && shown.contains("type: \(type.rawValue)"))
        #expect(try ProfileFile(yaml: shown, path: "mine.yaml").profiles == [profile])
    }

    @Test func `a speed or an animation's type that there isn't is refused, saying what there is`() {
        let yaml = """
            profiles:
              quick:
                speed: faster
                animation: {type: video/webm}
                image: {cap: 1}
            """
        let error = #expect(throws: ProfileFileError.self) { try ProfileFile(yaml: yaml, path: "mine.yaml") }
        let text = error?.description ?? ""
        for problem in [
            "line 3: quick.speed: faster must be best or standard or fast",
            "quick.animation.type: video/webm must be one of image/gif, image/webp, video/mp4",
            "quick.image.cap: 1 must be at least",
        ] {
            #expect(text.contains(problem), "\(problem) in \(text)")
        }
    }

    @Test func `every problem is reported at once, with its line, key and value`() {
        let yaml = """
            profiles:
              one:
                based_on: nothing
                deadline: soon
                image: {quality: 400, longst_side: 3, types: [image/gif]}
              two:
                based_on: avatar
                image: {aim: 5}
            """
        let error = #expect(throws: ProfileFileError.self) { try ProfileFile(yaml: yaml, path: "mine.yaml") }
        let text = error?.description ?? ""
        for problem in [
            "line 3: one.based_on: nothing", "line 4: one.deadline: soon", "one.image.longst_side",
            "one.image.quality: 400",
            "one.image.types: image/gif", "two.image.aim: 5",
        ] {
            #expect(text.contains(problem), "\(problem) in \(text)")
        }
    }

    @Test(arguments: ["", "profiles:", "profiles: 3", "a: b", "profiles: [", "- 1"])
    func `what is no profiles file is refused with a sentence`(yaml: String) {
        let error = #expect(throws: ProfileFileError.self) { try ProfileFile(yaml: yaml, path: "mine.yaml") }
        #expect(error?.problems.isEmpty == false)
    }
}
