import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// No rendition of a sample is larger than the sample where a smaller one was possible.
@Suite struct OutputSizeTests {
    /// Main renditions, and others by their roles, that take more bytes than their source, by the reason for it. JPEG at a lower
    /// quality than the profile's would be smaller than some; what came in another coding isn't given that.
    private static let larger: [String: [String]] = [
        "its coding takes fewer bytes than what its profile wants, at that profile's quality": [
            "avif/10-bit.avif", "avif/coffee.avif", "avif/rotated.avif", "heic/10-bit.heic", "heic/coffee-gps.heic",
            "heic/rotated.heic", "heif/cat.heif", "jxl/coffee.jxl", "jxl/from-jpeg.jxl", "webp/cat.webp",
            "webp/private.webp", "tiff/fax.tiff", "avif/10-bit.avif thumbnail", "avif/rotated.avif thumbnail",
            "heic/10-bit.heic thumbnail",
        ],
        "it is transparent, its coding takes fewer bytes than PNG, and its profile has nothing else for transparency": [
            "avif/alpha.avif", "heic/alpha.heic", "jxl/alpha.jxl", "webp/lossless-alpha.webp",
            "avif/alpha.avif thumbnail", "heic/alpha.heic thumbnail", "jxl/alpha.jxl thumbnail",
            "webp/lossless-alpha.webp thumbnail",
        ],
        "its profile wants GIF, which codes frames by palettes and without prediction": [
            "png/animated-disposal.png", "png/animated-hidden.png", "webp/animated.webp", "jxl/animated.jxl",
        ],
        "its video isn't H.264 of 8 bits in 4:2:0, and is encoded at its profile's rate factor": [
            "avi/film.avi", "mov/phone.mov", "mp4/10-bit.mp4", "mp4/444.mp4", "mp4/av1.mp4", "mp4/hdr.mp4",
            "mp4/hevc.mp4", "mp4/interlaced.mp4", "mp4/mpeg4.mp4", "mp4/odd-size.mp4", "mpeg/interlaced.mpg",
            "webm/av1.webm", "webm/film.webm", "webm/recorded.webm", "webm/vp8.webm", "wmv/film.wmv",
        ],
        "its sound has a coding that its profile doesn't take, and is encoded at its profile's bit rate": [
            "amr/voice.amr", "amr/voice.awb", "mp3/chord.mp2", "ogg/chord.ogg", "ogg/chord.spx", "ogg/chained.ogg",
            "ogg/voice.opus", "trouble/unmarked.ogg",
            "ts/latm.ts", "wav/adpcm.wav", "webm/sound-only.webm", "wma/voice.wma",
        ],
        "it is damaged, so that pictures or sound that would have been copied are encoded at its profile's settings": [
            "trouble/lost-cluster.mkv", "trouble/truncated-fragment.mp4",
        ],
        "whoever coded it searched for longer strings than the longest at each place": ["gif/film.gif"],
        "it is a picture of a video of one picture, in JPEG, which takes more than H.264": [
            "mp4/one-frame.mp4 poster", "mp4/one-frame.mp4 thumbnail",
        ],
        "its packets were copied: a container with an index takes some bytes": [
            "aac/voice.aac", "mkv/film.mkv", "mp3/headless.mp3", "trouble/junk-before.mp3",
        ],
    ]

    @Test func `no rendition is larger than its source, but for those that are listed with their reasons`() throws {
        let expected = Set(Self.larger.values.joined())
        var looked = 0
        for sample in try MediaManifest.load().files where sample.expect.state == "delivered" {
            // An older library may refuse it.
            guard let made = try? Rendered.sample(sample.path) else { continue }
            let bytes = Int64(try sample.url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
            for report in made.reports {
                looked += 1
                let name = report.role == .main ? sample.path : "\(sample.path) \(report.role.rawValue)"
                #expect(
                    report.bytes <= bytes || expected.contains(name),
                    "\(name), \(bytes) bytes, became \(report.bytes): \(report.note)")
            }
        }
        #expect(looked > 300)
    }

    @Test func `the last line of the demo says what all samples came to, and that is little`() throws {
        var report = ""
        var (came, became) = (0.0, 0.0)
        for sample in try MediaManifest.load().files where sample.expect.state == "delivered" {
            guard let made = try? Rendered.sample(sample.path) else { continue }
            let bytes = try sample.url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
            let renditions = made.reports.map { #""\#($0.role.rawValue)": {"bytes": \#($0.bytes)}"# }.joined(
                separator: ", ")
            let kind = made.probeResult.kind.rawValue
            report += #"{"kind": "\#(kind)", "source": {"bytes": \#(bytes)}, "renditions": {\#(renditions)}}"# + "\n"
            guard let main = made.report(.main) else { continue }
            (came, became) = (came + Double(bytes), became + Double(main.bytes))
        }
        // What fails has none.
        report += #"{"kind": null, "source": {"bytes": 5000000}, "renditions": null}"# + "\n"
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "report.jsonl")
        try Data(report.utf8).write(to: file)
        let words = try Tool.text("/usr/bin/python3", [Repository.media.appending(path: "sizes.py").path, file.path])
        let last = try #require(words.split(separator: "\n").last)
        let told =
            #/(.+) of media became (.+); the largest photograph, (.+), is (.+) in a notification and (.+) as its .+\./#
        let line = try #require(try told.wholeMatch(in: last), "\(last)").output
        func bytes(_ text: Substring) throws -> Double {
            let parts = text.split(separator: " ")
            let units = ["B": 1.0, "kB": 1e3, "MB": 1e6]
            return try #require(Double(parts[0])) * #require(units[String(parts[1])])
        }
        let figures = try [line.1, line.2, line.3, line.4, line.5].map(bytes)
        #expect(abs(figures[0] / came - 1) < 0.01 && abs(figures[1] / became - 1) < 0.01, "\(last)")
        #expect(figures[1] < figures[0] * 0.8, "\(last)")
        #expect(figures[3] < figures[2] / 4 && figures[4] < figures[2] / 20, "\(last)")
    }

    @Test func `stills and GIFs that could be kept take no more than they did, whatever becomes of them`() throws {
        for sample in try MediaManifest.load().files where sample.expect.state == "delivered" {
            guard let made = try? Rendered.sample(sample.path), let report = made.report(.main),
                report.type == made.probeResult.type, [.jpeg, .png, .gif].contains(report.type)
            else { continue }
            let bytes = Int64(try sample.url.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0)
            let most = bytes + bytes / (sample.path == "gif/film.gif" ? 33 : 100) + 64
            #expect(report.bytes <= most, "\(sample.path): \(report.bytes), \(report.note)")
        }
    }
}
