import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

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
        #expect(try Probe.decodingErrors(main) == "")
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

    @Test(arguments: Sweep.of([12_000, 300_000] as [Int64], every: 2))
    func `noise at 4K fits`(cap: Int64) throws {
        let source = try noise("3840x2160", rate: 6, seconds: 1)
        _ = try checked(source, Self.profile(cap: cap), seconds: 1)
    }

    @Test(arguments: Sweep.of([13_000, 60_000, 1_500_000] as [Int64], every: 2))
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

    @Test(arguments: Sweep.of([30_000, 500_000] as [Int64], every: 2))
    func `a long slide show fits with its whole duration`(cap: Int64) throws {
        let source = file("slides.mkv")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=gray:size=320x180:rate=1:duration=120,noise=alls=60:allf=t", "-pix_fmt",
                "yuv420p", "-c:v", "mjpeg", "-q:v", "8",
            ], to: source)
        _ = try checked(source, Self.profile(cap: cap), seconds: 120)
    }

    @Test func `long noise fits, be it an hour`() throws {
        let seconds = Sweep.count(3600, else: 720)
        let source = file("hour.flac")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "anoisesrc=seed=1:d=\(seconds):r=8000:a=0.5", "-compression_level", "0", "-c:a",
                "flac",
            ],
            to: source)
        let cap = Int64(seconds * 5_000 / 36 * 10)
        let report = try checked(source, Self.profile(cap: cap), seconds: Double(seconds))
        #expect(report.encodes <= 2, "\(report.note)")
        #expect(report.bytes > cap / 2, "\(report.note)")
    }

    @Test(arguments: Sweep.of([3_000, 5_000, 10_000, 50_000] as [Int64], every: 3))
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

    @Test(arguments: Sweep.of([4_000_000, 1_000_000, 300_000, 180_000] as [Int64], every: 3))
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
