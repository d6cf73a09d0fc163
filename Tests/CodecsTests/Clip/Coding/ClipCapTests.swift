import Attachments
import Foundation
import TestSupport
import Testing

@testable import Codecs

/// What is delivered of a clip is never over its cap, judged by the file's size and a full decode.
@Suite struct ClipCapTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private static func profile(cap: Int64, aim: Int64? = nil) -> Profile {
        var profile = Profile.notification
        profile.thumbnail = nil
        profile.video = VideoPolicy(longestSide: 1280, aim: aim, cap: cap, poster: nil)
        profile.audio = AudioPolicy(types: [.m4a], aim: aim, cap: cap, waveform: nil)
        return profile
    }

    /// Renders, and checks what holds of every result.
    private func checked(_ source: URL, _ profile: Profile, seconds: Double) throws -> RenditionReport {
        let made = try #require(try Clips.render(source, profile: profile))
        let main = try #require(made.main)
        let report = try #require(made.report(.main))
        let cap = try #require(profile.cap(of: .main, for: made.probeResult.kind))
        let size = try FileManager.default.attributesOfItem(atPath: main.path)[.size] as? Int64
        #expect(size == report.bytes)
        #expect(report.bytes <= cap, "\(report.bytes) over \(cap): \(report.note)")
        #expect(report.encodes <= 4, "\(report.note)")
        #expect(try Probe.complaints(main) == "")
        #expect(abs(try Probe.of(main).duration - seconds) < 0.15, "\(report.note)")
        return report
    }

    /// Noise in every picture, which no encoder makes small, and in the sound.
    private borrowing func noise(_ size: String, rate: Int, seconds: Double) throws -> URL {
        let source = file("noise.mkv")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=gray:size=\(size):rate=\(rate):duration=\(seconds),noise=alls=100:allf=t",
                "-f", "lavfi", "-i", "anoisesrc=seed=1:d=\(seconds):r=44100:a=0.9", "-pix_fmt", "yuv420p", "-c:v",
                "libx264",
                "-preset", "ultrafast", "-qp", "28", "-g", "250", "-c:a", "flac",
            ], to: source)
        return source
    }

    @Test(arguments: [300_000, 12_000] as [Int64])
    func `noise at 4K fits`(cap: Int64) throws {
        let source = try noise("3840x2160", rate: 6, seconds: 1)
        _ = try checked(source, Self.profile(cap: cap), seconds: 1)
    }

    @Test(arguments: [13_000, 60_000, 1_500_000] as [Int64])
    func `noise with noise for a sound fits, however small the cap`(cap: Int64) throws {
        let source = try noise("320x240", rate: 25, seconds: 4)
        let report = try checked(source, Self.profile(cap: cap), seconds: 4)
        if cap >= 250_000 { #expect(report.encodes <= 2, "\(report.note)") }
    }

    @Test func `an aim is met by a second attempt that the first one foretells`() throws {
        let source = try noise("320x240", rate: 25, seconds: 4)
        let report = try checked(source, Self.profile(cap: 10_000_000, aim: 120_000), seconds: 4)
        #expect(report.bytes <= 120_000)
        #expect(report.encodes <= 2, "\(report.note)")
        // It isn't wasted either.
        #expect(report.bytes > 40_000, "\(report.note)")
    }

    @Test func `black takes one encode`() throws {
        let source = file("black.webm")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=black:size=640x360:rate=25:duration=3", "-c:v", "libvpx", "-deadline",
                "realtime", "-cpu-used", "8",
            ], to: source)
        let report = try checked(source, Self.profile(cap: 30_000), seconds: 3)
        #expect(report.encodes == 1)
        #expect(report.bytes < 12_000)
    }

    @Test(arguments: [500_000, 30_000] as [Int64])
    func `a long slide show fits with its whole duration`(cap: Int64) throws {
        let source = file("slides.mkv")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=gray:size=320x180:rate=1:duration=120,noise=alls=60:allf=t", "-pix_fmt",
                "yuv420p", "-c:v", "mjpeg", "-q:v", "8",
            ], to: source)
        _ = try checked(source, Self.profile(cap: cap), seconds: 120)
    }

    @Test func `an hour of noise fits`() throws {
        let source = file("hour.flac")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "anoisesrc=seed=1:d=3600:r=8000:a=0.5", "-compression_level", "0", "-c:a", "flac"],
            to: source)
        let report = try checked(source, Self.profile(cap: 5_000_000), seconds: 3600)
        #expect(report.encodes <= 2, "\(report.note)")
        #expect(report.bytes > 2_500_000, "\(report.note)")
    }

    @Test(arguments: [3_000, 5_000, 10_000, 50_000] as [Int64])
    func `a minute of loud noise becomes silence before it is over a cap`(cap: Int64) throws {
        let source = file("minute.flac")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "anoisesrc=seed=1:d=20:r=44100:a=0.9", "-c:a", "flac"], to: source)
        let profile = Self.profile(cap: cap)
        do {
            _ = try checked(source, profile, seconds: 20)
            #expect(cap >= 10_000)
        } catch let error as AttachmentError {
            // 160 packets of nothing and their index are more than that.
            #expect(error.code == .capUnreachable)
            #expect(cap <= 10_000, "\(error)")
        }
    }

    @Test(arguments: [4_000_000, 1_000_000, 300_000, 180_000] as [Int64])
    func `a WAV's bytes are arithmetic`(cap: Int64) throws {
        let source = file("stereo.flac")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "anoisesrc=seed=1:d=10:r=44100:a=0.5", "-ac", "2", "-c:a", "flac"], to: source)
        var profile = Self.profile(cap: cap)
        profile.audio?.types = [.wav]
        let made = try #require(try Clips.render(source, profile: profile))
        let report = try #require(made.report(.main))
        #expect(report.type == .wav)
        #expect(report.bytes <= cap, "\(report.note)")
        #expect(report.encodes == 1)
        let stream = try made.audio()
        let rate = try #require(Int(stream.sampleRate ?? ""))
        let channels = try #require(stream.channels)
        #expect(report.bytes == Int64(10 * rate * channels * 2 + 44), "\(report.note)")
        // The next better one is over it.
        let better = channels == 2 ? (rate == 44_100 ? nil : 32_000 * 4) : 32_000 * 2
        if let better { #expect(Int64(11 * better) > cap || rate < 22_050 || Int64(better) > cap / 11) }
    }

    @Test func `a WAV that can't fit becomes the profile's next type, or else is refused`() throws {
        let source = file("long.flac")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "sine=d=30:r=22050", "-c:a", "flac"], to: source)
        var profile = Self.profile(cap: 200_000)
        profile.audio?.types = [.wav, .m4a]
        #expect(try Clips.render(source, profile: profile)?.report(.main)?.type == .m4a)
        profile.audio?.types = [.wav]
        do {
            _ = try Clips.render(source, profile: profile)
            Issue.record("half a minute of PCM was under 200,000 bytes")
        } catch let error as AttachmentError {
            #expect(error.code == .capUnreachable)
        }
    }

    @Test func `an MP3 is copied as long as it fits, to the byte`() throws {
        let source = file("music.mp3")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "anoisesrc=seed=1:d=5:r=44100:a=0.5", "-c:a", "libmp3lame", "-b:a", "128k"],
            to: source)
        var profile = Self.profile(cap: 90_000)
        profile.audio?.types = [.m4a, .mp3]
        let copied = try #require(Clips.render(source, profile: profile)?.report(.main))
        #expect(copied.type == .mp3 && copied.encodes == 0 && copied.bytes <= 90_000)
        profile.audio?.cap = 79_000
        let encoded = try #require(Clips.render(source, profile: profile)?.report(.main))
        #expect(encoded.type == .m4a && encoded.encodes >= 1 && encoded.bytes <= 79_000)
    }
}

/// The decisions alone, over random sources and caps.
@Suite struct LadderTests {
    private static func random(
        _ generator: inout some RandomNumberGenerator
    ) -> (ladder: PictureLadder, upright: PixelSize, seconds: Double, cap: Int64, aim: Int64?) {
        let upright = PixelSize(
            width: Int.random(in: 2...4000, using: &generator), height: Int.random(in: 2...4000, using: &generator))
        let cap = Int64(exp2(Double.random(in: 13...33, using: &generator)))
        let aim = Bool.random(using: &generator) ? Int64.random(in: 4_000...cap, using: &generator) : nil
        let seconds = exp2(Double.random(in: -4...13, using: &generator))
        let size = VideoPlan.size(of: upright, longestSide: Int.random(in: 16...4000, using: &generator))
        let settings = Encoder.Pictures(
            width: size.width, height: size.height, timeBase: TimeBase(1, 90_000),
            frameRate: Double.random(in: 1...120, using: &generator),
            rateFactor: Int.random(in: 10...45, using: &generator),
            maximumBitRate: Bool.random(using: &generator)
                ? Int.random(in: 8_000...50_000_000, using: &generator) : nil,
            preset: "veryfast")
        let ladder = PictureLadder(
            settings,
            audioBitRate: Bool.random(using: &generator) ? Int.random(in: 6_000...128_000, using: &generator) : 0,
            upright: upright, seconds: seconds, aim: aim, cap: cap)
        return (ladder, upright, seconds, cap, aim)
    }

    @Test func `whatever attempts come to, there are at most four, and the last one can't be too large`() {
        var generator = SeededGenerator()
        var lasts = 0
        for _ in 0..<3_000 {
            var (ladder, upright, seconds, cap, aim) = Self.random(&generator)
            var before = ladder.settings
            while true {
                let outcome: PictureLadder.Outcome
                if ladder.isLast {
                    lasts += 1
                    outcome = .finished(bytes: Int64.random(in: 0...cap, using: &generator))
                } else if Bool.random(using: &generator) {
                    outcome = .stopped(after: Double.random(in: -0.1...1.5, using: &generator))
                } else {
                    // An attempt that is over the cap is stopped.
                    outcome = .finished(bytes: Int64.random(in: 0...cap, using: &generator))
                }
                let goesOn = ladder.next(after: outcome)
                #expect(ladder.encodes <= PictureLadder.mostEncodes)
                guard goesOn else {
                    guard case .finished(let bytes) = outcome else {
                        Issue.record("ended with an attempt that was stopped")
                        break
                    }
                    #expect(bytes <= cap)
                    if let aim, bytes > aim { #expect(ladder.encodes >= PictureLadder.mostEncodes - 1) }
                    break
                }
                let now = ladder.settings
                #expect(now != before)
                #expect(
                    now.width.isMultiple(of: 2) && now.height.isMultiple(of: 2) && now.width >= 2 && now.height >= 2)
                #expect(now.width <= max(2, upright.width + 1) && now.height <= max(2, upright.height + 1))
                #expect(now.rateFactor <= 45 && now.spacing <= seconds && now.spacing.isFinite)
                #expect(ladder.isLast || now.rateFactor >= before.rateFactor)
                before = now
            }
        }
        #expect(lasts > 300)
    }

    @Test func `the worst first picture of the last attempt has a place`() {
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            var ladder = Self.random(&generator).ladder
            while ladder.next(after: .stopped(after: 0.01)) {}
            #expect(ladder.isLast)
            let size = PixelSize(width: ladder.settings.width, height: ladder.settings.height)
            let macroblocks = Int64((size.width + 15) / 16 * ((size.height + 15) / 16))
            let first = Int64(Double(ladder.pictureBytes) * PictureLadder.firstShare)
            #expect(macroblocks * 400 + 200 <= first || size.longestSide <= 16, "\(size) of \(ladder.pictureBytes)")
            #expect(ladder.pictureBytes + ladder.audioBytes >= 0)
        }
    }

    @Test func `a simple encoder is foretold in two attempts`() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            var (ladder, _, seconds, _, _) = Self.random(&generator)
            let upright = PixelSize(width: ladder.settings.width, height: ladder.settings.height)
            ladder = PictureLadder(
                ladder.settings, audioBitRate: 0, upright: upright, seconds: seconds,
                aim: 1_000_000, cap: 100_000_000)
            let factor = ladder.settings.rateFactor
            let size = Double(ladder.settings.width * ladder.settings.height)
            let start = Double.random(in: 1_000_000...20_000_000, using: &generator)
            var attempts = 0
            repeat {
                attempts += 1
                let now = ladder.settings
                let bytes =
                    start * exp2(-Double(now.rateFactor - factor) / 6)
                    * pow(Double(now.width * now.height) / size, 0.75)
                guard ladder.next(after: .finished(bytes: Int64(bytes))) else { break }
            } while attempts < 5
            // Below 160 pixels it is the frame rate that goes, of which this encoder knows nothing.
            #expect(ladder.encodes <= 2 || ladder.settings.spacing > 0)
        }
    }

    @Test func `a budget never gives more than it has, and keeps something for the end`() {
        var generator = SeededGenerator()
        for _ in 0..<500 {
            let total = Int64.random(in: -10...1_000_000, using: &generator)
            var budget = ByteBudget(total: total, seconds: 10, head: 0.3)
            var taken: Int64 = 0
            for step in 0..<200 {
                let bytes = Int64.random(in: -5...50_000, using: &generator)
                let time = Double(step) / 20
                if budget.take(bytes, at: time) {
                    taken += bytes
                    #expect(Double(taken) <= Double(max(0, total)) * (0.3 + 0.7 * time / 10) + 1)
                }
                _ = budget.take(.max, at: .nan)
            }
            #expect(taken <= max(0, total) && taken == budget.used)
        }
    }

    @Test func `every packet of a sound has a place, be it as silence`() throws {
        var generator = SeededGenerator()
        for _ in 0..<300 {
            let packets = Int64.random(in: 1...400, using: &generator)
            let silence = [UInt8](repeating: 0, count: Int.random(in: 1...30, using: &generator))
            let least = packets * (Int64(silence.count) + 44)
            let bytes = least + Int64.random(in: -10...20_000, using: &generator)
            guard var budget = AudioBudget(bytes: bytes, packets: packets, seconds: 10, silence: silence) else {
                #expect(bytes < least)
                continue
            }
            #expect(bytes >= least)
            var written: Int64 = 0
            for packet in 0..<packets {
                let size = Int.random(in: 1...2_000, using: &generator)
                let keeps = budget.keeps(size, at: 10 * Double(packet) / Double(packets))
                written += 44 + Int64(keeps ? size : silence.count)
            }
            #expect(written <= bytes)
        }
        #expect(AudioBudget(bytes: .max, packets: .max, seconds: 1, silence: [1]) == nil)
    }

    @Test func `PCM is the best that fits`() throws {
        var generator = SeededGenerator()
        for _ in 0..<1_000 {
            let rate = Int.random(in: 4_000...192_000, using: &generator)
            let facts = AudioFacts(
                stream: 0, codec: .other("flac"), name: "flac", rate: rate,
                channels: Int.random(in: 1...8, using: &generator),
                timeBase: TimeBase(1, Int32(rate)))
            let seconds = Double.random(in: 0...4_000, using: &generator)
            let bytes = Int64.random(in: 0...50_000_000, using: &generator)
            guard let samples = AudioPlan.wave(facts, seconds: seconds, bytes: bytes) else {
                #expect(Double(min(rate, 8_000) * 2) * seconds + 100 > Double(bytes) - 4)
                continue
            }
            #expect(AudioPlan.waveBytes(samples, seconds: seconds) <= bytes)
            #expect(samples.rate <= min(rate, 48_000) && samples.channels <= min(2, facts.channels))
            #expect(Double(samples.rate * samples.channels * 2) * seconds <= Double(bytes))
        }
    }
}
