import Attachments
import Foundation
import TestSupport
import Testing

@testable import Codecs

/// What becomes of sound, judged by ffprobe and a full decode.
@Suite struct SoundTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// A tone that sounds from 1 s to 2 s, and silence around it.
    private borrowing func tone(_ name: String, seconds: Double = 4, _ encoding: [String]) throws -> URL {
        let output = file(name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "aevalsrc='if(between(t,1,2),0.8*sin(2*PI*440*t),0)':s=44100:d=\(seconds)",
            ] + encoding, to: output)
        return output
    }

    /// When the tone begins and ends in what a decoder gives.
    private func heard(_ url: URL) throws -> (from: Double, to: Double) {
        let raw = try Tool.run(
            "ffmpeg", ["-v", "error", "-i", url.path, "-ac", "1", "-ar", "44100", "-f", "s16le", "-"])
        let samples = unsafe raw.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
        let from = samples.firstIndex { abs(Int($0)) > 6000 } ?? -44100
        let to = samples.lastIndex { abs(Int($0)) > 6000 } ?? -44100
        return (Double(from) / 44100, Double(to) / 44100)
    }

    @Test(
        arguments: [
            ("a.mp3", ["-c:a", "libmp3lame"], MediaType.mp3), ("b.m4a", ["-c:a", "aac"], .m4a),
            ("c.aac", ["-c:a", "aac"], .aac), ("d.wav", ["-c:a", "pcm_s16le"], .wav),
            ("e.aiff", ["-c:a", "pcm_s16be"], .aiff), ("f.caf", ["-c:a", "alac"], .caf),
            ("g.flac", ["-c:a", "flac"], .flac), ("h.opus", ["-c:a", "libopus"], .ogg),
            ("i.ogg", ["-c:a", "libvorbis"], .ogg), ("j.mp4", ["-c:a", "aac"], .m4a),
            ("k.webm", ["-c:a", "libopus"], .webm), ("l.mka", ["-c:a", "flac"], .matroska),
        ] as [(String, [String], MediaType)])
    func `each kind of sound is recognised, and delivered as something a phone plays`(
        name: String, encoding: [String], type: MediaType
    ) throws {
        let source = try tone(name, encoding)
        let made = try #require(try Clips.render(source))
        #expect(made.findings.kind == .audio)
        #expect(made.findings.type == type)
        #expect(abs(try #require(made.findings.duration) - 4) < 0.1)
        #expect(made.reports.map(\.role) == [.waveform, .main])
        let main = try #require(made.main)
        #expect(["aac", "mp3", "pcm_s16le"].contains(try #require(try Probe.of(main).audio?.codecName)))
        let (from, to) = try heard(main)
        // Lossy codecs smear an edge by a millisecond, and an MP3 keeps its encoder's delay.
        #expect(abs(from - 1) < 0.06)
        #expect(abs(to - 2) < 0.06)
        // The tone fills the second quarter of the peaks.
        let peaks = try #require(made.ending.placeholder?.peaks)
        #expect(peaks.count == 64)
        #expect(peaks[18...29].allSatisfy { $0 > 150 })
        #expect(peaks[0...13].allSatisfy { $0 < 20 })
        #expect(peaks[36...].allSatisfy { $0 < 20 })
    }

    @Test(
        arguments: [
            ("a.m4a", ["-c:a", "aac"]), ("b.wav", ["-c:a", "pcm_s16le"]), ("c.flac", ["-c:a", "flac"]),
            ("d.opus", ["-c:a", "libopus"]), ("e.mp3", ["-c:a", "libmp3lame"]), ("f.aac", ["-c:a", "aac"]),
        ])
    func `a cut is exact within 20 ms at both ends`(name: String, encoding: [String]) throws {
        let source = try tone(name, encoding)
        let original = try heard(source)
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 0.73, duration: 2.1))))
        let main = try #require(made.main)
        let (from, to) = try heard(main)
        #expect(abs(from - (original.from - 0.73)) < 0.02)
        #expect(abs(to - (original.to - 0.73)) < 0.02)
        let trim = try #require(made.ending.trim)
        #expect(abs(trim.start - 0.73) < 0.02)
        #expect(abs(trim.duration - 2.1) < 0.025)
        let decoded = try Tool.run(
            "ffmpeg", ["-v", "error", "-i", main.path, "-ac", "1", "-ar", "8000", "-f", "s16le", "-"])
        #expect(abs(Double(decoded.count) / 16000 - 2.1) < 0.04)
        #expect(try Probe.of(main).format.tags?["encoder"] == nil)
    }

    @Test func `cover art becomes the thumbnail, and an MP3 with much of it is sound`() throws {
        let art = file("art.png")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=600x600,noise=alls=80", "-frames:v", "1"], to: art)
        let source = file("covered.mp3")
        try Tool.ffmpeg(
            [
                "-i", try tone("plain.wav", []).path, "-i", art.path, "-map", "0", "-map", "1", "-c:v", "copy", "-c:a",
                "libmp3lame", "-metadata", "title=canary",
            ], to: source)
        #expect(try Data(contentsOf: art).count > 64 << 10)
        let made = try #require(try Clips.render(source))
        #expect(made.findings.kind == .audio)
        #expect(made.findings.type == .mp3)
        #expect(made.reports.map(\.role) == [.thumbnail, .waveform, .main])
        #expect(made.report(.thumbnail)?.size == PixelSize(width: 256, height: 256))
        let main = try #require(made.main)
        let data = try Data(contentsOf: main)
        #expect(data.count < 200_000)
        for canary in ["canary", "ID3", "Lavf5", "Lavc5"] {
            #expect(data.range(of: Data(canary.utf8)) == nil, "\(canary)")
        }
        #expect(try Probe.of(main).video == nil)
    }

    @Test func `an MP3 without a header is recognised by its frames`() throws {
        let whole = try tone("whole.mp3", ["-c:a", "libmp3lame", "-id3v2_version", "0", "-write_xing", "0"])
        let source = file("headerless.mp3")
        try Data(contentsOf: whole).dropFirst(1000).write(to: source)
        let findings = try #require(try Clips.findings(source))
        #expect(findings.type == .mp3)
        #expect(abs(try #require(findings.duration) - 4) < 0.2)
    }

    @Test func `surround is mixed down to two channels`() throws {
        let source = file("surround.wav")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "sine=duration=1", "-af", "pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0"], to: source)
        let made = try #require(try Clips.render(source))
        #expect(try Probe.of(try #require(made.main)).audio?.channels == 2)
    }

    @Test func `an hour stays under its cap`() throws {
        let source = file("hour.flac")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "anoisesrc=d=240:r=16000:a=0.4", "-c:a", "flac"], to: source)
        var profile = Profile.notification
        profile.audio?.maximumDuration = nil
        profile.audio?.aim = 600_000
        profile.audio?.cap = 600_000
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(try #require(made.report(.main)).bytes <= 600_000)
        #expect(abs(try Probe.of(try #require(made.main)).duration - 240) < 0.1)
    }

    @Test func `a sound that ends before its first packet is corrupt`() throws {
        let whole = try tone("whole.wav", [])
        let source = file("cut.wav")
        try Data(contentsOf: whole).prefix(44).write(to: source)
        do {
            _ = try Clips.findings(source)
            Issue.record("a file without sound was opened")
        } catch let error as AttachmentError {
            #expect(error.code == .corrupt, "\(error)")
        }
    }
}
