import SatchelCore
import Testing

@testable import satchel

@Suite struct ProfileFileTests {
    @Test(arguments: Profile.builtIn)
    func `a profile survives its YAML`(profile: Profile) throws {
        for isExplained in [false, true] {
            let yaml = ProfileFile.yaml(of: profile, isExplained: isExplained)
            #expect(try ProfileFile(yaml: yaml, path: "mine.yaml").profiles == [profile], "\(yaml)")
        }
    }

    @Test func `a profile survives its YAML without what it can do without, and with any text`() throws {
        var profile = Profile.message
        profile.name = "on"
        profile.video?.poster = nil
        profile.audio?.waveform = nil
        profile.thumbnail = nil
        profile.deadline = 0.05
        for text in ["", "null", "true", "1.50", "it's: # \"no\" - comment", "two\nlines\t\u{7}", "é 日本", " a "] {
            profile.summary = text
            for isExplained in [false, true] {
                let yaml = ProfileFile.yaml(of: profile, isExplained: isExplained)
                #expect(try ProfileFile(yaml: yaml, path: "mine.yaml").profiles == [profile], "\(yaml)")
            }
        }
    }

    @Test(arguments: Profile.builtIn)
    func `a profile is shown with every field in its order, and explained with each field's range and default`(
        profile: Profile
    ) {
        func lines(_ isExplained: Bool) -> [Substring] {
            ProfileFile.yaml(of: profile, isExplained: isExplained).split(separator: "\n").dropFirst(2)
                .map { $0.drop { " #".contains($0) } }
        }
        // What an explanation has of a policy that is null are comments.
        var plain: [String] = []
        var explained: [String] = []
        func collect(_ fields: [FieldDescription], _ values: PlainValue, isAbsent: Bool) {
            for (field, member) in zip(fields, values.members) where field.type != .name {
                explained += [field.summary, "Type: \(field.expected). Default: \(field.standard.yaml)."]
                var line = "\(field.name): \(member.value.yaml)"
                if case .part(_, _, _) = field.type, member.value != .nothing { line = "\(field.name):" }
                explained.append(line)
                if !isAbsent { plain.append(line) }
                guard case .part(_, let fields, let defaults) = field.type else { continue }
                let isNull = member.value == .nothing
                collect(fields, isNull ? defaults : member.value, isAbsent: isAbsent || isNull)
            }
        }
        collect(Profile.fields.map(\.description), profile.values, isAbsent: false)
        #expect(lines(false).map(String.init) == plain)
        #expect(lines(true).map(String.init) == explained)
        #expect(explained.count > 3 * 45)
    }

    @Test func `a name of a profile within it, and a value of another shape, are refused`() {
        let yaml = """
            profiles:
              one:
                name: two
                summary: {a: b}
                image: {types: jpeg, cap: 5.5, attention: 1, longest_side: "800"}
            """
        let error = #expect(throws: ProfileFileError.self) { try ProfileFile(yaml: yaml, path: "mine.yaml") }
        let text = error?.description ?? ""
        for problem in [
            "line 3: one.name: is not a field; must be one of based_on, summary",
            "line 4: one.summary: a=b must be a string",
            "line 5: one.image.types: jpeg must be a list of", "one.image.cap: 5.5 must be a whole number of bytes",
            "one.image.attention: 1 must be true or false",
            "one.image.longest_side: 800 must be a whole number of pixels",
        ] {
            #expect(text.contains(problem), "\(problem) in \(text)")
        }
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
        let shown = ProfileFile.yaml(of: profile)
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
            "line 3: quick.speed: faster must be one of best, standard, fast",
            "quick.animation.type: video/webm must be one of image/gif, image/webp, video/mp4, image/png, image/jpeg",
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
