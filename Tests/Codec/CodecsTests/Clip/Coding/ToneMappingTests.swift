import SatchelCore
import CFFmpeg
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What becomes of a video's colours, judged by an independent decoder and the standards' formulas.
@Suite struct ToneMappingTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private borrowing func file(_ name: String) -> URL { directory.url.appending(path: name) }

    /// In nits, with BT.2020's primaries: greys up to the brightest light, a skin, and colours within BT.709.
    private static let lights = [
        Triple(1, 1, 1), Triple(10, 10, 10), Triple(50, 50, 50), Triple(100, 100, 100), Triple(203, 203, 203),
        Triple(500, 500, 500), Triple(1000, 1000, 1000), Triple(110, 75, 55), Triple(120, 30, 20),
        Triple(40, 130, 35), Triple(25, 30, 120), Triple(500, 420, 90),
    ]

    private static let hevc = [
        "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=error:qp=6:pools=1",
    ]

    @Test(
        arguments: [
            ("smpte2084", "a.mp4", hevc), ("arib-std-b67", "b.mov", hevc),
            ("arib-std-b67", "d.webm", ["-c:v", "libvpx-vp9", "-crf", "4", "-b:v", "0", "-cpu-used", "8"]),
            ("smpte2084", "e.mkv", ["-c:v", "libx264", "-preset", "ultrafast", "-qp", "6"]),
            ("smpte2084", "f.mp4", ["-c:v", "libaom-av1", "-cpu-used", "8", "-usage", "realtime", "-crf", "4"]),
        ])
    func `HDR becomes BT.709 with white paper bright, highlights apart and hues kept`(
        transfer: String, name: String, encoding: [String]
    ) throws {
        let source = file(name)
        let signals = Self.lights.map { transfer == "smpte2084" ? $0.map(Patches.pq) : Patches.hlg($0) }
        try Patches.film(
            signals, to: source, matrix: "bt2020",
            tags: [
                "-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc", "-color_range", "tv",
            ], format: "yuv420p10le", encoding: encoding)
        let made = try #require(try Clips.render(source))
        let main = try #require(made.main)
        let stream = try made.pictures()
        #expect(stream.pixFmt == "yuv420p")
        #expect(stream.colorTransfer == "bt709")
        #expect(stream.colorPrimaries == "bt709")
        #expect(stream.colorSpace == "bt709")
        #expect(stream.colorRange == "tv")
        let note = try #require(made.report(.main)?.note)
        #expect(note.contains("tone-mapped from \(transfer == "smpte2084" ? "PQ" : "HLG")"), "\(note)")
        #expect(try Probe.decodingErrors(main) == "")

        let poster = try made.file(.poster)
        for (output, tolerance) in [(main, 7.0), (poster, 9.0)] {
            let seen = try Patches.seen(output, count: Self.lights.count)
            for (light, colour) in zip(Self.lights, seen) {
                let expected = Patches.mapped(light)
                #expect(colour.distance(expected) < tolerance, "\(light) is \(colour), not \(expected), in \(output)")
            }
            // White paper is bright, and there is more above it.
            #expect(seen[4].green > 205 && seen[4].green < 230)
            #expect(seen[5].green > seen[4].green + 8)
            #expect(seen[6].green > seen[5].green + 4)
        }
    }

    @Test func `what a source says of its brightest light stretches the curve`() throws {
        let source = file("bright.mp4")
        let lights = [Triple(203, 203, 203), Triple(1000, 1000, 1000), Triple(3000, 3000, 3000)]
        try Patches.film(
            lights.map { $0.map(Patches.pq) }, to: source, matrix: "bt2020",
            tags: ["-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc"],
            format: "yuv420p10le",
            encoding: [
                "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
                "log-level=error:qp=6:pools=1:max-cll=4000,400:"
                    + "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)",
            ])
        let made = try #require(try Clips.render(source))
        let seen = try Patches.seen(try #require(made.main), count: lights.count)
        for (light, colour) in zip(lights, seen) {
            let expected = Patches.mapped(light, peak: 4000)
            #expect(colour.distance(expected) < 7, "\(light) is \(colour), not \(expected)")
        }
        #expect(seen[2].green > seen[1].green + 4)
    }

    /// sRGB's corners and some between, as signals.
    private static let signals = [
        Triple(0, 0, 0), Triple(1, 1, 1), Triple(0.5, 0.5, 0.5), Triple(0.9, 0.1, 0.1), Triple(0.1, 0.8, 0.2),
        Triple(0.1, 0.2, 0.9), Triple(0.8, 0.6, 0.5), Triple(0.2, 0.2, 0.2),
    ]

    @Test(
        arguments: [
            ("bt2020", "bt2020-10", "bt2020nc", "bt2020", "tv"), ("smpte432", "bt709", "bt709", "bt709", "tv"),
            ("bt709", "bt709", "bt709", "bt709", "pc"), ("smpte170m", "smpte170m", "smpte170m", "bt601", "tv"),
            ("bt470bg", "bt709", "bt470bg", "bt601", "pc"),
        ])
    func `colours of the standard range keep their numbers and what they are tagged with`(
        primaries: String, transfer: String, space: String, matrix: String, range: String
    ) throws {
        let source = file("source.mp4")
        try Patches.film(
            Self.signals, to: source, matrix: matrix,
            tags: [
                "-color_primaries", primaries, "-color_trc", transfer, "-colorspace", space, "-color_range", range,
            ], format: range == "pc" ? "yuv420p" : "yuv420p10le", encoding: Self.hevc)
        let given = try #require(Probe.of(source).video)
        #expect(given.colorPrimaries == primaries && given.colorRange == range)
        let made = try #require(try Clips.render(source))
        let main = try #require(made.main)
        let stream = try made.pictures()
        #expect(made.report(.main)?.encodes == 1)
        #expect(stream.colorPrimaries == primaries)
        #expect(stream.colorTransfer == transfer)
        #expect(stream.colorSpace == space)
        // Converted, and tagged so: every player knows the range of television.
        #expect(stream.colorRange == "tv")
        let seen = try Patches.seen(main, count: Self.signals.count)
        for (signal, colour) in zip(Self.signals, seen) {
            #expect(colour.distance(signal.map { $0 * 255 }) < 7, "\(signal) is \(colour)")
        }
    }

    @Test func `the poster of a video with many colours is in sRGB`() throws {
        let source = file("wide.mp4")
        // In BT.2020 these are a duller red and green than its own.
        let signals = [Triple(0.6, 0.35, 0.25), Triple(0.4, 0.6, 0.3), Triple(0.7, 0.7, 0.7)]
        try Patches.film(
            signals, to: source, matrix: "bt2020",
            tags: ["-color_primaries", "bt2020", "-color_trc", "bt2020-10", "-colorspace", "bt2020nc"],
            format: "yuv420p10le", encoding: Self.hevc)
        let made = try #require(try Clips.render(source))
        let seen = try Patches.seen(try made.file(.poster), count: signals.count)
        for (signal, colour) in zip(signals, seen) {
            let light = signal.map { pow($0, 2.4) }
            let expected = light.applying(Patches.narrowing).map { Patches.screen($0) * 255 }
            #expect(colour.distance(expected) < 9, "\(signal) is \(colour), not \(expected)")
        }
        #expect(seen[0].red > 0.6 * 255 + 8)
    }

    @Test(
        arguments: [
            (PixelSize(width: 1280, height: 720), "bt709", "bt709", "bt709"),
            (PixelSize(width: 720, height: 576), "bt601", "bt470bg", "bt470bg"),
            (PixelSize(width: 720, height: 480), "bt601", "smpte170m", "smpte170m"),
        ])
    func `what no one says is guessed by size, and said from then on`(
        size: PixelSize, matrix: String, space: String, primaries: String
    ) throws {
        let source = file("untagged.mkv")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "color=c=0xe02010:size=\(size.width)x\(size.height):rate=10:duration=0.3", "-vf",
                "scale=out_color_matrix=\(matrix):out_range=tv,format=yuv420p,setparams=colorspace=unknown", "-c:v",
                "mpeg4", "-q:v", "2",
            ], to: source)
        var profile = Profile.notification
        profile.video?.longestSide = 160
        let made = try #require(try Clips.render(source, profile: profile))
        let stream = try made.pictures()
        #expect(stream.colorSpace == space)
        #expect(stream.colorPrimaries == primaries)
        for role in [RenditionRole.main, .poster] {
            let seen = try Patches.seen(try made.file(role), count: 1)
            #expect(seen[0].distance(Triple(224, 32, 16)) < 9, "\(role.rawValue): \(seen)")
        }
    }

    @Test func `a guess goes by what is said, then by size`() {
        /// Code points of ITU-T H.273; 2 is for what isn't said.
        func colours(
            _ primaries: UInt32 = 2, _ transfer: UInt32 = 2, _ matrix: UInt32 = 2, isFullRange: Bool? = nil,
            isRGB: Bool = false, width: Int = 640, height: Int = 360
        ) -> Colours {
            Colours(
                primaries: primaries, transfer: transfer, matrix: matrix, isFullRange: isFullRange, isRGB: isRGB,
                size: PixelSize(width: width, height: height))
        }
        #expect(colours(width: 1920, height: 1080).matrix == AVCOL_SPC_BT709)
        #expect(colours().matrix == AVCOL_SPC_SMPTE170M)
        #expect(colours().primaries == AVCOL_PRI_BT709)
        #expect(colours(width: 720, height: 576).primaries == AVCOL_PRI_BT470BG)
        #expect(colours(9).matrix == AVCOL_SPC_BT2020_NCL)
        let hdr = colours(2, 16)
        #expect(hdr.isHDR && hdr.primaries == AVCOL_PRI_BT2020 && hdr.matrix == AVCOL_SPC_BT2020_NCL)
        #expect(hdr.encoded(size: PixelSize(width: 640, height: 360)) == .bt709)
        #expect(colours(isFullRange: true).isFullRange)
        #expect(!colours().isFullRange)
        let rgb = colours(isRGB: true, width: 1920, height: 1080)
        #expect(rgb.matrix == AVCOL_SPC_RGB && rgb.isFullRange)
        #expect(rgb.encoded(size: PixelSize(width: 1920, height: 1080)).matrix == AVCOL_SPC_BT709)
        #expect(colours(1, 1, 1, isFullRange: false).guesses.isEmpty)
        // Numbers that no standard has.
        let nonsense = colours(77, 99, 88)
        #expect(nonsense.matrix == AVCOL_SPC_SMPTE170M && nonsense.transfer == AVCOL_TRC_BT709)
        #expect(nonsense.guesses == ["transfer", "matrix", "primaries"])
    }

    @Test func `RGB in H.264 becomes what phones play`() throws {
        let source = file("rgb.mp4")
        try Patches.film(
            Self.signals, to: source, matrix: "rgb", tags: [], format: "rgb24",
            encoding: ["-c:v", "libx264rgb", "-preset", "ultrafast", "-qp", "4"])
        let made = try #require(try Clips.render(source))
        let stream = try made.pictures()
        #expect(stream.pixFmt == "yuv420p")
        #expect(stream.colorSpace == "smpte170m")
        let seen = try Patches.seen(try #require(made.main), count: Self.signals.count)
        for (signal, colour) in zip(Self.signals, seen) {
            #expect(colour.distance(signal.map { $0 * 255 }) < 7, "\(signal) is \(colour)")
        }
    }
}
