import Foundation
import TestSupport
import Testing

@testable import SatchelCore
@testable import ClipCodecs
@testable import StillCodecs

/// What becomes of clips, judged by ffprobe and a full decode.
@Suite struct ClipTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private borrowing func counted(_ name: String, seconds: Double, _ pictures: [String]) throws -> URL {
        _ = Self.clips
        return try BrightnessClip.make(file(name), seconds: seconds, Self.encoding(pictures))
    }

    private static func encoding(_ pictures: [String]) -> [String] {
        ["-sc_threshold", "0"] + pictures + ["-c:a", "aac"]
    }

    private static let plain = ["-c:v", "libx264"]
    private static let groups = ["-c:v", "libx264", "-g", "25", "-bf", "2"]
    private static func oneGroup(_ codec: String) -> [String] { ["-c:v", codec, "-g", "250", "-q:v", "2"] }
    private static func held(in container: String) -> [String] {
        ["-c:v", "libx264", "-g", "30", "-bf", container == "avi" ? "0" : "3"]
    }
    private static let damaged = [("a.mp4", "libx264"), ("b.mkv", "mpeg4"), ("c.ts", "mpeg2video"), ("d.avi", "mjpeg")]

    /// Those of one length at once; one by one where that fails.
    private static let clips: Void = {
        var all: [(Double, [String], String)] = [(6, groups, "a.mp4"), (3, plain, "a.mov"), (3, plain, "a.mp4")]
        all += codecs.map { (6.0, oneGroup($0), "a.mp4") }
        all += containers.map { (5.0, held(in: $0), "a.\($0)") }
        all += damaged.map { (1.0, ["-c:v", $0.1], $0.0) }
        for seconds in [1.0, 3, 5, 6] {
            let some = all.filter { $0.0 == seconds }
            try? BrightnessClip.prepare(seconds: seconds, some.map { (encoding($0.1), $0.2) })
        }
    }()

    @Test func `a cut on keyframes is copied, with exactly the pictures of the part`() throws {
        let source = try counted("source.mp4", seconds: 6, Self.groups)
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 2, duration: 2))))
        let main = try #require(made.main)
        let trim = try #require(made.ending.trim)
        #expect(trim.method == .copy)
        #expect(abs(trim.start - 2) < 0.001)
        #expect(abs(trim.duration - 2) < 0.041)
        #expect(abs(trim.sourceDuration - 6) < 0.05)
        let counts = try BrightnessClip.counts(of: main)
        #expect(abs(counts.count - 50) <= 1)
        #expect(counts == (0..<counts.count).map { (50 + $0) % 40 })
        #expect(try Probe.decodingErrors(main) == "")
        #expect(abs(try Probe.of(main).duration - 2) < 0.045)
    }

    private static let codecs = ["libx264", "mpeg4"]

    @Test(arguments: codecs)
    func `a cut off keyframes is encoded, from the right first to the right last picture`(codec: String) throws {
        let source = try counted("source.mp4", seconds: 6, Self.oneGroup(codec))
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 1.48, duration: 1.2))))
        let main = try #require(made.main)
        let trim = try #require(made.ending.trim)
        #expect(trim.method == .encode)
        #expect(abs(trim.start - 1.48) < 0.001)
        #expect(abs(trim.duration - 1.2) < 0.001)
        #expect(try BrightnessClip.counts(of: main) == (0..<30).map { (37 + $0) % 40 })
        #expect(try Probe.decodingErrors(main) == "")
        let probe = try Probe.of(main)
        #expect(probe.video?.codecName == "h264")
        #expect(probe.video?.profile == "High")
        #expect(probe.video?.pixFmt == "yuv420p")
        #expect(abs(probe.duration - 1.2) < 0.02)
    }

    private static let containers = ["mkv", "ts", "mov", "avi"]

    @Test(arguments: containers)
    func `a cut is exact in other containers too`(container: String) throws {
        let source = try counted("source.\(container)", seconds: 5, Self.held(in: container))
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 1.6, duration: 1))))
        let counts = try BrightnessClip.counts(of: try #require(made.main))
        #expect(abs(counts.count - 25) <= 1)
        let first = try #require(counts.first)
        #expect(abs(first - 0) <= 1 || first == 39)
        #expect(counts == (0..<counts.count).map { (first + $0) % 40 })
    }

    @Test(arguments: [0.0, 1.3])
    func `sound stays with its picture`(start: Double) throws {
        // A flash and a click every second.
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i",
                "color=c=black:size=64x48:rate=25:duration=5,geq=lum='if(eq(mod(N,25),0),235,16)':cb=128:cr=128",
                "-f", "lavfi", "-i", "aevalsrc='if(lt(mod(t,1),0.04),sin(2*PI*1000*t),0)':s=44100:d=5",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "250", "-c:a", "aac",
            ], to: source)
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: start, duration: 2.5))))
        let main = try #require(made.main)
        let flashes = try Tool.text(
            "ffprobe",
            [
                "-v", "error", "-f", "lavfi", "-i", "movie='\(main.path)',signalstats", "-show_entries",
                "frame=pts_time:frame_tags=lavfi.signalstats.YAVG", "-of", "csv=p=0",
            ]
        ).split(separator: "\n").compactMap { line -> Double? in
            let parts = line.split(separator: ",")
            guard parts.count == 2, let level = Double(parts[1]), level > 120 else { return nil }
            return Double(parts[0])
        }
        let raw = try Tool.run(
            "ffmpeg", ["-v", "error", "-i", main.path, "-map", "0:a", "-ac", "1", "-ar", "44100", "-f", "s16le", "-"])
        let samples = unsafe raw.withUnsafeBytes { unsafe Array($0.bindMemory(to: Int16.self)) }
        var clicks: [Double] = []
        for (index, sample) in samples.enumerated() where abs(Int(sample)) > 8000 {
            let time = Double(index) / 44100
            if time - (clicks.last ?? -1) > 0.5 { clicks.append(time) }
        }
        #expect(!flashes.isEmpty)
        #expect(flashes.count == clicks.count)
        for (flash, click) in zip(flashes, clicks) { #expect(abs(flash - click) < 0.02) }
        let expected = start == 0 ? 0 : 0.7
        #expect(abs((flashes.first ?? -1) - expected) < 0.041)
    }

    @Test func `a source that fits is copied whole, without a trim in the record`() throws {
        let source = try counted("source.mov", seconds: 3, Self.plain)
        let made = try #require(try Clips.render(source))
        let main = try #require(made.main)
        #expect(made.ending.trim == nil)
        #expect(made.report(.main)?.note.hasPrefix("copied") == true)
        #expect(try Probe.of(main).format.formatName.contains("mp4"))
        let hashes = try pictureHashes(source, main)
        #expect(hashes.count == 2 && hashes.first == hashes.last)
        #expect(made.reports.map(\.role) == [.thumbnail, .poster, .main])
        #expect(made.ending.placeholder?.thumbhash != nil)
    }

    /// Hashes of decoded pictures.
    private func pictureHashes(_ one: URL, _ other: URL) throws -> [Substring] {
        let outputs = ["-map", "0:v", "-f", "md5", "-", "-map", "1:v", "-f", "md5", "-"]
        return try Tool.text("ffmpeg", ["-v", "error", "-i", one.path, "-i", other.path] + outputs)
            .split(separator: "\n")
    }

    @Test func `the index comes before the data`() throws {
        for (name, trim) in [("copied.mp4", nil), ("encoded.mp4", TrimRequest(start: 0.52, duration: 0.6))] {
            let source = try counted(name, seconds: 2, ["-c:v", "libx264"])
            let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
            let data = try Data(contentsOf: try #require(made.main))
            let index = try #require(data.range(of: Data("moov".utf8)))
            let media = try #require(data.range(of: Data("mdat".utf8)))
            #expect(index.lowerBound < media.lowerBound)
        }
    }

    @Test(arguments: [90, 180, 270])
    func `a rotated video stays upright, copied or encoded`(degrees: Int) throws {
        let source = file("rotated.mp4")
        // The top half is white.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=black:size=96x64:rate=25:duration=2,drawbox=w=96:h=32:c=white:t=fill",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "250",
            ], to: source)
        try Clips.turn(source, clockwise: degrees)
        let upright = degrees == 180 ? PixelSize(width: 96, height: 64) : PixelSize(width: 64, height: 96)
        var files = [source]
        for trim in [nil, TrimRequest(start: 0.52, duration: 0.6)] {
            let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
            #expect(made.probeResult.size == upright)
            #expect(made.report(.main)?.size == upright)
            let main = try #require(made.main)
            files += [main, try #require(made.files[.poster])]
            if trim != nil { #expect(try Probe.of(main).video?.sideDataList == nil) }
        }
        // What a player shows is what it shows of the source.
        let shapes = try shapes(of: files)
        for (file, shape) in zip(files, shapes) { #expect(shape == shapes[0], "\(file.lastPathComponent)") }
    }

    /// The quarters of each file's first picture that are bright, as a player shows it.
    private func shapes(of urls: [URL]) throws -> [[Bool]] {
        let shots = urls.indices.map { file("\($0).gray") }
        var arguments = ["-v", "error", "-nostdin"] + urls.flatMap { ["-i", $0.path] }
        for (index, shot) in shots.enumerated() {
            arguments += ["-map", "\(index):v:0", "-frames:v", "1", "-vf", "scale=2:2:flags=area", "-pix_fmt", "gray"]
            arguments += ["-f", "rawvideo", shot.path]
        }
        try Tool.run("ffmpeg", arguments)
        return try shots.map { shot in try Data(contentsOf: shot).map { $0 > 128 } }
    }

    @Test func `pictures of a variable rate keep their times`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=4", "-vf",
                "select='lt(mod(n,25),5)+eq(mod(n,25),12)'", "-vsync", "vfr", "-pix_fmt", "yuv420p", "-c:v", "libx264",
                "-g", "250",
            ], to: source)
        let made = try #require(
            try Clips.render(source, request: RenditionRequest(trim: TrimRequest(start: 1.04, duration: 2))))
        #expect(made.ending.trim?.method == .encode)
        let times = try Probe.of(try #require(made.main), frames: true).frames?.compactMap { Double($0.ptsTime ?? "") }
        let expected = [0, 1, 2, 3, 11, 24, 25, 26, 27, 28, 36, 49].map { Double($0) * 0.04 }
        #expect(times?.count == expected.count)
        for (time, wanted) in zip(times ?? [], expected) { #expect(abs(time - wanted) < 0.002) }
        // FFmpeg 7.1 says how long it takes to decode them instead of what the header says.
        #expect(abs(try Clips.movieSeconds(made.file(.main)) - 2) < 0.02)
    }

    @Test func `large and foreign videos become H.264 within the profile's size`() throws {
        let source = file("source.webm")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=1600x900:rate=10:duration=1", "-f", "lavfi", "-i",
                "sine=duration=1", "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libopus",
            ], to: source)
        let made = try #require(try Clips.render(source))
        let probe = try Probe.of(try #require(made.main))
        #expect(probe.video?.width == 1280)
        #expect(probe.video?.height == 720)
        #expect(probe.video?.codecName == "h264")
        #expect(probe.audio?.codecName == "aac")
        #expect(made.probeResult.type == .webm)
    }

    @Test func `nothing of a source's metadata is left`() throws {
        let plain = try counted("plain.mp4", seconds: 2, ["-c:v", "libx264"])
        let chapters = file("chapters.txt")
        try Data(";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=canary\n".utf8).write(to: chapters)
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-i", plain.path, "-i", chapters.path, "-map_metadata", "1", "-c", "copy", "-metadata", "title=canary",
                "-metadata", "location=+48.85+002.35/", "-metadata", "creation_time=2020-01-01T00:00:00Z",
                "-metadata:s:v", "handler_name=canary", "-metadata:s:a", "language=fra",
            ], to: source)
        var mains: [URL] = []
        for trim in [nil, TrimRequest(start: 0.52, duration: 0.6)] {
            let made = try #require(try Clips.render(source, request: RenditionRequest(trim: trim)))
            let main = try #require(made.main)
            mains.append(main)
            let data = try Data(contentsOf: main)
            for canary in ["canary", "48.85", "x264", "Lavf", "Lavc", "udta", "ilst"] {
                #expect(data.range(of: Data(canary.utf8)) == nil, "\(canary), \(made.report(.main)?.note ?? "")")
            }
            let probe = try Probe.of(main)
            #expect(probe.chapters?.isEmpty != false)
            #expect(probe.format.tags?["creation_time"] == nil)
        }
        let asked = ["-q", "-G1", "-S", "-UserData:all", "-ItemList:all", "-Keys:all", "-CreateDate"]
        let tags = try Tool.text("exiftool", asked + mains.map(\.path)).split(separator: "\n")
        #expect(tags == ["[QuickTime] CreateDate: 0000:00:00 00:00:00", "[QuickTime] CreateDate: 0000:00:00 00:00:00"])
    }

    @Test func `a poster is not the black beginning, and thumbnail_time chooses it`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=128x96:rate=25:duration=4,drawbox=enable='lt(t,1)':c=black:t=fill",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "250",
            ], to: source)
        let chosen = try #require(try Clips.render(source))
        let wanted = try #require(
            try Clips.render(
                source,
                request: RenditionRequest(trim: TrimRequest(start: 0.2, duration: 3), thumbnailTime: 0.48)))
        let posters = try [chosen, wanted].map { made in try #require(made.files[.poster]).path }
        let light = try Tool.text("convert", posters + ["-colorspace", "gray", "-format", "%[fx:mean]\n", "info:"])
            .split(separator: "\n").compactMap { Double($0) }
        try #require(light.count == 2)
        #expect(light[0] > 0.2 && light[1] < 0.1, "\(light)")
        #expect(abs((wanted.ending.thumbnailTime ?? 0) - 0.28) < 0.001)
    }

    @Test func `what is too long is refused or trimmed, as its profile says`() throws {
        let source = try counted("source.mp4", seconds: 3, Self.plain)
        var profile = Profile.message
        profile.video?.maximumDuration = 2
        #expect(throws: AttachmentError.tooLong(seconds: 3, limit: 2)) {
            _ = try Clips.probeResult(source, profile: profile)
        }
        profile.video?.whenLonger = .trim
        let made = try #require(try Clips.render(source, profile: profile))
        let trim = try #require(made.ending.trim)
        #expect(trim.start == 0)
        #expect(trim.duration <= 2.0001 && trim.duration > 1.4)
        #expect(try Probe.of(try #require(made.main)).duration < 2.03)
    }

    @Test(
        arguments: [
            ("-crf 0", false), ("-qp 0", false), ("-crf 20 -level 6.2", false), ("-profile:v baseline", true),
            ("-profile:v main", true), ("-profile:v high -level 5.2", true),
        ])
    func `a copy has a profile and a level that players take`(encoding: String, isCopied: Bool) throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:duration=0.4", "-pix_fmt", "yuv420p", "-c:v", "libx264"]
                + encoding.split(separator: " ").map(String.init), to: source)
        let made = try #require(try Clips.render(source, profile: CountedClips.profile))
        #expect(made.report(.main)?.note.hasPrefix("copied") == isCopied, "\(made.report(.main)?.note ?? "")")
        #expect(["Constrained Baseline", "Main", "High"].contains(try made.pictures().profile ?? ""))
    }

    @Test(
        arguments: [
            // Slices in two groups; redundant pictures; profiles and levels by the bytes behind a header.
            ([66, 0xc0, 30], [0x68, 0xce, 0x3c, 0x80], nil),
            ([66, 0x80, 30], [0x68, 0xc5, 0x3c, 0x80], "its slices are grouped"),
            ([66, 0x80, 30], [0x68, 0xce, 0x3c, 0xe0], nil),
            ([66, 0x80, 30], [0x68, 0xce, 0x3d, 0x80], "it has redundant pictures"),
            ([88, 0, 30], [0x68, 0xce, 0x3c, 0x80], "its profile 88 is more than players take"),
            ([88, 0x80, 30], [0x68, 0xce, 0x3c, 0x80], nil),
            ([110, 0x10, 30], [0x68, 0xce, 0x3c, 0x80], "its profile 110 is more than players take"),
            ([100, 0, 62], [0x68, 0xce, 0x3c, 0x80], "its level 6.2 is more than players take"),
        ] as [([UInt8], [UInt8], String?)])
    func `tools that players lack are an obstacle`(sequence: [UInt8], picture: [UInt8], obstacle: String?) throws {
        let configuration: [UInt8] = [0, 0, 0, 1, 0x67] + sequence + [0xe8, 0, 0, 0, 1] + picture
        let sets = unsafe configuration.withUnsafeBufferPointer { unsafe ParameterSets(configuration: $0) }
        #expect(try #require(sets).obstacle == obstacle)
    }

    @Test func `an aim is kept by the bit rate, and a cap that can't be kept is an error`() throws {
        let source = file("noise.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=3", "-vf", "noise=alls=60:allf=t",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast",
            ], to: source)
        var profile = Profile.notification
        profile.video?.aim = 150_000
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(try #require(made.report(.main)).bytes <= 150_000)
        #expect(try Probe.decodingErrors(try #require(made.main)) == "")

        profile.video?.aim = 1_500
        profile.video?.cap = 1_500
        do {
            _ = try Clips.render(source, profile: profile)
            Issue.record("1,500 bytes were enough")
        } catch let error as AttachmentError {
            #expect(error.code == .capUnreachable)
        }
    }

    @Test(arguments: [(10_000_000, 0.0, true), (10_000_000, 1.3, true), (40_000, 0, false)] as [(Int64, Double, Bool)])
    func `beside pictures that are encoded sound stays as it is where it fits`(
        cap: Int64, start: Double, isCopied: Bool
    ) throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=4", "-f", "lavfi", "-i",
                "anoisesrc=d=4:r=44100:seed=1", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "96k",
            ], to: source)
        var profile = Profile(name: "small")
        profile.video = VideoPolicy(longestSide: 320, cap: cap, poster: nil)
        let request = start > 0 ? RenditionRequest(trim: TrimRequest(start: start, duration: 2)) : RenditionRequest()
        let made = try #require(try Clips.render(source, profile: profile, request: request))
        let note = try #require(made.report(.main)?.note)
        #expect(note.contains("sound copied") == isCopied, "\(note)")
        let packets = [file("own"), file("theirs")]
        try Tool.run(
            "ffmpeg",
            ["-v", "error", "-nostdin", "-i", made.file(.main).path, "-i", source.path]
                + packets.enumerated().flatMap { ["-map", "\($0):a", "-c", "copy", "-f", "data", $1.path] })
        let (own, theirs) = (try Data(contentsOf: packets[0]), try Data(contentsOf: packets[1]))
        // Its first packet is freed of what its encoder signs with.
        #expect((own.count > 2000 && theirs.range(of: own.dropFirst(1000)) != nil) == isCopied)
        // As long as its pictures, to half a packet at either end.
        guard isCopied else { return }
        let audio = try #require(try made.audio().duration.flatMap { Double($0) })
        #expect(abs(audio - (start > 0 ? 2 : 4)) < 0.05, "\(audio)")
        #expect(try Probe.decodingErrors(made.file(.main)) == "")
    }

    @Test func `playlists, foreign and damaged files are refused`() throws {
        let playlist = file("playlist.mp4")
        try Data("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n#EXT-X-ENDLIST\n".utf8).write(to: playlist)
        // Whatever libmagic were to say of it.
        for sniffed in ["text/plain", "application/octet-stream", "video/mp2t", "audio/mpeg", "video/x-unknown"] {
            let opened = try withDescriptor(playlist) { descriptor in
                Rendered.turn.lock()
                defer { Rendered.turn.unlock() }
                do {
                    let clip = try Clip.open(descriptor, sniffed: sniffed, order: WorkOrder(profile: .notification))
                    return clip != nil
                } catch let error as AttachmentError {
                    // FFmpeg knows it for what it is, and opens nothing that it names.
                    let isCalledPlaylist = error.message.contains("Apple HTTP Live Streaming")
                    #expect(error.code == (isCalledPlaylist ? .unsupportedFeature : .undecodable))
                    return false
                }
            }
            #expect(!opened, "\(sniffed)")
        }
        let raw = file("raw.h264")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:duration=1", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-f",
                "h264",
            ],
            to: raw)
        #expect(
            throws: AttachmentError.unsupportedFeature(
                reason: "it begins like raw H.264 video, which is not supported",
                advice: "Convert it to MP4, or to M4A, MP3 or FLAC where it is sound.")
        ) { try Clips.probeResult(raw) }
        let whole = try counted("whole.mp4", seconds: 1, Self.plain)
        let cut = file("cut.mp4")
        try Data(contentsOf: whole).prefix(2000).write(to: cut)
        do {
            _ = try Clips.probeResult(cut)
            Issue.record("a file without its index was opened")
        } catch let error as AttachmentError {
            #expect(error.code == .corrupt)
        }
    }

    @Test func `a truncated video gives what it has`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-i", try counted("whole.mp4", seconds: 4, ["-c:v", "libx264", "-g", "25"]).path, "-c", "copy",
                "-movflags", "+faststart",
            ], to: source)
        let data = try Data(contentsOf: source)
        try data.prefix(data.count * 2 / 3).write(to: source)
        var profile = Profile.notification
        profile.damaged = .salvage
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(try #require(made.probeResult.duration) < 3.9)
        #expect(try Probe.of(try #require(made.main)).duration > 0.5)
    }

    @Test func `random damage never ends the process`() throws {
        var generator = SeededGenerator()
        for (name, codec) in Self.damaged {
            let source = try counted(name, seconds: 1, ["-c:v", codec])
            let audio = try Data(contentsOf: source)
            for _ in 0..<6 {
                var data = audio
                for _ in 0..<30 {
                    data[Int.random(in: 0..<data.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                let damaged = file("damaged")
                try data.write(to: damaged)
                do {
                    _ = try Clips.render(damaged)
                } catch is AttachmentError {
                    // Refused: as good as delivered, as long as it is said.
                }
            }
        }
    }
}
