import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Clips as people's collections hold them: cut off, with junk inside, from old cameras.
@Suite struct FoundClipTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private borrowing func audio(_ name: String, _ encoding: [String]) throws -> URL {
        let output = file(name)
        try Tool.ffmpeg(["-f", "lavfi", "-i", "anoisesrc=d=4:r=44100:a=0.3:seed=1"] + encoding, to: output)
        return output
    }

    private borrowing func counted(_ name: String, seconds: Double, _ encoding: [String]) throws -> URL {
        try BrightnessClip.make(file(name), seconds: seconds, encoding)
    }

    @Test(
        arguments: [
            ("a.aac", ["-c:a", "aac"], 150), ("b.m4a", ["-c:a", "aac", "-movflags", "+faststart"], 150),
            ("c.mp3", ["-c:a", "libmp3lame"], 150), ("d.mp3", ["-c:a", "libmp3lame", "-write_xing", "0"], 300),
        ])
    func `a copied sound does without the packet that the end of its file cuts off`(
        name: String, encoding: [String], cut: Int
    ) throws {
        let source = try audio(name, encoding)
        try Data(contentsOf: source).dropLast(cut).write(to: source)
        let made = try #require(try Clips.render(source))
        let note = try #require(made.report(.main)?.note)
        #expect(note.hasPrefix("copied"), "\(note)")
        let main = try #require(made.main)
        #expect(try Probe.decodingErrors(main) == "")
        #expect(abs(try Probe.of(main).duration - 4) < 0.15)
    }

    @Test func `a damaged last packet is named in the report`() throws {
        let source = try audio("a.aac", ["-c:a", "aac"])
        try Data(contentsOf: source).dropLast(150).write(to: source)
        #expect(try Probe.decodingErrors(source) != "")
        let note = try #require(try Clips.render(source)?.report(.main)?.note)
        #expect(note.hasSuffix("; 1 damaged at its end left out"), "\(note)")
    }

    @Test(arguments: [("a.aac", ["-c:a", "aac"]), ("b.mp3", ["-c:a", "libmp3lame", "-b:a", "128k"])])
    func `a sound with damage inside is encoded, for a copy would keep it`(name: String, encoding: [String]) throws {
        let source = try audio(name, encoding)
        var data = try Data(contentsOf: source)
        let middle = data.count / 2
        for index in middle..<middle + 2500 { data[index] = UInt8(truncatingIfNeeded: index &* index >> 3) }
        try data.write(to: source)
        #expect(try Probe.decodingErrors(source) != "")
        for waveform in [true, false] {
            var profile = Profile.notification
            if !waveform { profile.audio?.waveform = nil }
            profile.damaged = .salvage
            let made = try #require(try Clips.render(source, profile: profile))
            // FFmpeg passes over damaged headers of AAC without a word: what is left to tell is a frame, and no loss.
            let told = name == "a.aac" ? made.ending.diagnosis.evidence : made.ending.losses
            let finding = try #require(told.first { $0.part == .sound }, "\(made.ending.diagnosis)")
            #expect(told.count == 1 && finding.text.hasSuffix(" s of its sound: Satchel could not decode it"))
            let note = try #require(made.report(.main)?.note)
            #expect(note.contains("of its packets could not be decoded"), "\(note)")
            let main = try #require(made.main)
            #expect(try Probe.decodingErrors(main) == "")
            // Without a container's times what was damaged is missing.
            #expect(abs(try Probe.of(main).duration - 4) < 0.4)
        }
    }

    @Test func `damage after the part doesn't keep it from being copied`() throws {
        let source = try audio("a.mp3", ["-c:a", "libmp3lame", "-b:a", "128k"])
        var data = try Data(contentsOf: source)
        let late = data.count * 3 / 4
        for index in late..<late + 2500 { data[index] = UInt8(truncatingIfNeeded: index &* index >> 3) }
        try data.write(to: source)
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 0, duration: 2))))
        #expect(made.ending.trim?.method == .copy)
        #expect(try Probe.decodingErrors(try #require(made.main)) == "")
    }

    /// Whether an MP3's part is taken for whole by its heads, and what decoding it comes upon; nil for no clip.
    private static func damage(
        _ url: URL, _ trim: TrimRequest?
    ) throws -> (isPlainlyWhole: Bool, decoded: AudioDamage?)? {
        Rendered.turn.lock()
        defer { Rendered.turn.unlock() }
        // What other tests' files made FFmpeg log says nothing about this one.
        FFmpegLibraries.clearLog()
        return try withDescriptor(url) { descriptor in
            guard let probed = try ProbedClip.open(descriptor, sniffed: "audio/mpeg", limits: .service),
                let audio = probed.facts.audio
            else { return nil }
            let part = try ClipPart(of: probed.facts.duration, request: trim, maximum: nil, whenLonger: .trim)
            var reader = WaveformReader(facts: probed.facts, audio: audio, part: part, policy: nil)
            let isPlainlyWhole = try reader.isPlainlyWhole(probed.demuxer)
            reader.policy = WaveformPolicy.defaults
            let listened = try reader.listen(probed.demuxer)
            return (isPlainlyWhole, listened.waveform == nil ? nil : listened.damage)
        }
    }

    @Test(
        arguments: [
            ["-b:a", "128k", "-ac", "2"], ["-q:a", "4", "-ac", "1", "-ar", "22050"],
            ["-b:a", "320k", "-ac", "2", "-reservoir", "0"],
        ], [nil, TrimRequest(start: 1.3, duration: 2)])
    func `of an MP3 that is whole by its heads no decoder complains`(
        encoding: [String], trim: TrimRequest?
    ) throws {
        let source = try audio("source.mp3", ["-c:a", "libmp3lame"] + encoding)
        let whole = try #require(try Self.damage(source, trim))
        #expect(whole.isPlainlyWhole && whole.decoded == AudioDamage())
        let data = try Data(contentsOf: source)
        var generator = SeededGenerator(seed: 7)
        var found = 0
        for round in 0..<60 {
            var damaged = data
            let start = Int.random(in: 3_000..<data.count - 3_000, using: &generator)
            // A byte, a run of them, or a gap.
            let count = [1, 40, 2_500][round % 3]
            for index in start..<start + count { damaged[index] = .random(in: 0...255, using: &generator) }
            if round % 4 == 3 { damaged.removeSubrange(start..<start + count) }
            let file = file("damaged.mp3")
            try damaged.write(to: file)
            guard let seen = try Self.damage(file, trim) else { continue }
            if seen.decoded != AudioDamage() {
                found += 1
                #expect(!seen.isPlainlyWhole, "round \(round)")
            }
        }
        #expect(found > 5)
    }

    @Test func `packets count as damaged inside only when a good one follows`() {
        var damage = AudioDamage()
        for (time, isDamaged) in [(0, false), (1, true), (2, true)] as [(Int64, Bool)] {
            damage.add(time: time, isDamaged: isDamaged)
        }
        #expect(damage.inside == 0)
        #expect(damage.atEnd == 2)
        damage.add(time: 3, isDamaged: false)
        #expect(damage.inside == 2)
        #expect(damage.atEnd == 0)
        damage.add(time: 4, isDamaged: true)
        #expect(damage.inside == 2)
        #expect(damage.atEnd == 1)
    }

    @Test(arguments: [0.4, 0.6, 0.8, 0.9])
    func `what is delivered of a video that is cut off decodes without complaint`(share: Double) throws {
        let source = try counted(
            "source.mp4", seconds: 4, ["-c:v", "libx264", "-g", "25", "-c:a", "aac", "-movflags", "+faststart"])
        let data = try Data(contentsOf: source)
        try data.prefix(Int(Double(data.count) * share)).write(to: source)
        var profile = Profile.notification
        profile.damaged = .salvage
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(made.ending.losses.count == 1)
        #expect(try Probe.decodingErrors(try #require(made.main)) == "")
    }

    @Test(arguments: ["mpeg1video", "mpeg2video"])
    func `pictures without a container are a video`(coding: String) throws {
        let source = try counted("source.mpg", seconds: 3, ["-map", "0", "-c:v", coding, "-bf", "2", "-f", coding])
        #expect(try Clips.sniff(source) == "video/mpeg")
        let whole = try #require(try Clips.render(source))
        #expect(whole.probeResult.kind == .video)
        #expect(whole.probeResult.type == .mpeg)
        #expect(abs(try #require(whole.probeResult.duration) - 3) < 0.05)
        let main = try #require(whole.main)
        let shown = try BrightnessClip.counts(of: main)
        #expect(shown == (0..<75).map { $0 % 40 })
        #expect(try Probe.decodingErrors(main) == "")

        let cut = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 1, duration: 1))))
        let counts = try BrightnessClip.counts(of: try #require(cut.main))
        #expect(abs(counts.count - 25) <= 1)
        #expect(abs((counts.first ?? -9) - 25) <= 1)
    }

    @Test func `one picture without a container is a video of one picture`() throws {
        let source = file("source.mpg")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25", "-frames:v", "1", "-f", "mpeg2video"], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.reports.map(\.role) == [.thumbnail, .poster, .main])
        #expect(try BrightnessClip.counts(of: try #require(made.main)).count == 1)
    }

    @Test(
        arguments: [
            ["-c:v", "msmpeg4v2", "-c:a", "adpcm_ms"], ["-c:v", "msmpeg4", "-c:a", "libmp3lame"],
            ["-c:v", "rawvideo", "-c:a", "pcm_u8"], ["-c:v", "mjpeg", "-c:a", "adpcm_ima_wav"],
        ])
    func `the AVIs of old cameras are videos with sound`(encoding: [String]) throws {
        let source = try counted("source.avi", seconds: 2, encoding)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.type == .avi)
        let main = try #require(made.main)
        let probe = try Probe.of(main)
        #expect(probe.video?.codecName == "h264")
        #expect(probe.audio?.codecName == "aac")
        #expect(abs(probe.duration - 2) < 0.05)
        #expect(try BrightnessClip.counts(of: main).count == 50)
    }

    @Test func `a FLAC of 32 bits is told from a damaged one`() throws {
        let source = file("deep.flac")
        try Data(FLAC.of32Bits(frames: 20)).write(to: source)
        #expect(try Clips.sniff(source) == "audio/flac")
        // FFmpeg 7 decodes it.
        if try Probe.decodingErrors(source) == "" {
            #expect(try Clips.probeResult(source) != nil)
        } else {
            #expect(
                throws: AttachmentError.unsupportedFeature(
                    reason: "its sound is FLAC with 32 bits a sample, which is not supported",
                    advice: "Convert it to 24 bits.")
            ) {
                _ = try Clips.probeResult(source)
            }
        }
        let cut = file("cut.flac")
        try Data(FLAC.header(bits: 16, samples: 44100)).write(to: cut)
        #expect(throws: AttachmentError.unreadable(Finding(.endsBefore, named: "first audio packet"))) {
            _ = try Clips.probeResult(cut)
        }
    }

    @Test(arguments: [nil, TrimRequest(start: 0.3, duration: 3)])
    func `pictures at uneven times are decoded in a strict order`(trim: TrimRequest?) throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=600:duration=5", "-vf",
                "select='not(mod(floor(n/7)*floor(n/7),23))*not(mod(n,7))+eq(n,0)'", "-vsync", "vfr", "-pix_fmt",
                "yuv420p", "-c:v", "mpeg4", "-video_track_timescale", "600",
            ], to: source)
        let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
        let main = try #require(made.main)
        let times = try Tool.text(
            "ffprobe",
            ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts,dts", "-of", "csv=p=0", main.path]
        ).split(separator: "\n").map { $0.split(separator: ",").compactMap { Int($0) } }
        #expect(times.count > 10)
        #expect(times.allSatisfy { $0.count == 2 && $0[0] >= $0[1] })
        #expect(Set(times.map { $0[0] }).count == times.count)
        for (before, after) in zip(times, times.dropFirst()) { #expect(before[1] < after[1]) }
    }
}

/// Writes what this machine's encoders don't.
enum FLAC {
    /// A mono FLAC at 44.1 kHz whose frames each hold 4,096 equal samples of 32 bits.
    static func of32Bits(frames: Int) -> [UInt8] {
        var bytes = header(bits: 32, samples: frames * 4096)
        for frame in 0..<frames {
            var frame: [UInt8] = [0xff, 0xf8, 0xc9, 0x0e, UInt8(frame % 128)]
            frame.append(UInt8(checksum(frame, polynomial: 0x07, width: 8)))
            frame += [0, 0x12, 0x34, 0x56, 0x78]
            let end = checksum(frame, polynomial: 0x8005, width: 16)
            bytes += frame + [UInt8(end >> 8), UInt8(end & 0xff)]
        }
        return bytes
    }

    /// All that comes before the frames.
    static func header(bits: Int, samples: Int) -> [UInt8] {
        let start = Array("fLaC".utf8) + [0x80, 0, 0, 34, 0x10, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]
        // 20 bits of rate, 3 of channels less one, 5 of sample size less one, 36 of samples.
        let packed = UInt64(44100) << 44 | UInt64(bits - 1) << 36 | UInt64(samples)
        return start + (0..<8).map { UInt8(truncatingIfNeeded: packed >> (56 - 8 * $0)) }
            + [UInt8](repeating: 0, count: 16)
    }

    private static func checksum(_ bytes: [UInt8], polynomial: UInt32, width: UInt32) -> UInt32 {
        bytes.reduce(0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte) << (width - 8)) { sum, _ in
                (sum << 1 ^ (sum >> (width - 1) & 1 == 1 ? polynomial : 0)) & (1 << width - 1)
            }
        }
    }
}
