import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What becomes of sound, judged by ffprobe and a full decode.
@Suite struct AudioTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// A tone that sounds from 1 s to 2 s, and silence around it.
    private borrowing func tone(_ name: String, seconds: Double = 4, _ encoding: [String]) throws -> URL {
        _ = Self.tones
        let output = file(name)
        try Tool.ffmpeg(Self.toneInput(seconds: seconds) + encoding, to: output)
        return output
    }

    private static func toneInput(seconds: Double) -> [String] {
        ["-f", "lavfi", "-i", "aevalsrc='if(between(t,1,2),0.8*sin(2*PI*440*t),0)':s=44100:d=\(seconds)"]
    }

    /// At once; one by one where that fails.
    private static let tones: Void = {
        let others: [(arguments: [String], name: String)] = [([], "a.wav"), (headerless, "a.mp3")]
        try? Tool.prepare(toneInput(seconds: 4), kinds.map { ($0.1, $0.0) } + cuts.map { ($0.1, $0.0) } + others)
    }()

    private static let headerless = ["-c:a", "libmp3lame", "-id3v2_version", "0", "-write_xing", "0"]

    /// What becomes of tones, wholly or of a part, by their names.
    private static func judged(
        _ sounds: [(String, [String])], trim: TrimRequest? = nil
    ) throws -> [String: Result<JudgedSound, any Error>] {
        _ = tones
        let directory = try SharedDirectory().url
        let sources = try sounds.map { name, encoding in
            let source = directory.appending(path: name)
            try Tool.ffmpeg(toneInput(seconds: 4) + encoding, to: source)
            return source
        }
        return try JudgedSound.all(sources, rate: 44_100, trim: trim)
    }

    private static let judgedKinds = Result { try judged(kinds.map { ($0.0, $0.1) }) }
    private static let judgedCuts = Result { try judged(cuts, trim: TrimRequest(start: 0.73, duration: 2.1)) }

    /// When the tone begins and ends.
    private func heard(_ samples: [Int16]) -> (from: Double, to: Double) {
        let from = samples.firstIndex { abs(Int($0)) > 6000 } ?? -44100
        let to = samples.lastIndex { abs(Int($0)) > 6000 } ?? -44100
        return (Double(from) / 44100, Double(to) / 44100)
    }

    static let kinds: [(String, [String], MediaType)] = [
        ("a.mp3", ["-c:a", "libmp3lame"], MediaType.mp3), ("b.m4a", ["-c:a", "aac"], .m4a),
        ("c.aac", ["-c:a", "aac"], .aac), ("d.wav", ["-c:a", "pcm_s16le"], .wav),
        ("e.aiff", ["-c:a", "pcm_s16be"], .aiff), ("f.caf", ["-c:a", "alac"], .caf),
        ("g.flac", ["-c:a", "flac"], .flac), ("h.opus", ["-c:a", "libopus"], .ogg),
        ("i.ogg", ["-c:a", "libvorbis"], .ogg), ("j.mp4", ["-c:a", "aac"], .m4a),
        ("k.webm", ["-c:a", "libopus"], .webm), ("l.mka", ["-c:a", "flac"], .matroska),
    ]

    @Test(arguments: kinds)
    func `each kind of sound is recognised, and delivered as something a phone plays`(
        name: String, encoding: [String], type: MediaType
    ) throws {
        let judged = try #require(try Self.judgedKinds.get()[name]).get()
        let made = judged.made
        #expect(made.probeResult.kind == .audio)
        #expect(made.probeResult.type == type)
        #expect(abs(try #require(made.probeResult.duration) - 4) < 0.1)
        #expect(made.reports.map(\.role) == [.waveform, .main])
        let main = try #require(made.main)
        #expect(["aac", "mp3", "pcm_s16le"].contains(try #require(try Probe.of(main).audio?.codecName)))
        let (from, to) = heard(judged.after)
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

    static let cuts: [(String, [String])] = [
        ("a.m4a", ["-c:a", "aac"]), ("b.wav", ["-c:a", "pcm_s16le"]), ("c.flac", ["-c:a", "flac"]),
        ("d.opus", ["-c:a", "libopus"]), ("e.mp3", ["-c:a", "libmp3lame"]), ("f.aac", ["-c:a", "aac"]),
    ]

    @Test(arguments: cuts)
    func `a cut is exact within 20 ms at both ends`(name: String, encoding: [String]) throws {
        let judged = try #require(try Self.judgedCuts.get()[name]).get()
        let made = judged.made
        let main = try #require(made.main)
        let (original, (from, to)) = (heard(judged.before), heard(judged.after))
        #expect(abs(from - (original.from - 0.73)) < 0.02)
        #expect(abs(to - (original.to - 0.73)) < 0.02)
        let trim = try #require(made.ending.trim)
        #expect(abs(trim.start - 0.73) < 0.02)
        #expect(abs(trim.duration - 2.1) < 0.025)
        #expect(abs(Double(judged.after.count) / 44100 - 2.1) < 0.04)
        #expect(try Probe.of(main).format.tags?["encoder"] == nil)
    }

    @Test(
        arguments: Sweep.of(
            ["wmav1", "wmav2"].flatMap { codec in [16_000, 22_050, 32_000, 44_100, 48_000].map { (codec, $0) } },
            every: 3))
    func `a part of a WMA begins when it should`(codec: String, rate: Int) throws {
        let source = file("clicks.wma")
        // A tone from 2.5 s on.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "aevalsrc='if(gte(t,2.5),0.8*sin(2*PI*440*t),0)':s=\(rate):d=4", "-c:a", codec,
                "-b:a",
                "64k",
            ], to: source)
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 2, duration: 1))))
        let samples = try JudgedSound.samples([made.file(.main)], rate: 48_000)[0]
        let first = try #require(samples.firstIndex { $0.magnitude > 8_000 })
        #expect(abs(Double(first) / 48_000 - 0.5) < 0.008)
    }

    @Test(
        arguments: [
            (8_000, 8_000), (11_024, 11_025), (11_026, 12_000), (22_254, 24_000), (44_056, 44_100), (44_100, 44_100),
            (47_999, 48_000), (96_000, 48_000), (7_350, 8_000),
        ])
    func `a rate that AAC lacks becomes the next higher one`(rate: Int, coded: Int) {
        let facts = AudioFacts(
            stream: 0, codec: .other("pcm"), name: "pcm", rate: rate, channels: 2, timeBase: TimeBase(1, 90_000))
        #expect(AudioPlan.samples(facts, bitRate: 128_000).rate == coded)
        // Where there are few bits, fewer samples are heard better.
        #expect(AudioPlan.samples(facts, bitRate: 20_000).rate <= 16_000)
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
        #expect(made.probeResult.kind == .audio)
        #expect(made.probeResult.type == .mp3)
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
        let whole = try tone("whole.mp3", Self.headerless)
        let source = file("headerless.mp3")
        try Data(contentsOf: whole).dropFirst(1000).write(to: source)
        let probeResult = try #require(try Clips.probeResult(source))
        #expect(probeResult.type == .mp3)
        #expect(abs(try #require(probeResult.duration) - 4) < 0.2)
    }

    @Test func `surround is mixed down to two channels`() throws {
        let source = file("surround.wav")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "sine=duration=1"] + Self.surround, to: source)
        let made = try #require(try Clips.render(source))
        #expect(try Probe.of(try #require(made.main)).audio?.channels == 2)
    }

    /// Samples that an independent decoder gives of each file, at 44,100 a second.
    private func samples(_ urls: [URL], channels: Int = 1) throws -> [[Int16]] {
        try JudgedSound.samples(urls, channels: channels, rate: 44_100)
    }

    /// Where the loudest sample is.
    private func peak(_ samples: [Int16]) -> Int {
        samples.indices.max { samples[$0].magnitude < samples[$1].magnitude } ?? -1
    }

    /// Two seconds of silence with a click at the sample 50,000.
    private borrowing func click(_ name: String, _ encoding: [String]) throws -> URL {
        _ = Self.clickSounds
        let output = file(name)
        try Tool.ffmpeg(Self.clickInput + encoding, to: output)
        return output
    }

    private static let clickInput = [
        "-f", "lavfi", "-i", "aevalsrc='if(between(n,49990,50010),0.9*cos((n-50000)/10),0)':s=44100:d=2",
    ]

    private static let clickSounds: Void = {
        let others: [(arguments: [String], name: String)] = [(["-c:a", "libmp3lame"], "b.mp3"), (lame, "c.mp3")]
        try? Tool.prepare(clickInput, clicks.map { ($0.1, $0.0) } + others)
    }()

    private static let lame = ["-c:a", "libmp3lame", "-b:a", "128k"]

    private static let judgedClicks = Result {
        _ = clickSounds
        let directory = try SharedDirectory().url
        let sources = try clicks.map { name, encoding, _ in
            let source = directory.appending(path: name)
            try Tool.ffmpeg(clickInput + encoding, to: source)
            return source
        }
        return try JudgedSound.all(sources, rate: 44_100)
    }

    static let clicks: [(String, [String], MediaType)] = [
        ("a.mp3", ["-c:a", "libmp3lame", "-b:a", "192k"], MediaType.mp3), ("b.m4a", ["-c:a", "aac"], .m4a),
        ("c.m4a", ["-c:a", "alac"], .m4a), ("d.wav", ["-c:a", "pcm_s16le"], .wav),
        ("e.wav", ["-c:a", "pcm_u8"], .m4a),
        ("f.wav", ["-c:a", "pcm_s24le"], .m4a), ("g.wav", ["-c:a", "pcm_f32le"], .m4a),
        ("h.aiff", ["-c:a", "pcm_s16be"], .m4a), ("i.flac", ["-c:a", "flac"], .m4a),
        ("j.opus", ["-c:a", "libopus"], .m4a), ("k.ogg", ["-c:a", "libvorbis"], .m4a),
        ("l.aac", ["-c:a", "aac"], .m4a), ("m.caf", ["-c:a", "alac"], .m4a),
        ("n.flac", ["-ar", "96000", "-c:a", "flac"], .m4a),
    ]

    @Test(arguments: clicks)
    func `a click stays at its sample, and the length is exact`(name: String, encoding: [String], type: MediaType)
        throws
    {
        let judged = try #require(try Self.judgedClicks.get()[name]).get()
        let (made, before, after) = (judged.made, judged.before, judged.after)
        #expect(made.report(.main)?.type == type)
        #expect(
            abs(peak(after) - peak(before)) <= 30, "\(peak(after)), \(peak(before)); \(made.report(.main)?.note ?? "")")
        // Without a container nobody knows what primes an AAC; elsewhere at most a packet's padding is left.
        #expect(abs(after.count - before.count) <= (name == "l.aac" ? 2_200 : 1_100), "\(after.count), \(before.count)")
        if name != "l.aac" { #expect(abs(peak(after) - 50_000) <= 30) }
    }

    @Test func `an encoded sound has no sample too many`() throws {
        var made: [(about: String, slack: Range<Int>, whole: URL, part: URL)] = []
        for (name, encoding) in [("a.flac", ["-c:a", "flac"]), ("b.mp3", ["-c:a", "libmp3lame"])] {
            let source = try click(name, encoding)
            for type in [MediaType.m4a, .wav] {
                var profile = Profile.notification
                profile.audio?.types = [type]
                // A player ends an MP4 where its edit list says; FFmpeg plays the rest of the last packet too.
                let slack = type == .m4a ? 0..<1_024 : 0..<1
                let whole = try #require(try Clips.render(source, profile: profile)).file(.main)
                let trim = RenditionRequest(trim: TrimRequest(start: 0.5, duration: 1))
                let part = try #require(try Clips.render(source, profile: profile, request: trim)).file(.main)
                made.append(("\(name), \(type.rawValue)", slack, whole, part))
            }
        }
        let heard = try samples(made.map(\.whole) + made.map(\.part))
        for (index, one) in made.enumerated() {
            let (whole, part) = (heard[index], heard[made.count + index])
            #expect(one.slack.contains(whole.count - 88_200), "\(one.about)")
            #expect(abs(try Probe.of(one.whole).duration - 2) < 0.001)
            #expect(abs(peak(whole) - 50_000) <= 30)
            #expect(one.slack.contains(part.count - 44_100), "\(one.about)")
            #expect(abs(try Probe.of(one.part).duration - 1) < 0.001)
            #expect(abs(peak(part) - (50_000 - 22_050)) <= 30)
        }
    }

    @Test func `what LAME says of its delay and padding is kept in a copy`() throws {
        let source = try click("source.mp3", Self.lame)
        let made = try #require(try Clips.render(source))
        #expect(made.report(.main)?.encodes == 0)
        let heard = try samples([source, made.file(.main)])
        #expect(heard[0].count == 88_200)
        #expect(heard[1] == heard[0])
    }

    static let rates: [(String, [String], Int, Int)] = [
        ("a.wav", ["-ar", "8000", "-ac", "1", "-c:a", "pcm_mulaw"], 8_000, 1),
        ("b.wav", ["-ar", "192000", "-ac", "1", "-c:a", "pcm_s24le"], 48_000, 1),
        ("c.wav", ["-ar", "11025", "-ac", "2", "-c:a", "pcm_u8"], 11_025, 2),
        ("d.flac", ["-ar", "88200", "-ac", "2", "-c:a", "flac"], 48_000, 2),
    ]

    private static let rateInput = ["-f", "lavfi", "-i", "sine=frequency=400:duration=1"]
    private static let rateSounds: Void = { try? Tool.prepare(rateInput, rates.map { ($0.1, $0.0) }) }()

    @Test(arguments: rates)
    func `rates and channels become what AAC and phones know`(
        name: String, encoding: [String], rate: Int, channels: Int
    ) throws {
        let source = file(name)
        _ = Self.rateSounds
        try Tool.ffmpeg(Self.rateInput + encoding, to: source)
        let made = try #require(try Clips.render(source))
        let audio = try made.audio()
        #expect(audio.sampleRate == "\(rate)")
        #expect(audio.channels == channels)
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
    }

    private static let loudCodecs = ["flac", "ac3", "pcm_f32le"]
    private static let loudInput = ["-f", "lavfi", "-i", "sine=frequency=220:duration=1,volume=7.6"]
    private static let loudSounds: Void = {
        try? Tool.prepare(loudInput, loudCodecs.map { (surround + ["-c:a", $0], "loud.mkv") })
    }()

    private static let surround = ["-af", "pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0"]

    @Test(arguments: loudCodecs)
    func `the loudest surround is mixed down without clipping`(codec: String) throws {
        let source = file("loud.mkv")
        _ = Self.loudSounds
        try Tool.ffmpeg(Self.loudInput + Self.surround + ["-c:a", codec], to: source)
        let mains = try [MediaType.wav, .m4a].map { type -> URL in
            var profile = Profile.notification
            profile.audio?.types = [type]
            return try #require(try Clips.render(source, profile: profile)).file(.main)
        }
        let heard = try samples(mains, channels: 2)
        let mixed = heard[0]
        let middle = mixed[20_000..<60_000]
        let loudest = try #require(middle.map { Int($0.magnitude) }.max())
        // Loud, and never at the end of the scale for longer than a wave's top.
        #expect(loudest > 20_000)
        var longest = 0
        var run = 0
        for index in stride(from: middle.startIndex, to: middle.endIndex, by: 2) {
            run = mixed[index].magnitude > 32_700 ? run + 1 : 0
            longest = max(longest, run)
        }
        #expect(longest < 12, "\(longest) samples")
        #expect(try #require(heard[1][20_000..<60_000].map { Int($0.magnitude) }.max()) < 32_767)
    }

    @Test func `silence and a track without a packet are no obstacle`() throws {
        let silence = file("silence.flac")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "anullsrc=d=2", "-c:a", "flac"], to: silence)
        let quiet = try #require(try Clips.render(silence))
        #expect(quiet.ending.placeholder?.peaks?.allSatisfy { $0 == 0 } == true)
        #expect(abs(try Probe.of(quiet.file(.main)).duration - 2) < 0.01)

        let source = file("late.mkv")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=1", "-f", "lavfi", "-i", "sine=duration=1",
                "-af",
                "atrim=start=5", "-c:v", "mpeg4", "-c:a", "flac",
            ], to: source)
        let film = try #require(try Clips.render(source))
        #expect(try Probe.decodingErrors(film.file(.main)) == "")
        #expect(abs(try Probe.of(film.file(.main)).duration - 1) < 0.05)
    }

    /// The greatest of each share of the samples, 0…255.
    private func peaks(_ samples: [Int16], count: Int) -> [Int] {
        (0..<count).map { index in
            let from = index * samples.count / count
            let to = max(from + 1, (index + 1) * samples.count / count)
            return samples[from..<min(to, samples.count)].map { Int($0.magnitude) }.max().map { $0 * 255 / 32_768 } ?? 0
        }
    }

    @Test(arguments: [8, 64, 100, 1024])
    func `peaks are those of the samples that are delivered`(buckets: Int) throws {
        let source = file("rising.wav")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "aevalsrc='t/10*sin(2*PI*3000*t)*(0.3+0.7*abs(sin(3*t)))':s=44100:d=10"], to: source)
        var profile = Profile.notification
        profile.audio?.waveform?.buckets = buckets
        profile.audio?.types = [.wav]
        profile.audio?.aim = 5_000_000
        let made = try [nil, TrimRequest(start: 3.3, duration: 4.1)].map { trim in
            try #require(try Clips.render(source, profile: profile, request: RenditionRequest(trim: trim)))
        }
        let heard = try samples(made.map { try $0.file(.main) })
        for (part, sound) in zip(made, heard) {
            let given = try #require(part.ending.placeholder?.peaks).map(Int.init)
            let expected = peaks(sound, count: buckets)
            #expect(given.count == buckets)
            let worst = zip(given, expected).map { abs($0 - $1) }.max() ?? 255
            #expect(worst <= 6, "\(worst)")
        }
    }

    @Test func `the waveform's picture has the shape of the sound, on nothing`() throws {
        let source = try tone("tone.wav", [])
        let made = try #require(try Clips.render(source))
        let picture = try made.file(.waveform)
        #expect(
            try Tool.text("identify", ["-format", "%m %w %h %[opaque]", picture.path]).lowercased()
                == "png 480 120 false")
        let alpha = [UInt8](
            try Tool.run("convert", [picture.path, "-alpha", "extract", "-depth", "8", "gray:-"]))
        func height(_ columns: Range<Int>) -> Int {
            columns.map { x in (0..<120).count { alpha[$0 * 480 + x] > 128 } }.max() ?? 0
        }
        // The tone fills the second quarter.
        #expect(height(130..<230) > 100)
        #expect(height(0..<110) < 8)
        #expect(height(250..<480) < 8)
    }

    @Test func `an hour stays under its cap`() throws {
        let source = file("hour.flac")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "anoisesrc=seed=1:d=240:r=16000:a=0.4", "-c:a", "flac"], to: source)
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
            _ = try Clips.probeResult(source)
            Issue.record("a file without sound was opened")
        } catch let error as AttachmentError {
            #expect(error.code == .corrupt, "\(error)")
        }
    }
}
