import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Which codings of sound are taken, which of several tracks is kept, and what is said of those that can't be decoded;
/// judged by a full decode.
@Suite struct AudioCodecTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// A tone that sounds from 1 s to 2 s of 3, and silence around it.
    private static func tone(rate: Int, pitch: Int = 440) -> [String] {
        ["-f", "lavfi", "-i", "aevalsrc='if(between(t,1,2),0.8*sin(2*PI*\(pitch)*t),0)':s=\(rate):d=3"]
    }

    private static let pictures = ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=3"]
    private static let plain = ["-pix_fmt", "yuv420p", "-c:v", "libx264"]

    /// Samples a second that `heard` looks at.
    private static let rate = 16_000

    /// When the tone begins and ends.
    private func heard(_ url: URL) throws -> (from: Double, to: Double) {
        try heard(JudgedSound.samples([url], rate: Self.rate)[0])
    }

    private func heard(_ samples: [Int16]) -> (from: Double, to: Double) {
        let from = samples.firstIndex { abs(Int($0)) > 6000 } ?? -Self.rate
        let to = samples.lastIndex { abs(Int($0)) > 6000 } ?? -Self.rate
        return (Double(from) / Double(Self.rate), Double(to) / Double(Self.rate))
    }

    /// Hertz of the tone, by how often it crosses zero.
    private func pitch(_ url: URL) throws -> Double {
        let samples = try JudgedSound.samples([url], rate: Self.rate)[0]
        let middle = samples[Self.rate * 6 / 5..<Self.rate * 9 / 5]
        let crossings = zip(middle, middle.dropFirst()).count { ($0 < 0) != ($1 < 0) }
        return Double(crossings) / 2 / 0.6
    }

    private static let experimental = ["-strict", "experimental"]

    static let codings: [(name: String, coding: String, encoding: [String])] = [
        ("a.mka", "dts", ["-c:a", "dca"] + experimental), ("b.ts", "dts", ["-c:a", "dca"] + experimental),
        ("c.mp4", "dts", ["-c:a", "dca"] + experimental), ("d.wav", "dts", ["-c:a", "dca"] + experimental),
        ("e.mka", "truehd", ["-c:a", "truehd"] + experimental), ("f.ts", "truehd", ["-c:a", "truehd"] + experimental),
        ("g.mka", "mlp", ["-c:a", "mlp"] + experimental), ("h.wma", "wmav2", ["-c:a", "wmav2"]),
        ("i.wma", "wmav1", ["-c:a", "wmav1"]), ("j.avi", "wmav2", ["-c:a", "wmav2"]),
        ("k.spx", "speex", ["-ar", "16000", "-c:a", "libspeex"]),
        ("l.mka", "speex", ["-ar", "32000", "-c:a", "libspeex"]),
        ("m.spx", "speex", ["-ar", "8000", "-c:a", "libspeex"]), ("n.mp2", "mp2", ["-c:a", "mp2"]),
        ("o.mpg", "mp2", ["-c:a", "mp2", "-f", "mpeg"]),
        ("p.ts", "aac_latm", ["-c:a", "aac", "-mpegts_flags", "latm"]),
    ]

    /// At once; one by one where that fails.
    private static let sounds: Void = {
        try? Tool.prepare(tone(rate: 48_000), codings.map { ($0.encoding, $0.name) })
    }()

    private static let soundedFilms: Void = {
        try? Tool.prepare(
            pictures + tone(rate: 48_000), films.map { (plain + $0.encoding + experimental, $0.name) })
    }()

    private static let judgedSounds = Result {
        _ = sounds
        let directory = try SharedDirectory().url
        let sources = try codings.map { name, _, encoding in
            let source = directory.appending(path: name)
            try Tool.ffmpeg(tone(rate: 48_000) + encoding, to: source)
            return source
        }
        return try JudgedSound.all(sources, rate: rate, wantsComplaints: true)
    }

    private static let judgedFilms = Result {
        _ = soundedFilms
        let directory = try SharedDirectory().url
        let sources = try films.map { name, encoding in
            let source = directory.appending(path: name)
            try Tool.ffmpeg(pictures + tone(rate: 48_000) + plain + encoding + experimental, to: source)
            return source
        }
        return try JudgedSound.all(sources, rate: rate, wantsComplaints: true)
    }

    @Test(arguments: codings.indices)
    func `sound of each coding that people send is decoded`(index: Int) throws {
        let (name, coding, _) = Self.codings[index]
        let judged = try #require(try Self.judgedSounds.get()[name]).get()
        let made = judged.made
        #expect(try Probe.of(judged.source).audio?.codecName == coding)
        let original = heard(judged.before)
        #expect(made.probeResult.kind == .audio)
        #expect(made.ending.losses == [])
        let (from, to) = heard(judged.after)
        // The judge drops what the first packet of Windows Media only prepares, 43 ms.
        #expect(abs(from - original.from) < 0.06 || abs(from - 1) < 0.06, "\(from), not \(original.from)")
        #expect(abs(to - original.to) < 0.06 || abs(to - 2) < 0.06, "\(to), not \(original.to)")
        #expect(judged.complaints == "")
    }

    static let films: [(name: String, encoding: [String])] = [
        ("a.mkv", ["-c:a", "dca"]), ("b.mkv", ["-c:a", "truehd"]), ("c.ts", ["-c:a", "dca"]),
        ("d.ts", ["-c:a", "aac", "-mpegts_flags", "latm"]), ("e.mp4", ["-c:a", "dca"]),
        ("f.avi", ["-c:a", "wmav2"]),
        ("g.mkv", ["-ar", "16000", "-c:a", "libspeex"]), ("h.mkv", ["-c:a", "mp2"]), ("i.ts", ["-c:a", "truehd"]),
    ]

    @Test(arguments: films)
    func `a video keeps its sound, whatever it is coded as`(name: String, encoding: [String]) throws {
        let judged = try #require(try Self.judgedFilms.get()[name]).get()
        let made = judged.made
        #expect(made.ending.losses == [] && made.ending.changes == [])
        #expect(try made.audio().codecName == "aac")
        let (from, to) = heard(judged.after)
        #expect(abs(from - 1) < 0.06 && abs(to - 2) < 0.06, "\(from) to \(to)")
        #expect(judged.complaints == "")
    }

    @Test func `frames of MPEG layer 1 are sound`() throws {
        // At 32 kHz 12 samples of 32 bands are 12 ms: 250 frames last 3 s, and the middle ones sound.
        let source = file("a.mp1")
        try Data((0..<250).flatMap { LayerOne.frame(audioTracks: (84..<167).contains($0)) }).write(to: source)
        #expect(try Probe.of(source).audio?.codecName == "mp1")
        let original = try heard(source)
        #expect(abs(original.from - 1) < 0.03 && abs(original.to - 2) < 0.03)
        let made = try #require(try Clips.render(source))
        let (from, to) = try heard(try made.file(.main))
        #expect(abs(from - original.from) < 0.06 && abs(to - original.to) < 0.06, "\(from) to \(to)")
    }

    static let windowsFilms = [("a.wmv", "wmv1"), ("b.wmv", "wmv2")]
    private static let windowsInput = pictures + tone(rate: 44_100)
    private static let madeWindowsFilms: Void = {
        try? Tool.prepare(windowsInput, windowsFilms.map { (["-c:v", $0.1, "-c:a", "wmav2"], $0.0) })
    }()

    @Test(arguments: windowsFilms)
    func `a video of Windows Media is taken with its sound`(name: String, coding: String) throws {
        let source = file(name)
        _ = Self.madeWindowsFilms
        try Tool.ffmpeg(Self.windowsInput + ["-c:v", coding, "-c:a", "wmav2"], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.kind == .video && made.probeResult.type == .wmv)
        let probe = try Probe.of(made.file(.main), frames: true)
        #expect(abs((probe.frames ?? []).count - 75) <= 1)
        #expect(made.ending.losses == [])
        let (from, to) = try heard(try made.file(.main))
        #expect(abs(from - 1) < 0.08 && abs(to - 2) < 0.08, "\(from) to \(to)")
    }

    // MARK: Several tracks

    private static let pitches = [400, 800, 1600]
    private static let trackInput = pictures + pitches.flatMap { tone(rate: 48_000, pitch: $0) }
    private static let madeTracks: Void = {
        try? Tool.prepare(trackInput, pitches.indices.map { (tracks(default: $0), "tracks.mkv") })
    }()

    /// One for each pitch, of a language of its own.
    private static func tracks(default index: Int) -> [String] {
        ["-map", "0", "-map", "1", "-map", "2", "-map", "3"] + plain + ["-c:a", "aac"]
            + ["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu", "-metadata:s:a:2", "language=fra"]
            + pitches.indices.flatMap { ["-disposition:a:\($0)", $0 == index ? "default" : "0"] }
    }

    @Test(arguments: [0, 1, 2])
    func `of several sound tracks the container's default is kept, and the record says which`(index: Int) throws {
        let source = file("tracks.mkv")
        _ = Self.madeTracks
        try Tool.ffmpeg(Self.trackInput + Self.tracks(default: index), to: source)
        let made = try #require(try Clips.render(source))
        #expect(abs(try pitch(try made.file(.main)) - Double(Self.pitches[index])) < 20)
        let language = ["eng", "deu", "fra"][index]
        #expect(
            made.ending.omissions == [
                Finding(.oneTaken, .soundTracks, missing: 2 - index, of: 3, named: "\(language), AAC, mono")
            ])
        #expect(made.ending.losses == [])
    }

    @Test func `where the default track can't be decoded the first that can is kept, and the loss is told`() throws {
        let source = file("tracks.mkv")
        try Tool.ffmpeg(
            Self.pictures + Self.tone(rate: 48_000, pitch: 400) + Self.tone(rate: 48_000, pitch: 800)
                + ["-map", "0", "-map", "1", "-map", "2"] + Self.plain
                + ["-c:a:0", "wavpack", "-c:a:1", "aac", "-disposition:a:0", "default", "-disposition:a:1", "0"],
            to: source)
        let made = try #require(try Clips.render(source))
        #expect(abs(try pitch(try made.file(.main)) - 800) < 20)
        #expect(
            made.ending.losses == [
                Finding(.notSupported, .soundTracks, missing: 1, of: 2, named: "WavPack")
            ])
        #expect(made.ending.omissions == [Finding(.oneTaken, .soundTracks, missing: 0, of: 2, named: "AAC, mono")])
    }

    @Test func `a video whose sound can't be decoded is delivered without, and the loss is told`() throws {
        let source = file("silent.mkv")
        try Tool.ffmpeg(Self.pictures + Self.tone(rate: 48_000) + Self.plain + ["-c:a", "wavpack"], to: source)
        let made = try #require(try Clips.render(source))
        #expect(try Probe.of(made.file(.main)).audio == nil)
        #expect(made.ending.losses == [Finding(.notSupported, .soundTracks, named: "WavPack")])
    }

    @Test func `tracks are chosen by what can be decoded, then by the container's mark, then in their order`() {
        var generator = SeededGenerator()
        let languages: [String?] = ["eng", nil, "und", "\u{1b}[2J"]
        for _ in 0..<2000 {
            let tracks = (0..<Int.random(in: 0...6, using: &generator)).map { index in
                AudioTrack(
                    track: Diagnosis.Track(
                        .audio, coding: ["AAC", "WavPack"][index % 2],
                        language: languages.randomElement(using: &generator) ?? nil),
                    isDefault: .random(using: &generator),
                    isDecodable: .random(using: &generator))
            }
            let choice = AudioChoice(of: tracks)
            let decodable = tracks.indices.filter { tracks[$0].isDecodable }
            #expect(choice.kept == decodable.first { tracks[$0].isDefault } ?? decodable.first)
            let wanted = tracks.firstIndex { $0.isDefault } ?? tracks.indices.first
            #expect((choice.loss == nil) == (wanted.map { tracks[$0].isDecodable } ?? true))
            #expect((choice.omission != nil) == (choice.kept != nil && tracks.count > 1))
            let words = [choice.omission?.text, choice.loss?.text].compactMap(\.self)
            let foreign = ["(und", " und", "\u{1b}"]
            #expect(words.allSatisfy { text in text.count <= 200 && !foreign.contains { text.contains($0) } })
        }
    }

    @Test(arguments: Sweep.of([9, 20, 60], every: 2))
    func `a film may carry more tracks and subtitles than are decoded`(count: Int) throws {
        let subtitles = file("text.srt")
        try Data("1\n00:00:00,000 --> 00:00:01,000\nWords\n".utf8).write(to: subtitles)
        let source = file("film.mkv")
        try Tool.ffmpeg(
            Self.pictures + Self.tone(rate: 48_000) + ["-i", subtitles.path]
                + (0..<count).flatMap { ["-map", $0 % 3 == 0 ? "1" : "2"] } + ["-map", "0"] + Self.plain
                + ["-c:a", "aac", "-c:s", "srt"], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.kind == .video)
        let (from, to) = try heard(try made.file(.main))
        #expect(abs(from - 1) < 0.06 && abs(to - 2) < 0.06)
        #expect(made.ending.omissions.first?.phrase == "sound track 1 of \((count + 2) / 3)")
    }
}

/// Writes MPEG audio of layer 1, for which FFmpeg has no encoder: ISO/IEC 11172-3, 2.4.1.5.
private enum LayerOne {
    /// 384 samples at 32 kHz, mono, 128 kbit/s: the second of 32 bands alternates, or all are silent.
    static func frame(audioTracks: Bool) -> [UInt8] {
        var bits = BitWriter()
        bits.write(0xffff_48c0, count: 32)
        // How many bits a sample has, less one, of each band; then a scale factor of those that have any.
        for band in 0..<32 { bits.write(audioTracks && band == 1 ? 7 : 0, count: 4) }
        if audioTracks {
            bits.write(3, count: 6)
            for sample in 0..<12 { bits.write(sample % 2 == 0 ? 0xf0 : 0x10, count: 8) }
        }
        // 12 × 128,000 ÷ 32,000 words of four bytes.
        return bits.bytes + [UInt8](repeating: 0, count: 192 - bits.bytes.count)
    }

    private struct BitWriter {
        private(set) var bytes: [UInt8] = []
        private var used = 8

        mutating func write(_ value: UInt32, count: Int) {
            for bit in (0..<count).reversed() {
                if used == 8 {
                    bytes.append(0)
                    used = 0
                }
                bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << (7 - used)
                used += 1
            }
        }
    }
}
