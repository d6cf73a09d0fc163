import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Undamaged clips of unusual form, and codings that are refused by name.
@Suite struct TakenClipTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private static let pictures = ["-f", "lavfi", "-i", "testsrc=size=176x144:rate=25:duration=2"]
    private static let audio = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=8000:duration=2"]

    @Test(arguments: [("a.ogv", MediaType.ogv), ("a.mkv", .matroska), ("silent.ogv", .ogv)])
    func `Theora is decoded`(name: String, type: MediaType) throws {
        let source = file(name)
        let audio = name.hasPrefix("silent") ? [] : Self.audio
        try Tool.ffmpeg(Self.pictures + audio + ["-c:v", "libtheora", "-q:v", "9", "-c:a", "libvorbis"], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.kind == .video && made.probeResult.type == type && made.ending.losses == [])
        let main = try made.file(.main)
        #expect(try Probe.of(main, frames: true).frames?.count == 50)
        #expect((try Probe.of(main).audio == nil) == audio.isEmpty)
        // What an independent decoder shows of both.
        let words = try Tool.text(
            "sh", ["-c", "ffmpeg -i \"$0\" -i \"$1\" -lavfi psnr -f null - 2>&1", source.path, main.path])
        let average = try #require(words.firstMatch(of: /average:([0-9.]+|inf)/)?.1)
        #expect(try #require(Double(average)) > 28, "\(average)")
    }

    @Test(arguments: [("a.wav", "libgsm_ms"), ("a.mov", "libgsm"), ("a.avi", "libgsm_ms")])
    func `GSM is decoded`(name: String, coding: String) throws {
        let source = file(name)
        try Tool.ffmpeg(Self.audio + ["-ac", "1", "-c:a", coding], to: source)
        let judged = try #require(try JudgedSound.all([source], rate: 8000)[name]).get()
        #expect(judged.made.ending.losses == [] && abs(judged.before.count - judged.after.count) < 1100)
        // The pitch is the same. AAC fills its last frame, of up to 1,024 samples.
        func crossings(_ samples: [Int16]) -> Int {
            let middle = samples[2000..<14_000]
            return zip(middle, middle.dropFirst()).count { ($0 < 0) != ($1 < 0) }
        }
        #expect(abs(crossings(judged.before) - crossings(judged.after)) < 20)
    }

    @Test(arguments: [8_000, 44_100, 48_000], 1...6)
    func `a WAV of a few samples is copied`(rate: Int, count: Int) throws {
        let source = file("short.wav")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "sine=frequency=2000:sample_rate=\(rate):duration=1", "-af",
                "atrim=start_sample=5:end_sample=\(5 + count)",
            ], to: source)
        let made = try #require(try Clips.render(source))
        let samples = try JudgedSound.samples([source, try made.file(.main)], rate: rate)
        #expect(samples[0].count == count && samples[1] == samples[0])
        #expect(made.ending.losses == [])
    }

    /// Takes the marks of keyframes from all blocks of a Matroska file.
    private static func unmark(_ file: URL) throws {
        try PictureJudge.run(
            """
            data = bytearray(open(args[0], 'rb').read())
            count = 0
            def number(at, marked):
                length = 9 - data[at].bit_length()
                value = int.from_bytes(data[at:at + length], 'big')
                return length, value if marked else value & (1 << 7 * length) - 1
            def walk(at, end):
                global count
                while at < end:
                    length, name = number(at, True)
                    more, size = number(at + length, False)
                    body = at + length + more
                    stop = end if size == (1 << 7 * more) - 1 else body + size
                    if name in (0x18538067, 0x1f43b675):
                        walk(body, stop)
                    elif name == 0xa3:
                        # A block's flags stand behind its track and its time.
                        data[body + number(body, True)[0] + 2] &= 0x7f
                        count += 1
                    at = stop
            walk(0, len(data))
            assert count > 20
            open(args[0], 'wb').write(data)
            """, [file.path])
    }

    @Test(arguments: ["opus", "aac"], [[], ["-live", "1"]])
    func `a Matroska file that marks no sound as a keyframe is taken`(coding: String, layout: [String]) throws {
        let source = file("unmarked.mka")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=40", "-c:a"]
                + [coding == "opus" ? "libopus" : coding] + layout, to: source)
        try Self.unmark(source)
        for (trim, length) in [(nil, 30), (TrimRequest(start: 20, duration: 3), 3)] as [(TrimRequest?, Double)] {
            let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
            #expect(made.ending.losses == [])
            let samples = try JudgedSound.samples([made.file(.main)], rate: 8000)[0]
            let audible = samples.count { $0.magnitude > 200 }
            #expect(abs(Double(samples.count) / 8000 - length) < 0.1 && audible > samples.count * 3 / 4)
        }
    }

    @Test(
        arguments: Sweep.of(
            [
                ("a.webm", ["libvpx"]), ("a.webm", ["libvpx-vp9"]), ("a.mkv", ["libvpx"]),
                ("a.mkv", ["libx264", "-bf", "2"]),
                ("a.mkv", ["mpeg4"]), ("a.mkv", ["libx265", "-x265-params", "log-level=none"]),
            ], every: 2), [[], ["-live", "1"]])
    func `a Matroska file that marks no frame as a keyframe is taken`(
        file: (name: String, coding: [String]), layout: [String]
    ) throws {
        let source = self.file(file.name)
        try Tool.ffmpeg(
            Self.pictures + Self.audio + ["-g", "10", "-c:v"] + file.coding
                + ["-c:a", file.name == "a.webm" ? "libopus" : "aac"] + layout, to: source)
        try Self.unmark(source)
        for (trim, frames) in [(nil, 50), (TrimRequest(start: 1, duration: 0.6), 15)] as [(TrimRequest?, Int)] {
            let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
            #expect(made.ending.losses == [] && made.report(.poster) != nil)
            let main = try made.file(.main)
            #expect(try Probe.of(main, frames: true).frames?.count == frames && Probe.of(main).audio != nil)
        }
    }

    private static let mp3s = [
        ["-b:a", "128k"], ["-b:a", "128k", "-write_xing", "0", "-reservoir", "0"], ["-b:a", "64k", "-ar", "22050"],
        ["-q:a", "4"], ["-abr", "1", "-b:a", "96k"],
    ]

    /// An MP3 of noise, and where its frames begin.
    private borrowing func noise(_ encoding: [String]) throws -> (bytes: Data, frames: [Int]) {
        let source = file("noise.mp3")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "anoisesrc=d=6:a=0.1:r=44100:seed=3", "-c:a", "libmp3lame"] + encoding
                + ["-id3v2_version", "0"], to: source)
        let places = try Tool.text(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pos", "-of", "csv=p=0", source.path])
        return (
            try Data(contentsOf: source),
            places.split(separator: "\n").compactMap { Int($0.trimmingCharacters(in: [","])) }
        )
    }

    @Test(arguments: mp3s, [1, 7, 90, 300, 1000, 5000])
    func `junk between MP3 frames is passed over`(encoding: [String], count: Int) throws {
        let (whole, frames) = try noise(encoding)
        var generator = SeededGenerator(seed: UInt64(count))
        var data = whole
        for frame in [frames[150], frames[60], frames[20]] {
            let junk = (0..<count).map { _ in UInt8.random(in: 1...0xfe, using: &generator) }
            data.insert(contentsOf: junk, at: frame)
        }
        let source = file("junk.mp3")
        try data.write(to: source)
        let made = try #require(try Clips.render(source, profile: .archive))
        #expect(made.ending.losses == [])
        let alone = try #require(try Clips.render(file("noise.mp3"), profile: .archive))
        // Another decoder judges both.
        let rate = encoding.contains("22050") ? 22_050 : 44_100
        let samples = try JudgedSound.samples([alone.file(.main), made.file(.main)], rate: rate)
        // A header that states another size is not believed: what pads the last frame is heard as well.
        #expect((0..<1152).contains(samples[1].count - samples[0].count))
        #expect(samples[0].elementsEqual(samples[1].prefix(samples[0].count)), "\(made.report(.main)?.note ?? "")")
    }

    @Test(arguments: mp3s, [1, 3])
    func `MP3 frames without their headers are missing`(encoding: [String], count: Int) throws {
        let (whole, frames) = try noise(encoding)
        var data = whole
        for frame in frames[100..<100 + count] { data.replaceSubrange(frame..<frame + 4, with: [1, 2, 3, 4]) }
        let source = file("headless.mp3")
        try data.write(to: source)
        var profile = Profile.archive
        profile.damaged = .salvage
        let made = try #require(try Clips.render(source, profile: profile))
        // A single frame is told, and is no loss.
        #expect(count == 1 || made.ending.losses.count == 1)
        let finding = try #require((made.ending.losses + made.ending.evidence).first { $0.code == .notDecoded })
        let missing = try #require(finding.missing)
        let length = encoding.contains("22050") ? 576 / 22_050 : 1152 / 44_100.0
        // Frames behind may need their data.
        #expect(missing > length * Double(count) - 0.01 && missing < length * Double(count + 5), "\(finding)")
    }

    @Test(arguments: ["ts", "mpg"])
    func `a large stream lasts as long as its parts, wherever its clock begins anew`(suffix: String) throws {
        let parts = [file("a.\(suffix)"), file("b.\(suffix)"), file("late.\(suffix)")]
        for (part, options) in zip(parts, [["-t", "2"], ["-t", "1.2"], ["-t", "1.2", "-output_ts_offset", "3600"]]) {
            try Tool.ffmpeg(
                Self.pictures + ["-c:v", "mpeg2video", "-bf", "0"] + options
                    + (suffix == "ts" ? [] : ["-f", "vob"]), to: part)
        }
        let data = try parts.map { try Data(contentsOf: $0) }
        // Packets without content.
        let padding =
            suffix == "ts"
            ? Data([0x47, 0x1f, 0xff, 0x10] + [UInt8](repeating: 0xff, count: 184))
            : Data([0, 0, 1, 0xbe, 0xff, 0xfa] + [UInt8](repeating: 0xff, count: 0xfffa))
        var long = Data()
        while long.count < 65 << 20 { long += padding }
        for (contents, seconds) in [
            ([data[0], long, data[1]], 3.2), ([data[0], long, data[2]], 3.2), ([data[2], long, data[0]], 3.2),
            ([data[0], long], 2),
        ] {
            let source = file("large.\(suffix)")
            try contents.reduce(Data(), +).write(to: source)
            let found = try #require(try Clips.probeResult(source))
            #expect(abs(try #require(found.duration) - seconds) < 0.1, "\(found)")
        }
    }

    @Test(arguments: [1, 2, 15])
    func `FLAC in blocks of a few samples is decoded`(block: Int) throws {
        let source = file("blocks.flac")
        try PictureJudge.run(
            """
            import math, struct
            def crc(data, polynomial, bits):
                value = 0
                for byte in data:
                    value ^= byte << bits - 8
                    for _ in range(8):
                        value = (value << 1 ^ (polynomial if value >> bits - 1 else 0)) & (1 << bits) - 1
                return value
            def coded(number):
                if number < 0x80: return bytes([number])
                if number < 0x800: return bytes([0xc0 | number >> 6, 0x80 | number & 63])
                return bytes([0xe0 | number >> 12, 0x80 | number >> 6 & 63, 0x80 | number & 63])
            block, count = int(args[1]), 4000
            samples = [int(8000 * math.sin(n * 0.3)) for n in range(count)]
            data = b'fLaC' + bytes([0x80, 0, 0, 34]) + struct.pack('>HH', 16, 16) + bytes(6)
            data += (8000 << 44 | 15 << 36 | count).to_bytes(8, 'big') + bytes(16)
            for n, start in enumerate(range(0, count, block)):
                part = samples[start:start + block]
                head = bytes([0xff, 0xf8, 0x64, 0x08]) + coded(n) + bytes([len(part) - 1])
                head += bytes([crc(head, 0x07, 8)])
                # As they are.
                frame = head + b'\\2' + b''.join(struct.pack('>h', sample) for sample in part)
                data += frame + struct.pack('>H', crc(frame, 0x8005, 16))
            open(args[0], 'wb').write(data)
            """, [source.path, "\(block)"])
        let judged = try #require(try JudgedSound.all([source], rate: 8000)["blocks.flac"]).get()
        #expect(judged.before.count == 4000 && judged.made.ending.losses == [])
        #expect(abs(try #require(judged.made.report(.main)?.duration) - 0.5) < 0.01)
        #expect(judged.after.count { $0.magnitude > 2000 } > 2000)
    }

    @Test(arguments: [
        ("IV31", "Intel Indeo 3"), ("IV41", "Intel Indeo Video Interactive 4"),
        ("IV50", "Intel Indeo Video Interactive 5"),
    ])
    func `Indeo is refused by name`(tag: String, coding: String) throws {
        let source = file("a.avi")
        try Tool.ffmpeg(Self.pictures + ["-c:v", "cinepak"], to: source)
        var data = try Data(contentsOf: source)
        while let place = data.range(of: Data("cvid".utf8)) { data.replaceSubrange(place, with: Data(tag.utf8)) }
        try data.write(to: source)
        let error = try Rendered.refusal(of: source, in: directory.url)
        #expect(
            error
                == .unsupportedFeature(
                    reason: "its pictures are \(coding), which is not supported", advice: "Convert it to H.264."))
    }

    @Test(arguments: ["a.wav", "a.avi", "a.mov"], [("G.723.1", UInt8(0x42)), ("Voxware MetaSound", 0x75)])
    func `G.723.1 and MetaSound are refused by name`(name: String, coding: (name: String, tag: UInt8)) throws {
        let source = file(name)
        try Tool.ffmpeg(Self.audio + ["-ac", "1", "-c:a", "g723_1", "-b:a", "6300"], to: source)
        var data = try Data(contentsOf: source)
        // QuickTime has the tag in a name of four bytes.
        let (mark, offset) = name.hasSuffix("wav") ? ("fmt ", 8) : name.hasSuffix("avi") ? ("strf", 8) : ("ms\0", 3)
        let place = try #require(data.range(of: Data(mark.utf8), options: name.hasSuffix("mov") ? [] : .backwards))
        data[place.lowerBound + offset] = coding.tag
        try data.write(to: source)
        let error = try Rendered.refusal(of: source, in: directory.url)
        #expect(
            error
                == .unsupportedFeature(
                    reason: "its sound is \(coding.name), which is not supported", advice: "Convert it to AAC."))
    }

    /// Codings by container, with one frame for each `step` of 40 ms.
    private static let sparse = [
        ("mkv", "libx264 -preset ultrafast"), ("mkv", "libx265 -preset ultrafast -x265-params log-level=none:pools=1"),
        ("mp4", "libx264 -preset veryfast -bf 2 -g 2"), ("webm", "libvpx -deadline realtime"), ("mov", "mpeg4"),
        ("ts", "libx264 -preset ultrafast"), ("ts", "libx265 -preset ultrafast -x265-params log-level=none:pools=1"),
        ("ts", "mpeg2video"), ("avi", "mpeg4"),
    ]

    @Test(arguments: sparse, [(50, true), (100, false), (100, true), (200, true)])
    func `a clip of few frames is taken with all of them`(
        kind: (suffix: String, coding: String), pace: (step: Int, hasAudio: Bool)
    ) throws {
        let (step, hasAudio) = pace
        let source = file("a.\(kind.suffix)")
        let audio = kind.suffix == "webm" ? "libopus" : kind.suffix == "avi" ? "mp3" : "aac"
        let seconds = step * 4 / 25
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=\(seconds)"]
                + (hasAudio ? ["-f", "lavfi", "-i", "sine=duration=\(seconds)", "-c:a", audio] : [])
                + ["-vf", "select='not(mod(n,\(step)))'", "-vsync", "vfr", "-pix_fmt", "yuv420p", "-c:v"]
                + kind.coding.split(separator: " ").map(String.init), to: source)
        var profile = Profile.notification
        profile.video?.maximumDuration = 60
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(made.probeResult.kind == .video && made.ending.losses.isEmpty, "\(made.ending.losses)")
        #expect(!made.ending.diagnosis.evidence.contains { $0.part == .video }, "\(made.ending.diagnosis.evidence)")
        func times(_ url: URL) throws -> [Double] {
            let told = try Tool.text(
                "ffprobe",
                [
                    "-v", "error", "-select_streams", "v", "-show_entries", "frame=best_effort_timestamp_time", "-of",
                    "csv=p=0", url.path,
                ])
            return told.split(whereSeparator: { !"0123456789.-".contains($0) }).compactMap { Double($0) }.sorted()
        }
        let (given, shown) = (try times(source), try times(made.file(.main)))
        #expect(given.count >= 4 || kind.suffix == "mov")
        let moved = zip(given, shown).map { $0 - $1 - (given[0] - shown[0]) }
        #expect(shown.count == given.count && moved.allSatisfy { abs($0) < 0.05 }, "\(given) and \(shown)")
    }
}
