import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Sources whose clock begins oddly or anew, and what is shown and heard of them.
@Suite struct StreamClockTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// Frames whose brightness counts them, and a tone.
    private static func encoding(_ arguments: String) -> [String] {
        ["-c:v", "libx264", "-preset", "ultrafast", "-sc_threshold", "0"]
            + arguments.split(separator: " ").map(String.init)
    }

    /// Has a transport stream's decoding times begin with the first frame's presentation time, as some segmenters write
    /// them.
    private static func delayDecoding(_ url: URL, frame: Int) throws {
        var bytes = [UInt8](try Data(contentsOf: url))
        var first: Int?
        var count = 0
        for packet in stride(from: 0, to: bytes.count, by: 188) where bytes[packet + 1] & 0x40 != 0 {
            let start = packet + 4 + (bytes[packet + 3] & 0x20 == 0 ? 0 : 1 + Int(bytes[packet + 4]))
            guard start + 19 <= bytes.count, bytes[start..<start + 4].elementsEqual([0, 0, 1, 0xe0]) else { continue }
            let own = bytes[start + 9..<start + 14].map(Int.init)
            let time = (own[0] >> 1 & 7) << 30 | own[1] << 22 | (own[2] >> 1) << 15 | own[3] << 7 | own[4] >> 1
            first = first ?? time
            if bytes[start + 7] >> 6 == 3 {
                let late = (first ?? 0) + count * frame
                let parts = [
                    0x11 | (late >> 30 & 7) << 1, late >> 22 & 255, late >> 14 & 254 | 1, late >> 7 & 255,
                    late << 1 & 255 | 1,
                ]
                bytes.replaceSubrange(start + 14..<start + 19, with: parts.map(UInt8.init))
            }
            count += 1
        }
        try Data(bytes).write(to: url)
    }

    /// Recordings that are concatenated: how each is encoded, and what makes their clocks differ.
    struct Joined: CustomTestStringConvertible, Sendable {
        var name: String
        var encoding: String
        var second: String?
        var hasPictures = true
        var areEqual = false

        var testDescription: String { name + (second.map { " and \($0)" } ?? "") + (areEqual ? ", twice" : "") }

        func make(_ directory: URL) throws -> URL {
            let files = try [(440, 2.0, encoding), areEqual ? (440, 2.0, encoding) : (880, 1.6, second ?? encoding)].map
            {
                tone, seconds, encoding in
                let file = directory.appending(path: "\(tone)-\(encoding.count)-\(name)")
                var input = ["-f", "lavfi", "-i", "sine=frequency=\(tone):sample_rate=44100:duration=\(seconds)"]
                if hasPictures {
                    input += [
                        "-f", "lavfi", "-i",
                        "color=c=black:size=64x48:rate=25:duration=\(seconds),geq=lum='16+5*mod(N,40)':cb=128:cr=128",
                        "-pix_fmt", "yuv420p",
                    ]
                }
                try Tool.ffmpeg(input + encoding.split(separator: " ").map(String.init), to: file)
                return file
            }
            let whole = directory.appending(path: "whole-\(name)")
            try (Data(contentsOf: files[0]) + Data(contentsOf: files[1])).write(to: whole)
            return whole
        }
    }

    private static let x264 = "-c:v libx264 -preset ultrafast -g 25 -bf 2 -x264-params b-adapt=0"
    private static let vp8 = "-c:v libvpx -deadline realtime -cpu-used 8 -auto-alt-ref 0"

    /// Frames of more than a packet, each of which then has its time.
    private static let vob = "-c:v mpeg2video -b:v 1M -minrate 1M -maxrate 1M -bufsize 224k -c:a mp2 -f vob"

    static let joined = [
        Joined(name: "a.ogg", encoding: "-ac 1 -c:a libopus", hasPictures: false),
        Joined(name: "b.ogg", encoding: "-ac 2 -c:a libopus", second: "-ac 1 -c:a libopus", hasPictures: false),
        Joined(name: "c.ogg", encoding: "-ac 1 -c:a libopus", hasPictures: false, areEqual: true),
        Joined(name: "d.ogg", encoding: "-c:a libvorbis", second: "-ar 22050 -c:a libvorbis", hasPictures: false),
        Joined(name: "e.ogg", encoding: "-c:a libvorbis", second: "-c:a libopus", hasPictures: false),
        Joined(name: "f.webm", encoding: "\(vp8) -c:a libopus"),
        Joined(name: "g.webm", encoding: "\(vp8) -c:a libopus", second: "\(vp8) -c:a libvorbis -ac 2"),
        Joined(name: "h.mkv", encoding: "\(x264) -c:a aac", areEqual: true),
        Joined(name: "i.ts", encoding: "\(x264) -c:a aac"),
        Joined(name: "j.ts", encoding: "\(x264) -c:a aac", areEqual: true),
        Joined(name: "k.ts", encoding: "\(x264) -c:a aac", second: "\(x264) -c:a aac -output_ts_offset 3600"),
        Joined(name: "l.ts", encoding: "-c:v mpeg2video -c:a mp2 -output_ts_offset 90"),
        Joined(name: "m.mpg", encoding: vob),
        Joined(name: "n.mpg", encoding: vob, areEqual: true),
        Joined(name: "o.mp4", encoding: "\(x264) -c:a aac -movflags frag_keyframe+empty_moov"),
        Joined(name: "p.mp4", encoding: "\(x264) -c:a aac -movflags frag_keyframe+empty_moov", areEqual: true),
        Joined(name: "q.mp4", encoding: "\(x264) -c:a aac"),
        Joined(name: "r.wav", encoding: "-c:a pcm_s16le", hasPictures: false),
        Joined(name: "s.aiff", encoding: "-c:a pcm_s16be", hasPictures: false),
        Joined(name: "t.flac", encoding: "-c:a flac", second: "-ar 22050 -ac 2 -c:a flac", hasPictures: false),
        Joined(name: "u.mp3", encoding: "-c:a libmp3lame", second: "-ar 22050 -c:a libmp3lame", hasPictures: false),
        Joined(name: "v.mp3", encoding: "-c:a libmp3lame", second: "-ac 2 -c:a libmp3lame", hasPictures: false),
        Joined(name: "w.aac", encoding: "-c:a aac", second: "-ar 22050 -c:a aac", hasPictures: false),
        Joined(name: "x.aac", encoding: "-c:a aac", second: "-ac 2 -c:a aac", hasPictures: false),
        Joined(name: "y.ts", encoding: "\(x264) -c:a aac", second: "\(x264) -ac 2 -ar 22050 -c:a aac"),
    ]

    /// How often the tone of a part of a sound swings in a second.
    private static func tone(_ samples: [Int16], from start: Double, to end: Double) -> Double {
        let part = samples.prefix(Int(end * 8000)).dropFirst(Int(start * 8000))
        return Double(zip(part, part.dropFirst()).count { $0 < 0 && $1 >= 0 }) / (end - start)
    }

    @Test(arguments: Sweep.of(joined, every: 2))
    func `recordings that are concatenated are delivered one after the other`(kind: Joined) throws {
        let source = try kind.make(directory.url)
        let (first, last) = kind.areEqual ? (440.0, 440.0) : (440.0, 880.0)
        let length = kind.areEqual ? 4.0 : 3.6
        let (main, made) = try CountedClips.part(source, nil)
        #expect(made.ending.losses == [])
        #expect(abs(try #require(made.probeResult.duration) - length) < 0.2)
        #expect(abs(try Probe.of(main).duration - length) < 0.2)
        #expect(abs(try #require(made.report(.main)?.duration) - length) < 0.2)
        let samples = try JudgedSound.samples([main], rate: 8000)[0]
        #expect(abs(Self.tone(samples, from: 0.3, to: 1.7) - first) < 8)
        #expect(abs(Self.tone(samples, from: 2.4, to: 3.4) - last) < 8)
        if kind.hasPictures {
            let counts = try BrightnessClip.counts(of: main)
            let wanted = (0..<50).map { $0 % 40 } + (0..<(kind.areEqual ? 50 : 40)).map { $0 % 40 }
            #expect(counts == wanted, "\(counts)")
        }
        // Across the seam, and up to a limit that lies behind it.
        let (part, cut) = try CountedClips.part(source, TrimRequest(start: 1.5, duration: 1.5))
        #expect(abs(try #require(cut.report(.main)?.duration) - 1.5) < 0.05)
        let heard = try JudgedSound.samples([part], rate: 8000)[0]
        #expect(abs(Self.tone(heard, from: 0.05, to: 0.4) - first) < 15)
        #expect(abs(Self.tone(heard, from: 0.8, to: 1.4) - last) < 15)
        var profile = Profile.notification
        profile.video?.maximumDuration = 3
        profile.audio?.maximumDuration = 3
        let limited = try #require(try Clips.render(source, profile: profile))
        #expect(abs(try Probe.of(limited.file(.main)).duration - 3) < 0.6)
        #expect(limited.ending.losses == [])
    }

    @Test(arguments: ["a.ogg", "b.webm", "c.mp4", "d.wav"])
    func `a recording that can't be read is stated as a loss of those before it`(name: String) throws {
        let source = file(name)
        let coding: [String] =
            switch source.pathExtension {
            case "mp4": ["-c:a", "aac"]
            case "wav": ["-c:a", "pcm_s16le"]
            default: ["-c:a", "libopus"]
            }
        try Tool.ffmpeg(["-f", "lavfi", "-i", "sine=duration=2"] + coding, to: source)
        let data = try Data(contentsOf: source)
        // Little more than what such a file begins with.
        try (data + data.prefix(source.pathExtension == "ogg" ? 28 : 48)).write(to: source)
        let made = try #require(try Clips.render(source))
        let loss = try #require(made.ending.losses.first)
        #expect(
            made.ending.losses.count == 1 && loss == Finding(.notDecoded, .recordings, missing: 1, of: 2),
            "\(loss.text)")
        #expect(abs(try Probe.of(made.file(.main)).duration - 2) < 0.1)
    }

    @Test(
        arguments: Sweep.of(
            [1, 2, 3].flatMap { order in [10, 50, 125].map { (order, $0) } }, every: 2), [false, true])
    func `decoding times that are late take no frame along`(kind: (order: Int, group: Int), hasAudio: Bool) throws {
        let audio = hasAudio ? ["-c:a", "aac"] : ["-an"]
        let source = try BrightnessClip.make(
            file("late.ts"), seconds: 6,
            Self.encoding("-g \(kind.group) -bf \(kind.order) -x264-params b-adapt=0") + audio)
        try Self.delayDecoding(source, frame: 3600)
        let (main, made) = try CountedClips.part(source, nil)
        #expect(made.ending.losses == [])
        #expect(try BrightnessClip.counts(of: main) == (0..<150).map { $0 % 40 })
        #expect(abs(try Probe.of(main).duration - 6) < 0.1)
        let (part, cut) = try CountedClips.part(source, TrimRequest(start: 1, duration: 2))
        #expect(cut.ending.losses == [])
        let counts = try BrightnessClip.counts(of: part)
        #expect(abs(counts.count - 50) <= 1 && abs((counts.first ?? 0) - 25) <= 2, "\(counts)")
    }
}
