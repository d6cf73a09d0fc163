import Foundation
import TestSupport
import Testing

@testable import SatchelCore
@testable import ClipCodecs
@testable import StillCodecs

/// Which picture stands for a video, and how it is cropped; judged by the pixels that ImageMagick and FFmpeg read.
@Suite struct PosterTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// When the chosen picture is shown, as the report says.
    private func moment(_ made: RenderedClip) throws -> Double {
        let note = try #require(made.report(.poster)?.note)
        let match = try #require(note.firstMatch(of: /the picture at ([0-9.]+) s/))
        return try #require(Double(match.1))
    }

    private func statistics(_ url: URL) throws -> (mean: Double, deviation: Double) {
        let parts = try Tool.text(
            "convert", [url.path, "-colorspace", "gray", "-format", "%[fx:mean] %[fx:standard_deviation]", "info:"]
        ).split(separator: " ").compactMap { Double($0) }
        return (parts[0], parts[1])
    }

    private static let wide = [
        "smpte432 bt709 bt709", "bt2020 bt709 bt2020nc", "bt2020 arib-std-b67 bt2020nc", "bt2020 smpte2084 bt2020nc",
    ]

    @Test(
        arguments: Sweep.of(
            wide.flatMap { colors in
                ["1080x810", "1440x1080", "1080x1440", "1282x962", "1920x1080", "334x1200"].map { (colors, $0) }
            }, every: 3))
    func `colors beyond sRGB have a poster at any shape`(colors: String, size: String) throws {
        let source = file("wide.mp4")
        let names = colors.split(separator: " ").map(String.init)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=10:duration=0.2", "-pix_fmt", "yuv420p", "-c:v",
                "libx264",
                "-preset", "ultrafast", "-color_primaries", names[0], "-color_trc", names[1], "-colorspace", names[2],
            ], to: source)
        let made = try #require(try Clips.render(source, profile: .message))
        #expect(made.reports.map(\.role) == made.probeResult.planned)
        #expect(made.ending.losses == [])
        let sides = size.split(separator: "x").compactMap { Double($0) }
        let poster = try #require(made.report(.poster)?.size)
        #expect(abs(Double(poster.width) / Double(poster.height) - sides[0] / sides[1]) < 0.01)
        #expect(try statistics(try made.file(.poster)).deviation > 0.1)
    }

    @Test func `a poster that can't be made takes nothing else along`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", Self.scene + ":duration=0.5", "-pix_fmt", "yuv420p", "-c:v", "libx264"], to: source)
        var profile = Profile.message
        profile.video?.poster?.cap = 100
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(made.reports.map(\.role) == [.thumbnail, .main])
        #expect(made.ending.losses == [Finding(.failed, .poster, named: "cap_unreachable")])
    }

    private static let scene = "testsrc2=size=320x240:rate=25"

    @Test(arguments: [25, 250])
    func `the poster is neither black nor white nor empty`(group: Int) throws {
        let source = file("source.mp4")
        // Two seconds of black, one of white, one of grey, then a scene.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=black:size=320x240:rate=25:duration=2", "-f", "lavfi", "-i",
                "color=c=white:size=320x240:rate=25:duration=1", "-f", "lavfi", "-i",
                "color=c=gray:size=320x240:rate=25:duration=1", "-f", "lavfi", "-i", Self.scene + ":duration=2",
                "-filter_complex", "[0][1][2][3]concat=n=4,format=yuv420p", "-c:v", "libx264", "-g", "\(group)",
                "-sc_threshold", "0",
            ], to: source)
        let made = try #require(try Clips.render(source))
        #expect(try moment(made) >= 3.95)
        let (mean, deviation) = try statistics(try made.file(.poster))
        #expect(mean > 0.2 && mean < 0.8 && deviation > 0.15)
        let note = try #require(made.report(.poster)?.note)
        #expect(note.contains(/of them (almost )?empty/), "\(note)")
    }

    @Test(arguments: [10, 250])
    func `the poster is not of a blurred part`(group: Int) throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", Self.scene + ":duration=5", "-vf",
                "gblur=sigma=9:enable='lt(t,3)',format=yuv420p", "-c:v", "libx264", "-g", "\(group)", "-sc_threshold",
                "0",
            ], to: source)
        let made = try #require(try Clips.render(source))
        #expect(try moment(made) >= 2.99)
    }

    @Test(arguments: [12, 250])
    func `the poster is not in a transition`(group: Int) throws {
        let source = file("source.mp4")
        // A dissolve from 0 to 2.4 s, which the part begins with; then a still scene.
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "mandelbrot=size=320x240:rate=25:start_scale=0.5:end_scale=0.5,trim=duration=3",
                "-f", "lavfi", "-i", "testsrc=size=320x240:rate=25:duration=5", "-filter_complex",
                "[0]format=yuv420p[a];[1]format=yuv420p[b];[a][b]xfade=duration=2.4:offset=0.2", "-c:v", "libx264",
                "-g",
                "\(group)", "-sc_threshold", "0",
            ], to: source)
        let made = try #require(try Clips.render(source))
        let moment = try moment(made)
        #expect(moment <= 0.25 || moment >= 2.4, "\(made.report(.poster)?.note ?? "")")
    }

    @Test func `where the first keyframe has all that there is to see, no other is decoded`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", Self.scene + ":duration=4", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "20"],
            to: source)
        let packets = try Tool.text(
            "ffprobe", ["-v", "error", "-show_entries", "packet=pos,size,flags", "-of", "csv=p=0", source.path]
        ).split(separator: "\n").map { $0.split(separator: ",") }.filter { $0[2].hasPrefix("K") }
        var data = try Data(contentsOf: source)
        for packet in packets.dropFirst() {
            let (bytes, start) = (try #require(Int(packet[0])), try #require(Int(packet[1])))
            for index in start + bytes / 2..<start + bytes { data[index] = 0xff }
        }
        #expect(packets.count == 5)
        try data.write(to: source)
        var profile = Profile.notification
        profile.damaged = .salvage
        let made = try #require(try Clips.render(source, profile: profile))
        #expect(try moment(made) == 0)
        #expect(made.report(.poster)?.note.contains("the first good one of 5") == true)
        #expect(made.ending.trim == nil)
    }

    @Test func `of equals the earliest is chosen`() throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", Self.scene + ":duration=4", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "10"],
            to: source)
        let made = try #require(try Clips.render(source))
        #expect(try moment(made) < 1)
        #expect(try moment(made) >= 0)
    }

    @Test(arguments: [0.0, 0.49, 1.0, 1.33, 2.6, 3.99], [5, 250])
    func `thumbnail_time is exact to the picture`(time: Double, group: Int) throws {
        let source = file("source.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=black:size=64x48:rate=25:duration=4,geq=lum='30+2*N':cb=128:cr=128",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "\(group)", "-bf", "2", "-qp", "6",
            ], to: source)
        let made = try #require(try Clips.render(source, request: RenditionRequest(thumbnailTime: time)))
        let shown = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-i", try made.file(.poster).path, "-vf",
                "scale=out_range=tv,format=yuv420p,extractplanes=y", "-f", "rawvideo", "-",
            ])
        let frame = (Double(shown[shown.count / 2]) - 30) / 2
        #expect(abs(frame - (time * 25).rounded(.down)) <= 1, "\(frame) of \(time * 25)")
    }

    /// Four quarters: red, green, blue, white.
    private borrowing func quarters(size: String = "320x160") throws -> URL {
        let source = file("quarters.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=red:size=\(size):rate=10:duration=1", "-vf",
                "drawbox=x=iw/2:y=0:w=iw/2:h=ih/2:c=lime:t=fill,drawbox=x=0:y=ih/2:w=iw/2:h=ih/2:c=blue:t=fill,"
                    + "drawbox=x=iw/2:y=ih/2:w=iw/2:h=ih/2:c=white:t=fill,format=yuv420p", "-c:v", "libx264", "-qp",
                "6",
            ], to: source)
        return source
    }

    /// The name of the colour at a place of a picture, in parts of its sides.
    private func colour(_ url: URL, _ x: Double, _ y: Double) throws -> String {
        let text = try Tool.text(
            "convert",
            [
                url.path, "-format", "%[fx:p{w*\(x),h*\(y)}.r] %[fx:p{w*\(x),h*\(y)}.g] %[fx:p{w*\(x),h*\(y)}.b]",
                "info:",
            ])
        let parts = text.split(separator: " ").compactMap { Double($0) }.map { $0 > 0.5 }
        return switch parts {
        case [true, false, false]: "red"
        case [false, true, false]: "green"
        case [false, false, true]: "blue"
        case [true, true, true]: "white"
        default: "\(text)"
        }
    }

    @Test func `a rectangle crops thumbnail and poster, not the film`() throws {
        let source = try quarters()
        let rect = UnitRect(x: 0.5, y: 0, width: 0.5, height: 0.5)
        let made = try #require(try Clips.render(source, request: RenditionRequest(crop: .rect(rect))))
        #expect(made.report(.poster)?.size == PixelSize(width: 160, height: 80))
        #expect(made.report(.thumbnail)?.size == PixelSize(width: 80, height: 80))
        for role in [RenditionRole.poster, .thumbnail] {
            for (x, y) in [(0.1, 0.1), (0.9, 0.9)] {
                #expect(try colour(try made.file(role), x, y) == "green")
            }
        }
        #expect(made.report(.main)?.size == PixelSize(width: 320, height: 160))
    }

    @Test(arguments: [(0.0, "red", "blue"), (1.0, "green", "white"), (0.2, "red", "blue")])
    func `a focal point decides where the square thumbnail is taken from`(x: Double, top: String, bottom: String) throws
    {
        let source = try quarters()
        let made = try #require(try Clips.render(source, request: RenditionRequest(crop: .focalPoint(x: x, y: 0.5))))
        let thumbnail = try made.file(.thumbnail)
        #expect(made.report(.thumbnail)?.size == PixelSize(width: 160, height: 160))
        let place = x == 1 ? 0.9 : 0.1
        #expect(try colour(thumbnail, place, 0.2) == top)
        #expect(try colour(thumbnail, place, 0.8) == bottom)
        #expect(try colour(thumbnail, x == 1 ? 0.1 : 0.6, 0.2) == top)
    }

    @Test func `a crop to the centre takes both halves, and one to attention the part with something in it`() throws {
        let centred = try #require(try Clips.render(quarters(), request: RenditionRequest(crop: .centre)))
        let thumbnail = try centred.file(.thumbnail)
        #expect(try colour(thumbnail, 0.2, 0.2) == "red")
        #expect(try colour(thumbnail, 0.8, 0.2) == "green")

        let source = file("attention.mp4")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=0x202020:size=480x160:rate=10:duration=1", "-f", "lavfi", "-i",
                "testsrc=size=120x120:rate=10:duration=1", "-filter_complex", "[0][1]overlay=x=350:y=20,format=yuv420p",
                "-c:v", "libx264", "-qp", "10",
            ], to: source)
        let attentive = try #require(try Clips.render(source, request: RenditionRequest(crop: .attention)))
        let dull = try #require(try Clips.render(source, request: RenditionRequest(crop: .focalPoint(x: 0, y: 0.5))))
        #expect(try statistics(try attentive.file(.thumbnail)).deviation > 0.15)
        #expect(try statistics(try dull.file(.thumbnail)).deviation < 0.02)
    }

    @Test func `a rectangle refers to the upright picture`() throws {
        let source = try quarters()
        try Clips.turn(source, clockwise: 90)
        // Turned by 90° clockwise the top row is blue and red.
        let rect = UnitRect(x: 0, y: 0, width: 0.5, height: 0.5)
        let made = try #require(try Clips.render(source, request: RenditionRequest(crop: .rect(rect))))
        let whole = try #require(try Clips.render(source))
        let poster = try made.file(.poster)
        let corner = try colour(try whole.file(.poster), 0.1, 0.1)
        #expect(try colour(poster, 0.1, 0.1) == corner)
        #expect(try colour(poster, 0.9, 0.9) == corner)
        #expect(made.report(.poster)?.size == PixelSize(width: 80, height: 160))
        #expect(corner == "blue" || corner == "green")
    }

    @Test(arguments: [(0.0, "#c", "red"), (1.0, "#0", "blue"), (2.0, "#c", "black, then red")])
    func `without stills the placeholder shows what the part begins with, unless that is nothing`(
        start: Double, colour: String, scene: String
    ) throws {
        let source = file("scenes.mp4")
        let box = "drawbox=x=iw/4:y=ih/4:w=iw/4:h=ih/4:c=0x404040:t=fill"
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=0xcc0000:size=320x180:rate=10:duration=1,\(box)", "-f", "lavfi", "-i",
                "color=c=0x0000cc:size=320x180:rate=10:duration=1,\(box)", "-f", "lavfi", "-i",
                "color=c=black:size=320x180:rate=10:duration=0.5", "-f", "lavfi", "-i",
                "color=c=0xcc0000:size=320x180:rate=10:duration=1.5,\(box)", "-filter_complex",
                "[0][1][2][3]concat=n=4,format=yuv420p", "-c:v", "libx264", "-g", "5", "-sc_threshold", "0",
            ], to: source)
        var profile = Profile(name: "main alone")
        profile.video = VideoPolicy(cap: 10_000_000, poster: nil)
        let request = RenditionRequest(trim: TrimRequest(start: start, duration: 1))
        let made = try #require(try Clips.render(source, profile: profile, request: request))
        #expect(made.reports.map(\.role) == [.main])
        let found = try #require(made.ending.placeholder?.color)
        #expect(found.hasPrefix(colour), "\(scene): \(found)")
        #expect(made.ending.placeholder?.thumbhash != nil && made.ending.placeholder?.blurhash != nil)
    }

    // MARK: The decision alone

    private static func statistics(_ time: Double, _ pixel: (Int, Int) -> Int) -> FrameStatistics {
        let bytes = (0..<48).flatMap { y in (0..<64).map { x in UInt8(max(0, min(255, pixel(x, y)))) } }
        return FrameStatistics(time: time, width: 64, height: 48, luminance: bytes)
    }

    @Test func `what is empty, blurred or in a transition loses against what isn't, at any place`() {
        var generator = SeededGenerator()
        let sharp = Self.statistics(0) { x, y in (x / 4 + y / 4) % 2 == 0 ? 40 : 200 }
        let blurred = Self.statistics(0) { x, y in 120 + Int(80 * sin(Double(x + y) / 6)) }
        let black = Self.statistics(0) { x, _ in x % 2 }
        let white = Self.statistics(0) { x, _ in 255 - x % 2 }
        for _ in 0..<200 {
            let count = Int.random(in: 2...10, using: &generator)
            var candidates = (0..<count).map { _ in [blurred, black, white].randomElement(using: &generator) ?? black }
            let place = Int.random(in: 0..<count, using: &generator)
            candidates[place] = sharp
            #expect(PosterChoice(candidates).best == place)
            // A second as good: the earlier one, unless it is in a transition.
            let other = Int.random(in: 0..<count, using: &generator)
            candidates[other] = sharp
            var choice = PosterChoice(candidates)
            #expect(choice.best == min(place, other))
            if place != other {
                choice.markTransition(min(place, other))
                #expect(choice.best == max(place, other))
            }
        }
        #expect(PosterChoice([]).best == nil)
        #expect(PosterChoice([black]).best == 0)
    }

    @Test func `a mixture of what is before and after is a transition, and movement is not`() {
        let a = Self.statistics(0) { x, y in (x / 8 + y / 8) % 2 == 0 ? 40 : 200 }
        let b = Self.statistics(1) { x, y in (x * 3 + y * 2) % 256 }
        let mixture = Self.statistics(0.5) { x, y in
            (Int(a.luminance[y * 64 + x]) + Int(b.luminance[y * 64 + x])) / 2
        }
        #expect(PosterChoice.isTransition(a, mixture, b))
        #expect(!PosterChoice.isTransition(a, a, a))
        #expect(!PosterChoice.isTransition(a, a, b))
        func moved(_ by: Int) -> FrameStatistics {
            Self.statistics(0) { x, y in ((x + by) / 8 + y / 8) % 2 == 0 ? 40 : 200 }
        }
        for step in 1...7 { #expect(!PosterChoice.isTransition(moved(0), moved(step), moved(2 * step)), "\(step)") }
    }
}
