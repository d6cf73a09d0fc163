import Testing

@testable import SatchelCore

@Suite struct ProfileTests {
    @Test(arguments: Profile.builtIn)
    func `a built-in profile is sound`(profile: Profile) {
        #expect(profile.problems().isEmpty)
    }

    @Test func `all that is made of a source has a size, however high the caps`() {
        var profile = Profile.archive
        #expect(profile.largestOutputs > 4_000_000_000 && profile.largestOutputs < 4_100_000_000)
        profile.video?.cap = .max
        #expect(profile.largestOutputs == .max)
    }

    @Test func `all problems are reported at once, each with its key, value and remedy`() {
        var profile = Profile.notification
        profile.deadline = -1
        profile.image?.quality = 120
        profile.image?.background = "white"
        profile.image?.types = [.gif]
        profile.video?.cap = 10
        profile.audio?.types = [.mp3]
        let problems = profile.problems()
        let keys = problems.map(\.key)
        for key in ["deadline", "image.quality", "image.background", "image.types", "video.cap", "audio.types"] {
            #expect(keys.contains(key), "\(key) is missing in \(keys)")
        }
        #expect(problems.allSatisfy { !$0.value.isEmpty && !$0.remedy.isEmpty })
    }

    @Test func `the notification profile emits only what UNNotificationAttachment takes, under its caps`() {
        let profile = Profile.notification
        #expect(profile.image?.types.allSatisfy { [.jpeg, .png, .gif].contains($0) } == true)
        #expect(profile.animation?.type == .gif)
        #expect(profile.video?.type == .mp4)
        #expect(profile.audio?.types.allSatisfy { [.m4a, .mp3, .wav, .aiff].contains($0) } == true)
        #expect([profile.image?.cap, profile.animation?.cap] == [10_000_000, 10_000_000])
        #expect(profile.video?.cap == 50_000_000 && profile.audio?.cap == 5_000_000)
    }
}
