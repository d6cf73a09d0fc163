import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What is delivered is at most its cap: judged by ImageMagick and libwebp's own decoder.
@Suite struct StillCapTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Each content as a PNG.
    private static let sources = Result {
        try SharedDirectory { directory in
            try make(StillContent.allCases.map { ($0.raster, directory.appending(path: "\($0.rawValue).png")) })
        }
    }

    private static func source(_ content: StillContent) throws -> URL {
        try sources.get().url.appending(path: "\(content.rawValue).png")
    }

    /// By one call of FFmpeg.
    private static func make(_ pictures: [(raster: Raster, file: URL)]) throws {
        var inputs: [String] = []
        var outputs: [String] = []
        for (index, picture) in pictures.enumerated() {
            let (raster, pixels) = (picture.raster, picture.file.appendingPathExtension("raw"))
            try Data(raster.bytes).write(to: pixels)
            inputs += [
                "-f", "rawvideo", "-pixel_format", raster.channels == 4 ? "rgba" : "rgb24", "-video_size",
                "\(raster.width)x\(raster.height)", "-i", pixels.path,
            ]
            outputs += ["-map", "\(index)", "-frames:v", "1", "-update", "1", picture.file.path]
        }
        try Tool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + inputs + outputs)
    }

    /// `format width height` of each, decoded whole by ImageMagick, to which a warning is a failure.
    private func judged(_ files: [URL]) throws -> [String] {
        try Tool.text("identify", ["-regard-warnings", "-format", "%m %w %h\n"] + files.map(\.path))
            .split(separator: "\n").map(String.init)
    }

    /// `codec width height` by FFmpeg, which decodes it: ImageMagick takes no sides over 16,000.
    private func probed(_ file: String) throws -> String {
        try Tool.run("ffmpeg", ["-v", "error", "-xerror", "-nostdin", "-i", file, "-f", "null", "-"])
        return try Tool.text(
            "ffprobe",
            ["-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0:s=\\ ", file])
    }

    @Test(arguments: StillContent.allCases, [[MediaType.jpeg, .png], [.png], [.webp], [.jpeg]])
    func `a still is within its cap, from the smallest that is allowed`(content: StillContent, types: [MediaType])
        throws
    {
        let source = try Self.source(content)
        let floor = try #require(types.compactMap(BoundedStill.floor(of:)).min())
        let thumbnailFloor = try #require(BoundedStill.floor(of: .png))
        var files: [URL] = []
        var said: [String] = []
        let place = (StillContent.allCases.firstIndex(of: content) ?? 0) + types.count
        for cap in Sweep.of([floor, 700, 3_000, 20_000, 1_000_000], every: 5, from: place) {
            var profile = Profile.notification
            profile.image?.types = types
            profile.image?.aim = nil
            profile.image?.cap = cap
            profile.thumbnail?.cap = max(thumbnailFloor, cap / 10)
            #expect(profile.problems().isEmpty)
            let rendered = try Rendered.of(source, in: directory.url, profile: profile)
            for role in [RenditionRole.main, .thumbnail] {
                let report = try #require(rendered.report(role))
                let output = try #require(rendered.files[role])
                let bytes = try Data(contentsOf: output).count
                #expect(Int64(bytes) <= (try #require(profile.cap(of: role, for: .image))), "\(report)")
                #expect(Int64(bytes) == report.bytes)
                #expect((1...6).contains(report.encodes) && report.note.contains("\(report.encodes) encode"))
                #expect(role == .thumbnail || types.contains(report.type))
                let size = try #require(report.size)
                let name = ["image/jpeg": "JPEG", "image/png": "PNG", "image/webp": "WEBP"][report.type.rawValue] ?? ""
                files.append(output)
                said.append("\(name) \(size.width) \(size.height)")
            }
        }
        #expect(try judged(files) == said)
    }

    @Test func `a still of 48 megapixels of noise is within its cap`() throws {
        // A tile of noise, 256 times.
        let tile = directory.url.appending(path: "tile.png")
        try Self.make([(StillContent.noise(500, 375, channels: 3, isExtreme: false), tile)])
        let source = directory.url.appending(path: "source.jpg")
        try Tool.run("convert", ["-size", "8000x6000", "tile:" + tile.path, "-quality", "60", source.path])
        var profile = Profile.notification
        profile.image?.cap = 60_000
        profile.image?.aim = 40_000
        profile.thumbnail?.cap = 2_000
        let rendered = try Rendered.of(source, in: directory.url, profile: profile)
        for (role, cap) in [(RenditionRole.main, 60_000), (.thumbnail, 2_000)] {
            let report = try #require(rendered.report(role))
            #expect(try Data(contentsOf: try #require(rendered.files[role])).count <= cap)
            #expect(report.bytes > Int64(cap / 3), "\(report.note)")
            let size = try #require(report.size)
            #expect(try judged([try #require(rendered.files[role])]) == ["JPEG \(size.width) \(size.height)"])
        }
    }

    @Test func `a resolution that is kept is never given up for the cap`() throws {
        let source = try Self.source(.noise)
        var profile = Profile.archive
        profile.image?.cap = 20_000
        let rendered = try Rendered.of(source, in: directory.url, profile: profile)
        #expect(try rendered.judged(.main) == "JPEG 320 240|")
        #expect(try #require(rendered.report(.main)).bytes <= 20_000)
        profile.image?.cap = 1_000
        let error = try Rendered.refusal(of: source, in: directory.url, profile: profile)
        #expect(error?.code == .capUnreachable)
        // Palette PNG cannot do it either.
        profile.image?.types = [.png]
        profile.image?.cap = 40_000
        #expect(try Rendered.refusal(of: source, in: directory.url, profile: profile)?.code == .capUnreachable)
        profile.image?.cap = 82_000
        #expect(try Rendered.of(source, in: directory.url, profile: profile).judged(.main) == "PNG 320 240|")
    }

    @Test func `a picture too long for WebP becomes another type of its profile, else shorter`() throws {
        let source = try Self.source(.tall)
        var profile = Profile.archive
        profile.image?.types = [.webp, .png]
        let other = try Rendered.of(source, in: directory.url, profile: profile)
        #expect(try probed(try other.path(.main)) == "png 1 20000")
        profile.image?.types = [.webp]
        let shorter = try Rendered.of(source, in: directory.url, profile: profile)
        #expect(try probed(try shorter.path(.main)) == "webp 1 16383")
    }

    @Test func `waveforms and posters are within their caps`() throws {
        var profile = Profile.notification
        profile.audio?.waveform?.cap = 96
        let audio = try Rendered.of(
            Repository.media.appending(path: "wav/voice.wav"), in: directory.url, profile: profile)
        let waveform = try #require(audio.files[.waveform])
        #expect(try Data(contentsOf: waveform).count <= 96)
        #expect(try judged([waveform]).first?.hasPrefix("PNG ") == true)
        profile.video?.poster?.cap = 900
        let film = try Rendered.of(
            Repository.media.appending(path: "mp4/film.mp4"), in: directory.url, profile: profile)
        let poster = try #require(film.files[.poster])
        #expect(try Data(contentsOf: poster).count <= 900)
        #expect(try judged([poster]).first?.hasPrefix("JPEG ") == true)
    }

    // MARK: The bounds

    @Test(arguments: BoundedWay.all)
    func `no noise takes more than the bound, and the file is whole`(way: BoundedWay) throws {
        try Codec.everything.prepare()
        var files: [URL] = []
        var sides: [String] = []
        for (width, height) in [(1, 1), (1, 2), (3, 5), (16, 16), (17, 33), (65, 63), (300, 200), (1, 3000), (3000, 1)]
        {
            let size = PixelSize(width: width, height: height)
            for isExtreme in [false, true] {
                let raster = StillContent.noise(width, height, channels: way.channels, isExtreme: isExtreme)
                let attempt = StillAttempt(type: way.way.type, form: way.way.form(quality: 20), size: size)
                let policy = StillPolicy(
                    role: .main, framing: Framing(side: nil, fit: .inside), quality: 100, cap: .max)
                let encoded = try StillEncoder(policy: policy).encoded(raster.picture(), attempt)
                #expect(Int64(encoded.count) <= way.way.mostBytes(size))
                let file = directory.url.appending(path: "bounded-\(files.count)")
                try Data().write(to: file)
                try withDescriptor(file, O_WRONLY) { try encoded.write(to: $0) }
                files.append(file)
                sides.append("\(width) \(height)")
                guard case .plainWebP = way.way, width * height < 3_000 else { continue }
                // Without loss, and of exactly the bytes that were said.
                #expect(Int64(encoded.count) == way.way.mostBytes(size))
                let format = way.channels == 4 ? "-pam" : "-ppm"
                let shown = try Tool.run("dwebp", ["-quiet", file.path, format, "-o", "-"])
                #expect([UInt8](shown.suffix(raster.bytes.count)) == raster.bytes)
            }
        }
        #expect(try judged(files).map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == sides)
    }

    struct BoundedWay: Sendable, CustomStringConvertible {
        var way: BoundedStill
        var channels: Int

        var description: String { "\(way)" }

        static let all = [
            BoundedWay(way: .jpeg, channels: 3), BoundedWay(way: .png(channels: 3), channels: 3),
            BoundedWay(way: .png(channels: 4), channels: 4), BoundedWay(way: .palettePNG, channels: 4),
            BoundedWay(way: .plainWebP(channels: 3), channels: 3),
            BoundedWay(way: .plainWebP(channels: 4), channels: 4),
        ]
    }
}
