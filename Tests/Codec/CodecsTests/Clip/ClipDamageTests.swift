import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What is lost of damaged clips is counted: little of it makes them reduced, more is refused, or salvaged where the
/// profile wants that.
@Suite struct ClipDamageTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private static let salvage: Profile = {
        var profile = Profile.notification
        profile.damaged = .salvage
        return profile
    }()

    /// 8 s of moving pictures with sound.
    private borrowing func film(_ name: String, _ encoding: [String]) throws -> URL {
        _ = Self.films
        let output = file(name)
        try Tool.ffmpeg(Self.filmInput + ["-pix_fmt", "yuv420p"] + encoding, to: output)
        return output
    }

    private static let filmInput = [
        "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=8", "-f", "lavfi", "-i",
        "sine=frequency=440:sample_rate=44100:duration=8",
    ]

    /// At once; one by one where that fails.
    private static let films: Void = {
        var all: [(String, [String])] = [
            ("film.ts", plain), ("film.mp4", plain), ("film.ts", oneGroup), ("film.mp4", ordered), ("film.mkv", groups),
            ("film.mp4", fragments), ("film.mkv", clusters),
        ]
        all += codings.map { ($0.0, coded($0.1)) }
        all += layouts.map { ($0.name, transported) }
        all += halved.map { ($0.0, $0.1) }
        all += cutWithin.map { ($0.0, $0.1) }
        try? Tool.prepare(filmInput, all.map { (["-pix_fmt", "yuv420p"] + $0.1, $0.0) })
    }()

    private static let plain = ["-c:v", "libx264", "-c:a", "aac"]
    private static let oneGroup = ["-c:v", "libx264", "-g", "250", "-c:a", "aac"]
    private static let ordered = ["-c:v", "libx264", "-bf", "0", "-g", "250", "-c:a", "aac"]
    private static let groups = ["-c:v", "libx264", "-g", "25", "-c:a", "aac"]
    private static let fragments = groups + ["-movflags", "frag_keyframe+empty_moov+default_base_moof"]
    private static let clusters = [
        "-c:v", "libx264", "-g", "25", "-bf", "2", "-c:a", "aac", "-cluster_time_limit", "1000",
    ]

    /// Where the packets of a stream lie, and how long they are.
    private func packets(_ url: URL, _ stream: String) throws -> [(offset: Int, bytes: Int)] {
        try Tool.text(
            "ffprobe",
            ["-v", "error", "-select_streams", stream, "-show_entries", "packet=pos,size", "-of", "csv=p=0", url.path]
        ).split(separator: "\n").map { $0.split(separator: ",").compactMap { Int($0) } }.filter { $0.count >= 2 }
            .map { ($0[1], $0[0]) }
    }

    private func overwrite(_ url: URL, _ places: [(offset: Int, bytes: Int)], sparing head: Int) throws {
        var data = try Data(contentsOf: url)
        for place in places where place.bytes > head + 8 {
            for index in place.offset + head..<place.offset + place.bytes {
                data[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 7)
            }
        }
        try data.write(to: url)
    }

    private func refusal(_ url: URL, profile: Profile = .notification) throws -> AttachmentError? {
        do {
            _ = try Clips.render(url, profile: profile)
            return nil
        } catch let error as AttachmentError {
            return error
        }
    }

    @Test func `of a stream without what says how its pictures are coded the sound is delivered, and they are missed`()
        throws
    {
        let source = try film("film.ts", Self.oneGroup)
        // As when a recording is cut from the midst of a stream: its only parameter sets stand in its first packets.
        try Data(contentsOf: source).dropFirst(10 * 188).write(to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.kind == .audio)
        #expect(
            made.ending.losses == [Finding(.configurationMissing, .video)])
    }

    @Test func `sound beside pictures that a stream announces and doesn't have is delivered, and nothing is missed`()
        throws
    {
        let source = try film("film.ts", Self.plain)
        // As a recorder writes one sound of a programme, with the table of all that was sent. FFmpeg gives video the first number.
        let packets = try Data(contentsOf: source)
        var sound = Data()
        for start in stride(from: 0, to: packets.count, by: 188) {
            let packet = packets[start..<min(start + 188, packets.count)]
            let number = Int(packet[start + 1] & 0x1f) << 8 | Int(packet[start + 2])
            if number != 0x100 { sound += packet }
        }
        #expect(sound.count < packets.count)
        // With what FFmpeg says of itself at the front, and beginning with the table.
        for cut in [0, 188] {
            try sound.dropFirst(cut).write(to: source)
            let made = try #require(try Clips.render(source))
            #expect(made.probeResult.kind == .audio && made.ending.losses.isEmpty, "\(made.ending.losses)")
        }
    }

    @Test(arguments: [1, 30])
    func `a damaged picture is not copied, and it is told`(count: Int) throws {
        let source = try film("film.mp4", Self.ordered)
        #expect(try #require(try Clips.render(source)?.report(.main)).note.hasPrefix("copied"))
        let places = try packets(source, "v")
        try overwrite(source, Array(places[60..<60 + count]), sparing: 12)
        #expect(try Probe.decodingErrors(source) != "")
        if count > 4 {
            #expect(try refusal(source)?.code == .undecodable)
        }
        let made = try #require(try Clips.render(source, profile: count > 4 ? Self.salvage : .notification))
        // One frame is no loss, as its decoder makes something up.
        let findings = count == 1 ? made.ending.evidence + made.ending.losses : made.ending.losses
        let finding = try #require(findings.first)
        #expect(findings.count == 1 && finding.part == .frames && finding.total == 200, "\(finding.text)")
        let missing = Int(try #require(finding.missing))
        #expect((max(1, count - 2)...count + 3).contains(missing), "\(finding.text)")
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
        #expect(made.report(.main)?.note.contains("a copy would take damage over") == true)
    }

    static let codings = [("film.mkv", "mpeg4"), ("film.avi", "mjpeg"), ("film.ts", "mpeg2video")]

    private static func coded(_ coding: String) -> [String] {
        ["-c:v", coding, "-q:v", "5", "-bf", "0", "-c:a", "libmp3lame"]
    }

    @Test(arguments: codings)
    func `pictures that could not be decoded are counted`(name: String, coding: String) throws {
        let source = try film(name, Self.coded(coding))
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        let data = try Data(contentsOf: source)
        var damaged = data
        // A tenth of the file, in its middle.
        for index in data.count / 2..<data.count / 2 + data.count / 10 {
            damaged[index] = UInt8(truncatingIfNeeded: index &* 2_654_435_761 >> 9)
        }
        try damaged.write(to: source)
        #expect(try Probe.decodingErrors(source) != "")
        do {
            // Little of it may be lost, but not in silence.
            let made = try #require(try Clips.render(source))
            #expect(made.ending.losses != [])
        } catch let error as AttachmentError {
            #expect(error.code == .undecodable)
        }
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        #expect(
            made.ending.losses.contains { $0.part == .frames || $0.part == .sound },
            "\(made.ending.losses) \(made.ending.warnings)")
    }

    @Test(arguments: [1, 20, 340])
    func `sound that could not be decoded is counted`(count: Int) throws {
        let source = file("sound.m4a")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "anoisesrc=d=8:a=0.3:seed=7", "-ac", "1", "-ar", "44100", "-c:a", "aac", "-b:a",
                "96k",
            ],
            to: source)
        let places = try packets(source, "a")
        #expect(places.count >= 344)
        try overwrite(source, Array(places[2..<2 + count]), sparing: 0)
        if count > 5 {
            #expect(try refusal(source)?.code == .undecodable)
        } else {
            #expect(try refusal(source) == nil)
        }
        guard count < 300 else { return }
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        let loss = try #require((count == 1 ? made.ending.evidence : made.ending.losses).first)
        #expect(loss.part == .sound && loss.code == .notDecoded, "\(loss.text)")
    }

    @Test func `a video's sound of which nothing can be decoded is a loss, and what is whole is delivered`() throws {
        let source = try film("film.mp4", Self.plain)
        let places = try packets(source, "a")
        try overwrite(source, places, sparing: 0)
        // Some noise decodes by chance; of zeros nothing does.
        var data = try Data(contentsOf: source)
        for place in places {
            for index in place.offset..<place.offset + place.bytes { data[index] = 0xff }
        }
        try data.write(to: source)
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        #expect(made.ending.losses.count == 1)
        #expect(made.ending.losses.first?.part == .sound, "\(made.ending.losses)")
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
    }

    static let halved: [(String, [String], Bool)] = [
        ("a.mp4", plain + ["-movflags", "+faststart"], true), ("b.mkv", plain, true),
        ("c.avi", ["-c:v", "mpeg4", "-c:a", "libmp3lame"], false),
        ("d.wav", ["-map", "1", "-c:a", "pcm_s16le"], false), ("e.mp3", ["-map", "1", "-c:a", "libmp3lame"], false),
        ("f.aiff", ["-map", "1", "-c:a", "pcm_s16be"], false), ("g.flac", ["-map", "1", "-c:a", "flac"], false),
    ]

    /// Of what length a file's part was found, and what is said to be missing.
    @Test(arguments: halved)
    func `what a file ends before is told, in seconds`(name: String, encoding: [String], isTold: Bool) throws {
        let source = try film(name, encoding)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        let data = try Data(contentsOf: source)
        try data.prefix(data.count / 2).write(to: source)
        let refusal = try refusal(source)
        if isTold {
            #expect(
                refusal?.finding?.code == .endsBefore && abs((refusal?.finding?.total ?? 0) - 8) < 0.1,
                "\(String(describing: refusal))")
        } else if refusal != nil {
            // What others read without a word is never corrupt.
            #expect(try Tool.text("sh", ["-c", "ffmpeg -v error -i '\(source.path)' -f null - 2>&1"]) != "")
        }
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        let loss = try #require(made.ending.losses.first)
        #expect(loss.code == .endsBefore, "\(made.ending.losses)")
        let missing = try #require(loss.missing)
        #expect(abs(missing - 4) < 1.5, "\(loss.text)")
        // The part that is wanted may be whole.
        let request = RenditionRequest(trim: TrimRequest(start: 0, duration: 1))
        let part = try #require(try Clips.render(source, request: request))
        #expect(part.ending.losses == [])
    }

    @Test func `a Matroska file that lacks but its last pictures is not whole`() throws {
        let source = try film("film.mkv", Self.groups)
        let data = try Data(contentsOf: source)
        try data.prefix(data.count * 985 / 1000).write(to: source)
        let made = try #require(try Clips.render(source))
        let loss = try #require(made.ending.losses.first)
        #expect(loss.part == .video && loss.code == .endsBefore, "\(loss.text)")
        let missing = try #require(loss.missing)
        #expect(missing > 0.05 && missing <= 0.16, "\(loss.text)")
        // Without the table at its end alone nothing is missing.
        let table = try #require(data.range(of: Data([0x1c, 0x53, 0xbb, 0x6b]), options: .backwards))
        try data.prefix(table.lowerBound).write(to: source)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
    }

    @Test func `a large file that is cut off is not believed its header`() throws {
        let source = file("large.wav")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "anullsrc=r=48000:cl=stereo", "-t", "2", "-c:a", "pcm_s16le"], to: source)
        var data = try Data(contentsOf: source)
        // 400 s, of which 375 s are there.
        let samples = try #require(data.range(of: Data("data".utf8))).upperBound
        for (place, bytes) in [(4, 400 * 192_000 + samples - 4), (samples, 400 * 192_000)] {
            for index in 0..<4 { data[place + index] = UInt8(truncatingIfNeeded: bytes >> (8 * index)) }
        }
        try (data.prefix(samples + 4) + Data(count: 375 * 192_000)).write(to: source)
        let request = RenditionRequest(trim: TrimRequest(start: 370, duration: 30))
        let loss = try #require(try Clips.render(source, profile: .message, request: request)?.ending.losses.first)
        #expect(loss.code == .endsBefore && loss.part == .sound && abs((loss.missing ?? 0) - 25) < 0.001)
    }

    static let oggs = [("a.ogg", "libvorbis"), ("b.opus", "libopus"), ("c.ogg", "flac"), ("d.spx", "libspeex")]
    private static let oggInput = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=16000:duration=6"]
    private static let madeOggs: Void = { try? Tool.prepare(oggInput, oggs.map { (["-c:a", $0.1], $0.0) }) }()

    @Test(arguments: oggs)
    func `an Ogg file that ends within a page is not whole`(name: String, coding: String) throws {
        let source = file(name)
        _ = Self.madeOggs
        try Tool.ffmpeg(Self.oggInput + ["-c:a", coding], to: source)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        let data = try Data(contentsOf: source)
        try data.prefix(data.count * 7 / 10).write(to: source)
        let made = try #require(try Clips.render(source))
        let loss = try #require(made.ending.losses.first)
        #expect(made.ending.losses.count == 1, "\(made.ending.losses)")
        #expect(loss.code == .endsWithin && loss.name == "last page")
        let seconds = try #require(made.probeResult.duration)
        #expect(loss.part == .sound && loss.total == seconds && seconds < 5.5, "\(loss.text)")
        // What is asked for may be whole.
        let request = RenditionRequest(trim: TrimRequest(start: 0, duration: seconds / 2))
        #expect(try #require(try Clips.render(source, request: request)).ending.losses == [])
        // Between two pages nothing but a mark is missing, which only the last one has.
        let last = try #require(data.range(of: Data("OggS".utf8), options: .backwards)).lowerBound
        let between = try #require(data[..<last].range(of: Data("OggS".utf8), options: .backwards)).lowerBound
        try data.prefix(between).write(to: source)
        #expect(try Clips.render(source)?.ending.evidence == [Finding(.endMarkMissing)])
    }

    static let layouts = [(name: "film.ts", packet: 188), (name: "film.m2ts", packet: 192)]
    private static let transported = ["-c:v", "libx264", "-g", "50", "-c:a", "aac"]

    @Test(arguments: layouts, [77, 4, 0])
    func `a transport stream that is cut off lacks its end, wherever it is cut`(
        layout: (name: String, packet: Int), rest: Int
    ) throws {
        let source = try film(layout.name, Self.transported)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        let data = try Data(contentsOf: source)
        // Between two packets of a picture only what the decoder makes of it tells.
        let starts = stride(from: data.count / 2 / layout.packet * layout.packet, to: data.count, by: layout.packet)
        let cut = try #require(
            starts.first { place in
                let header = data[(place - layout.packet % 188)...].dropFirst(layout.packet == 192 ? 8 : 0)
                return rest > 0 || isWithinPicture(header)
            })
        try data.prefix(cut + rest).write(to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.ending.losses.count == 1, "\(made.ending.losses)")
        let loss = try #require(made.ending.losses.first)
        let places = ["last packet"] + (rest > 0 ? [] : ["last frame"])
        #expect(loss.code == .endsWithin && places.contains(loss.name ?? ""), "\(made.ending.losses)")
        #expect(loss.part == .video)
        // What is asked for may be whole.
        let request = RenditionRequest(trim: TrimRequest(start: 0, duration: 2))
        #expect(try #require(try Clips.render(source, request: request)).ending.losses == [])
    }

    /// Whether a packet of a transport stream carries on with a picture, by the numbers that FFmpeg's muxer gives its stream.
    private func isWithinPicture(_ packet: Data.SubSequence) -> Bool {
        let start = packet.startIndex
        let place = (packet[start + 1], packet[start + 2])
        return packet[start] == 0x47 && (place == (0x01, 0x00) || place == (0x10, 0x11))
    }

    static let cutWithin: [(String, [String], Finding.Part?)] = [
        ("film.mpg", ["-c:v", "mpeg2video", "-c:a", "mp2"], .video),
        ("sound.aac", ["-vn", "-c:a", "aac"], .sound),
        ("film.wmv", ["-c:v", "wmv2", "-c:a", "wmav2"], nil), ("sound.wma", ["-vn", "-c:a", "wmav2"], nil),
    ]

    @Test(arguments: cutWithin)
    func `a file that ends within a packet lacks what comes after, and not that packet alone`(
        name: String, encoding: [String], open: Finding.Part?
    ) throws {
        let source = try film(name, encoding)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        let data = try Data(contentsOf: source)
        try data.prefix(data.count * 6 / 10 + 5).write(to: source)
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        let loss = try #require(made.ending.losses.first)
        if let open {
            #expect(loss.part == open && loss.code == .endsWithin, "\(loss.text)")
        } else {
            // The header says how long it was.
            let missing = try #require(loss.missing)
            #expect((2...4.5).contains(missing) && loss.code == .endsBefore, "\(loss.text)")
        }
    }

    @Test func `a fragmented MP4 that is cut in its first fragment isn't taken for as long as that`() throws {
        let source = try film("film.mp4", Self.fragments)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        let data = try Data(contentsOf: source)
        let first = try #require(data.range(of: Data("mdat".utf8))).upperBound
        let second = try #require(data[first...].range(of: Data("moof".utf8))).lowerBound
        try data.prefix((first + second) / 2).write(to: source)
        let made = try #require(try Clips.render(source))
        let loss = try #require(made.ending.losses.first)
        #expect(loss.part == .video && (loss.total ?? 9) < 1, "\(made.ending.losses)")
        #expect(loss.code == .endsWithin && loss.name == "last fragment", "\(made.ending.losses)")
    }

    @Test func `an MP4 that ends within its index, or behind a stream's first part, is told from one without pictures`()
        throws
    {
        #expect(
            try Rendered.refusal(of: Repository.media.appending(path: "trouble/truncated-index.mp4"), in: directory.url)
                == .unreadable(Finding(.endsWithin, named: "index, without which nothing of it can be decoded")))
        #expect(
            try Rendered.refusal(of: Repository.media.appending(path: "trouble/first-part.mp4"), in: directory.url)
                == .unsupportedFeature(
                    reason: "this is the first part of a stream, without any of what comes after it",
                    advice: "Send the whole stream as one file."))
    }

    @Test(arguments: [(1, 0.4...1.2), (3, 1.5...4.0)] as [(Int, ClosedRange<Double>)])
    func `a Matroska file that lacks clusters in between lacks their seconds`(
        count: Int, seconds: ClosedRange<Double>
    ) throws {
        let source = try film("film.mkv", Self.clusters)
        #expect(try #require(try Clips.render(source)).ending.losses == [])
        var data = try Data(contentsOf: source)
        let mark = Data([0x1f, 0x43, 0xb6, 0x75])
        var places: [Int] = []
        while let next = data[(places.last.map { $0 + 4 } ?? 0)...].range(of: mark)?.lowerBound { places.append(next) }
        try #require(places.count > count + 3)
        data.removeSubrange(places[2]..<places[2 + count])
        try data.write(to: source)
        // What ffprobe finds of it lies apart in both.
        let packets = try Tool.text(
            "ffprobe", ["-v", "error", "-show_entries", "packet=codec_type,pts_time", "-of", "csv=p=0", source.path]
        ).split(separator: "\n").map { $0.split(separator: ",") }
        let times = ["video", "audio"].map { kind in
            packets.filter { $0.first == kind[...] }.flatMap { $0.compactMap { Double($0) } }.sorted()
        }
        let gaps = times.map { times in zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0 }
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        let loss = try #require(made.ending.losses.first { $0.code == .gap })
        let missing = try #require(loss.missing)
        #expect(seconds.contains(missing) && abs(missing - (gaps.min() ?? 0)) < 0.2, "\(loss.text), \(gaps)")
    }

    @Test func `pauses in a Matroska file's sound alone are no holes`() {
        var holes = SharedHoles(streams: [0, 1], frame: 0.04)
        for picture in 0..<100 { holes.add(0, from: Double(picture) / 25, to: Double(picture + 1) / 25) }
        for packet in [0, 1, 2, 80, 81, 82] { holes.add(1, from: Double(packet) / 25, to: Double(packet + 1) / 25) }
        #expect(holes.seconds == 0)
        holes.add(0, from: 10, to: 10.04)
        holes.add(1, from: 9, to: 9.04)
        // Pictures that are shown before the one that is stored first.
        holes.add(0, from: 9.8, to: 9.84)
        #expect(abs(holes.seconds - 5) < 0.001)
    }

    @Test(arguments: [300, 4000])
    func `zeros in the midst of an MP3 are as long as the sound that was there`(bytes: Int) throws {
        let source = file("zeros.mp3")
        // One noise for all: some have what looks like a frame's head behind the zeros, and then more is lost.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "anoisesrc=d=20:a=0.3:r=44100:seed=7", "-ac", "1", "-c:a", "libmp3lame", "-b:a",
                "64k",
                "-reservoir", "0",
            ], to: source)
        var data = try Data(contentsOf: source)
        let middle = data.count / 2
        data.replaceSubrange(middle..<middle + bytes, with: Data(count: bytes))
        try data.write(to: source)
        let made = try #require(try Clips.render(source, profile: Self.salvage))
        let loss = try #require((made.ending.losses + made.ending.evidence).first)
        let missing = try #require(loss.missing)
        // 8,000 bytes a second, and the frames in which it begins and ends.
        #expect(abs(missing - Double(bytes) / 8000) < 0.06, "\(loss.text)")
    }

    @Test func `an MP4 whose end was never filled is told so`() throws {
        let error = try #require(
            try Rendered.refusal(of: Repository.media.appending(path: "trouble/zeros-behind.mp4"), in: directory.url))
        #expect(error.code == .corrupt && error.finding?.code == .zeros, "\(error.message)")
    }

    @Test func `slices of a transport stream without a picture are called that`() throws {
        let (whole, source) = (try transportStream(), file("slices.ts"))
        // Without the keyframe and what says how it is coded.
        try Tool.ffmpeg(
            ["-i", whole.path, "-c", "copy", "-copyinkf", "-bsf:v", "filter_units=remove_types=5|7|8"], to: source)
        let error = try Rendered.refusal(of: source, in: directory.url)
        #expect(
            error == .unreadable(Finding(.configurationMissing, .video)))
        #expect(try Probe.decodingErrors(source) != "")
    }

    @Test func `a transport stream that holds nothing but its tables is told so`() throws {
        let source = file("tables.ts")
        let whole = [UInt8](try Data(contentsOf: transportStream()))
        var tables: [UInt8] = []
        for at in stride(from: 0, to: whole.count, by: 188) {
            let stream = Int(whole[at + 1] & 0x1f) * 256 + Int(whole[at + 2])
            // As FFmpeg numbers the first, of pictures here.
            if stream != 0x100 { tables += whole[at..<at + 188] }
        }
        try #require(!tables.isEmpty && tables.count < whole.count / 2)
        try Data(tables).write(to: source)
        let error = try Rendered.refusal(of: source, in: directory.url)
        #expect(error == .unreadable(Finding(.endsBefore, named: "first packet")))
    }

    /// Four seconds of pictures, of which the first is the only keyframe.
    private func transportStream() throws -> URL {
        let whole = file("whole.ts")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=4", "-pix_fmt", "yuv420p", "-c:v",
                "libx264", "-g", "250",
            ], to: whole)
        return whole
    }

    @Test func `a page of an Ogg file that is passed over is missing`() throws {
        let source = file("damaged.ogg")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=44100:duration=8", "-c:a", "libvorbis"], to: source)
        var data = try Data(contentsOf: source)
        data[data.count / 2] ^= 0xff
        try data.write(to: source)
        let refusal = try #require(try refusal(source))
        #expect(refusal.finding?.part == .sound && refusal.finding?.total == 8)
        // As much as FFmpeg's own decoder doesn't give.
        let text = try Tool.text(
            "ffprobe",
            ["-v", "quiet", "-show_entries", "frame=nb_samples", "-of", "csv=p=0", source.path])
        let samples = text.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }.reduce(0, +)
        let missing = try #require(refusal.finding?.missing)
        #expect(abs(missing - (8 - Double(samples) / 44_100)) < 0.1, "\(refusal.message), \(samples)")
    }

    @Test func `of a FLAC that is cut off the packet in which it ends is missing too`() throws {
        let source = file("sound.flac")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "anoisesrc=d=4:a=0.3:r=44100:seed=7", "-ac", "1", "-c:a", "flac"], to: source)
        let data = try Data(contentsOf: source)
        try data.prefix(data.count * 7 / 10).write(to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.ending.losses.count == 1)
        let loss = try #require(made.ending.losses.first)
        let missing = try #require(loss.missing)
        let kept = try Probe.of(made.file(.main)).duration
        #expect(abs(missing - (4 - kept)) < 0.03, "\(loss.text), \(kept) s are there")
    }

    @Test func `pictures of another size are fitted into the first ones' shape, and told`() throws {
        let (first, second, source) = (file("first.ts"), file("second.ts"), file("joined.ts"))
        for (url, size, offset) in [(first, "320x240", 0.0), (second, "640x360", 2)] {
            try Tool.ffmpeg(
                [
                    "-f", "lavfi", "-i", "color=c=white:size=\(size):rate=25:duration=2", "-pix_fmt", "yuv420p", "-c:v",
                    "libx264", "-output_ts_offset", "\(offset)",
                ], to: url)
        }
        try (Data(contentsOf: first) + Data(contentsOf: second)).write(to: source)
        let made = try #require(try Clips.render(source))
        // As the first recording's pictures are reordered, its last two have the times of the second's first.
        #expect(
            made.ending.losses.isEmpty && made.ending.evidence == [Finding(.repeatedTimes, missing: 2)],
            "\(made.ending.warnings)")
        let note = try #require(made.ending.changes.first).text
        #expect(
            note.hasPrefix("from 1.9") && note.contains(" s on its pictures are 640×360 and are fitted ")
                && made.ending.changes.count == 1, "\(made.ending.changes)")
        // Three quarters of 320×180: 30 lines are black above and below.
        let raw = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-ss", "3", "-i", made.file(.main).path, "-frames:v", "1", "-pix_fmt", "gray", "-f",
                "rawvideo", "-",
            ])
        #expect(raw.count == 320 * 240)
        #expect(raw[25 * 320 + 160] < 32 && raw[35 * 320 + 160] > 220)
        #expect(raw[205 * 320 + 160] > 220 && raw[215 * 320 + 160] < 32)
    }

    @Test func `of a video without a keyframe that is said`() throws {
        let (whole, source) = (file("whole.mp4"), file("keyless.mp4"))
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=25:duration=4", "-pix_fmt", "yuv420p", "-c:v",
                "libx264",
                "-g", "250",
            ], to: whole)
        try Tool.ffmpeg(["-i", whole.path, "-ss", "1", "-c", "copy", "-copyinkf"], to: source)
        let refusal = try #require(try refusal(source))
        #expect(
            refusal.code == .undecodable && refusal.finding == Finding(.noKeyframe, .video), "\(refusal.message)")
    }

    @Test func `channels that a mix of two leaves out are a loss`() throws {
        for (channels, missing) in [(8, 0), (16, 8)] {
            let source = file("channels.wav")
            let tones = (1...channels).map { "0.05*sin(\($0 * 600)*t)" }.joined(separator: "|")
            try Tool.ffmpeg(["-f", "lavfi", "-i", "aevalsrc=\(tones):s=48000:d=2", "-c:a", "pcm_s16le"], to: source)
            let made = try #require(try Clips.render(source))
            #expect(
                made.ending.losses
                    == (missing == 0
                        ? [] : [Finding(.notMixed, .channels, missing: 8, of: 16)]))
        }
    }

    @Test func `a header that claims more than there is says so, and nothing is missing`() throws {
        let source = Repository.media.appending(path: "mp3/lying-duration.mp3")
        let copy = file("lying.mp3")
        try FileManager.default.copyItem(at: source, to: copy)
        let made = try #require(try Clips.render(copy))
        #expect(made.ending.losses == [])
        #expect(
            made.ending.evidence.map(\.text) == ["its header announces 7 h 15 min, and it holds 4.02 s"],
            "\(made.ending.evidence)")
    }

    @Test(arguments: Sweep.of([1, 10, 100, 3000], every: 3))
    func `junk before the first MP3 frame is passed over`(count: Int) throws {
        let whole = file("whole.mp3")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "sine=duration=4", "-c:a", "libmp3lame", "-id3v2_version", "0"], to: whole)
        var mains: [URL] = []
        for byte in [UInt8(0), 0x20, 0x41, 0xaa] {
            let source = file("junk.mp3")
            try (Data(repeating: byte, count: count) + Data(contentsOf: whole)).write(to: source)
            let made = try #require(try Clips.render(source), "\(count) of \(byte)")
            #expect(made.probeResult.type == .mp3 && made.ending.losses == [])
            #expect(abs(try #require(made.probeResult.duration) - 4) < 0.1)
            mains.append(try made.file(.main))
        }
        #expect(try Probe.decodingErrors(mains) == ["", "", "", ""])
    }

    @Test func `cover art that is broken is noted, and the sound is whole`() throws {
        let art = file("art.png")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "testsrc2=size=200x200", "-frames:v", "1"], to: art)
        let source = file("covered.mp3")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "sine=duration=4", "-i", art.path, "-map", "0", "-map", "1", "-c:v", "copy",
                "-c:a",
                "libmp3lame",
            ], to: source)
        var data = try Data(contentsOf: source)
        let picture = try #require(data.range(of: Data("IDAT".utf8))).upperBound
        for index in picture..<picture + 3000 { data[index] = 0xa5 }
        try data.write(to: source)
        let made = try #require(try Clips.render(source))
        let isShown = made.report(.thumbnail) != nil
        #expect(made.ending.losses == [])
        guard !isShown else { return }
        #expect(made.ending.omissions == [Finding(.notDecoded, .thumbnail)])
        let achievement = FidelityAssessment(
            planned: made.probeResult.planned,
            made: Set(made.reports.map(\.role)),
            keptOriginal: false, diagnosis: made.ending.diagnosis)
        #expect(achievement.fidelity == .full)
    }

    @Test func `a trim that the profile's limit makes is told with the limit`() throws {
        let source = file("long.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=5:duration=12", "-pix_fmt", "yuv420p", "-c:v", "libx264",
                "-g", "5",
            ], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.ending.omissions == [Finding(.limit, .video, missing: 2, of: 12)])
        #expect(made.ending.omissions.first?.phrase == "first 10 s of 12 s")
        let asked = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 1, duration: 2))))
        #expect(asked.ending.omissions == [])
    }

    @Test(
        arguments: Sweep.of(
            [
                ("late.mp4", 2.0), ("late.mp4", 6), ("late.mkv", 6), ("late.mkv", 2), ("late.ts", 2), ("late.ts", 6),
                ("late.webm", 2), ("late.webm", 6), ("late.mov", 6),
            ], every: 2), [nil, 1.0])
    func `sound before the first picture is delivered in its place`(
        source: (name: String, late: Double), limit: Double?
    ) throws {
        let (name, late) = source
        let source = file(name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "sine=duration=\(late + 3)", "-itsoffset", "\(late)", "-f", "lavfi", "-i",
                "testsrc=size=64x48:rate=25:duration=3", "-map", "1", "-map", "0", "-pix_fmt", "yuv420p", "-vsync",
                "passthrough",
            ]
                + (name.hasSuffix("webm")
                    ? ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"]
                    : ["-c:v", "libx264", "-g", "25", "-bf", "0", "-c:a", "aac"]),
            to: source)
        var profile = Profile.notification
        if let limit {
            profile.video?.maximumDuration = limit
            profile.audio?.maximumDuration = limit
        }
        let made = try #require(try Clips.render(source, profile: profile))
        // Where no frame falls within the limit, the sound is all there is.
        #expect(made.probeResult.kind == (limit == nil ? .video : .audio))
        #expect(made.ending.losses.map(\.code) == (limit == nil ? [] : [.startsAfter]))
        let first = try Probe.of(made.file(.main)).video.flatMap { Double($0.startTime ?? "") }
        if limit == nil { #expect(abs((first ?? 0) - late) < 0.1) }
        // What is missing may have become silence.
        let raw = try Tool.run(
            "ffmpeg", ["-v", "error", "-i", made.file(.main).path, "-ac", "1", "-ar", "8000", "-f", "s16le", "-"])
        let samples = unsafe raw.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
        let audible = samples.indices.filter { samples[$0].magnitude > 500 }
        #expect((audible.first ?? .max) < 800)
        #expect(abs(Double(audible.last ?? 0) / 8000 - (limit ?? late + 3)) < 0.1)
    }

    @Test(arguments: Sweep.of(["segment.mkv", "open.mkv", "segment.webm", "open.webm"], every: 2, from: 1))
    func `a Matroska file that ends within a cluster has lost what comes after, be it a frame`(name: String) throws {
        let whole = file(name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=4", "-f", "lavfi", "-i", "sine=duration=4",
                "-pix_fmt", "yuv420p", "-cluster_time_limit", "1000",
            ]
                + (name.hasSuffix("webm")
                    ? ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus"]
                    : ["-c:v", "libx264", "-c:a", "aac"])
                // A segment that is written without going back has no size, and its clusters have theirs or not.
                + (name.hasPrefix("open")
                    ? ["-f", "matroska", "-live", name.hasSuffix("webm") ? "1" : "0", "-seekable", "0"] : []),
            to: whole)
        let data = try Data(contentsOf: whole)
        #expect(try #require(try Clips.render(whole, profile: CountedClips.profile)).ending.losses == [])
        // Where the last cluster lies by its mark, behind which a segment of known size has an index.
        let last = try #require(data.range(of: Data([0x1f, 0x43, 0xb6, 0x75]), options: .backwards))
        var profile = CountedClips.profile
        profile.damaged = .salvage
        for share in Sweep.of([0.1, 0.5, 0.9], every: 2) {
            let cut = last.lowerBound + Int(share * Double(min(data.count - last.lowerBound, 4_000)))
            try data.prefix(cut).write(to: whole)
            let made = try #require(try Clips.render(whole, profile: profile))
            #expect(!made.ending.losses.isEmpty, "\(name): \(data.count - cut) bytes are missing")
        }
    }

    @Test func `an 8K video is taken`() throws {
        let source = file("large.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=teal:size=7680x4320:rate=25", "-frames:v", "3", "-pix_fmt", "yuv420p",
                "-c:v",
                "libx264", "-preset", "ultrafast", "-threads", "1",
            ], to: source)
        let made = try #require(try Clips.render(source))
        #expect(made.probeResult.size == PixelSize(width: 7680, height: 4320))
        #expect(made.probeResult.estimate.memory < 1 << 30)
        #expect(try made.pictures().width == 1280)
        #expect(made.ending.losses == [])
    }
}
