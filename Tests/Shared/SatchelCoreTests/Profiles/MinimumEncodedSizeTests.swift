import TestSupport
import Testing

@testable import SatchelCore

/// Caps that nothing fits, and those just above.
@Suite struct MinimumEncodedSizeTests {
    /// What is wrong with `notification` after a change.
    private func problems(_ change: (inout Profile) -> Void) -> [ProfileProblem] {
        var profile = Profile.notification
        profile.image?.aim = nil
        profile.animation?.aim = nil
        profile.video?.aim = nil
        profile.audio?.aim = nil
        change(&profile)
        return profile.problems()
    }

    /// The smallest cap that is accepted must be `bytes`, and the remedy below it must name `bytes` and `what`.
    private func expectFloor(
        _ bytes: Int64, _ key: String, _ what: String, _ change: (inout Profile, Int64) -> Void,
        sourceLocation: Testing.SourceLocation = #_sourceLocation
    ) {
        let accepted = problems { change(&$0, bytes) }
        #expect(accepted == [], sourceLocation: sourceLocation)
        let remedy = "must be at least \(bytes) bytes: \(what) take that"
        for cap in [0, 1, bytes - 1] {
            let refused = problems { change(&$0, cap) }
            #expect(
                refused == [ProfileProblem(key: key, value: "\(cap)", remedy: remedy)], sourceLocation: sourceLocation)
        }
    }

    private func expectKeys(
        _ keys: [String], sourceLocation: Testing.SourceLocation = #_sourceLocation, _ change: (inout Profile) -> Void
    ) {
        let found = problems(change).map(\.key)
        #expect(found == keys, sourceLocation: sourceLocation)
    }

    @Test func `a still's cap must hold one pixel of the cheapest type`() {
        expectFloor(297, "image.cap", "the pixels of a 1×1 JPEG") {
            $0.image?.types = [.jpeg]
            $0.image?.cap = $1
        }
        expectFloor(96, "image.cap", "the pixels of a 1×1 PNG") {
            $0.image?.types = [.jpeg, .png]
            $0.image?.cap = $1
        }
        expectFloor(180, "image.cap", "the pixels of a 1×1 WebP") {
            $0.image?.types = [.webp]
            $0.image?.cap = $1
        }
        expectFloor(96, "thumbnail.cap", "the pixels of a 1×1 PNG") { $0.thumbnail?.cap = $1 }
        expectFloor(297, "video.poster.cap", "the pixels of a 1×1 JPEG") { $0.video?.poster?.cap = $1 }
        expectFloor(96, "audio.waveform.cap", "the pixels of a 1×1 PNG") { $0.audio?.waveform?.cap = $1 }
    }

    @Test func `an animation's cap must hold one frame of one pixel`() {
        expectFloor(62, "animation.cap", "the pixels of a 1×1 GIF with one frame") { $0.animation?.cap = $1 }
        expectFloor(236, "animation.cap", "the pixels of a 1×1 WebP with one frame") {
            $0.animation?.type = .webp
            $0.animation?.cap = $1
        }
    }

    @Test func `a sound's cap must hold its longest duration at the lowest settings`() {
        // 16 bits, 8,000 times a second, and a header of 44 bytes.
        expectFloor(30 * 16_000 + 44, "audio.cap", "30 s of WAV at 8000 Hz mono") {
            $0.audio?.types = [.wav]
            $0.audio?.cap = $1
        }
        expectFloor(30 * 1_500 + 568, "audio.cap", "30 s of AAC at 12000 bits per second") { $0.audio?.cap = $1 }
        expectFloor(30 * 1_500 + 568, "audio.cap", "30 s of AAC at 12000 bits per second") {
            $0.audio?.types = [.wav, .m4a]
            $0.audio?.cap = $1
        }
        expectFloor(8_044, "audio.cap", "0.5 s of WAV at 8000 Hz mono") {
            $0.audio?.types = [.wav, .mp3]
            $0.audio?.maximumDuration = 0.5
            $0.audio?.cap = $1
        }
    }

    @Test func `a video's cap must hold its longest duration at the lowest settings`() {
        expectFloor(10 * 6_500 + 616, "video.cap", "10 s of MP4 at 52000 bits per second") { $0.video?.cap = $1 }
    }

    @Test func `where nothing bounds the duration, only what no file fits is refused`() {
        expectFloor(44, "audio.cap", "the headers of a WAV") {
            $0.audio?.types = [.wav]
            $0.audio?.maximumDuration = nil
            $0.audio?.cap = $1
        }
        expectFloor(616, "video.cap", "the boxes of an MP4") {
            $0.video?.maximumDuration = nil
            $0.video?.cap = $1
        }
    }

    @Test func `an aim below the floor or over the cap is refused`() {
        expectKeys(["audio.aim"]) { $0.audio?.aim = 45_567 }
        expectKeys([]) { $0.audio?.aim = 45_568 }
        expectKeys(["audio.aim"]) { $0.audio?.aim = 5_000_001 }
    }

    @Test func `a wrong duration or type is told once, and overflows nothing`() {
        expectKeys(["audio.maximum_duration"]) { $0.audio?.maximumDuration = .infinity }
        expectKeys(["audio.maximum_duration"]) { $0.audio?.maximumDuration = .nan }
        expectKeys(["video.maximum_duration"]) { $0.video?.maximumDuration = -1 }
        expectKeys(["video.cap", "video.maximum_duration"]) { $0.video?.maximumDuration = 1e300 }
        expectKeys(["image.types"]) { $0.image?.types = [] }
    }
}
