import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct AnimationTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    /// What gifsicle says: delays in hundredths, and the line on loops.
    private func timing(_ file: String) throws -> (delays: [Int], loop: String) {
        let lines = try Tool.text("gifsicle", ["--info", file]).split(separator: "\n").map(String.init)
        let delays = lines.compactMap { line -> Int? in
            guard let range = line.range(of: "delay ") else { return nil }
            return Double(line[range.upperBound...].dropLast()).map { Int(($0 * 100).rounded()) }
        }
        return (delays, lines.first { $0.contains("loop") }?.trimmingCharacters(in: .whitespaces) ?? "plays once")
    }

    @Test(arguments: [
        ("gif/delays.gif", [5, 100, 3, 20, 65535], "loop forever"),
        ("gif/delay-0.gif", [10, 10, 10, 10, 10], "loop forever"),
        ("gif/delay-1.gif", [10, 10, 10, 10, 10], "loop forever"),
        ("gif/loop-3.gif", [10, 10, 10, 10, 10, 10], "loop count 3"),
        ("gif/play-once.gif", [10, 10, 10, 10, 10, 10], "plays once"),
    ])
    func `delays follow the browsers' rule and loops are kept exactly`(
        path: String, delays: [Int], loop: String
    ) throws {
        let rendered = try Rendered.of(sample(path), in: directory.url)
        let found = try timing(try rendered.path(.main))
        #expect(found.delays == delays)
        #expect(found.loop == loop)
    }

    @Test(arguments: [("png/animated.png", 8, "loop count 1"), ("webp/animated.webp", 12, "loop count 2")])
    func `other animations become GIFs that play as often`(path: String, frames: Int, loop: String) throws {
        let rendered = try Rendered.of(sample(path), in: directory.url)
        let found = try timing(try rendered.path(.main))
        #expect(found.delays == Array(repeating: 10, count: frames))
        #expect(found.loop == loop)
    }

    @Test(arguments: 0...3)
    func `every frame shows what an independent decoder shows, whatever the disposal`(disposal: Int) throws {
        let source = sample("gif/disposal-\(disposal).gif")
        let rendered = try Rendered.of(source, in: directory.url)
        for (file, name) in [(source.path, "expected"), (try rendered.path(.main), "found")] {
            // Over a colour that no frame has, so that transparency counts.
            try Tool.run(
                "convert",
                [
                    "gif:\(file)", "-coalesce", "-background", "#ff00ff", "-alpha", "remove", "+repage",
                    directory.url.appending(path: "\(name)-%d.png").path,
                ])
        }
        for frame in 0..<6 {
            let names = ["expected", "found"].map { directory.url.appending(path: "\($0)-\(frame).png").path }
            let likeness = try PictureJudge.run("say(psnr(load(args[0]), load(args[1])))", names)
            #expect(Double(likeness[0]) ?? 0 > 30, "frame \(frame): \(likeness)")
        }
    }

    @Test func `the thumbnail shows the frame that was asked for`() throws {
        // Four frames, each of one colour.
        let source = directory.url.appending(path: "colours.gif")
        try Tool.run(
            "convert", ["-delay", "10", "-size", "64x64", "xc:red", "xc:#00ff00", "xc:blue", "xc:white", source.path])
        for (frame, colour) in [(nil, "100"), (2, "001"), (99, "111")] as [(Int?, String)] {
            let request = RenditionRequest(thumbnailFrame: frame)
            let rendered = try Rendered.of(source, in: directory.url, request: request)
            let found = try Tool.text(
                "convert",
                [rendered.path(.thumbnail), "-resize", "1x1!", "-format", "%[fx:r>0.5]%[fx:g>0.5]%[fx:b>0.5]", "info:"])
            #expect(found == colour)
            #expect(rendered.ending.thumbnailTime == frame.map { Double(min($0, 3)) })
            #expect(rendered.ending.changes == (frame == 99 ? [Finding(.otherFrame, missing: 99, of: 3)] : []))
        }
    }

    @Test func `an animation becomes WebP or its first frame where the profile says so`() throws {
        var profile = Profile.notification
        profile.animation?.type = .webp
        let moving = try Rendered.of(sample("gif/loop-3.gif"), in: directory.url, profile: profile)
        let info = try Tool.text("webpmux", ["-info", try moving.path(.main)])
        #expect(info.contains("Number of frames: 6"))
        #expect(info.contains("Loop Count : 4"))
        let still = try Rendered.of(sample("gif/film.gif"), in: directory.url, profile: .avatar)
        #expect(try still.judged(.main) == "PNG 112 112|")
        #expect(still.report(.main)?.duration == nil)
    }

    @Test func `an animation over its cap becomes smaller`() throws {
        var profile = Profile.notification
        let free = try Rendered.of(sample("gif/film.gif"), in: directory.url, profile: profile)
        let cap = try #require(free.report(.main)?.bytes) / 2
        profile.animation?.cap = cap
        let bound = try Rendered.of(sample("gif/film.gif"), in: directory.url, profile: profile)
        let report = try #require(bound.report(.main))
        #expect(report.bytes <= cap)
        #expect(report.note.contains("over the cap"))
        #expect(try timing(try bound.path(.main)).delays.count == 20)
    }

    @Test func `frames over the limit are counted before they are decoded`() throws {
        var limits = Limits()
        limits.animationFrames = 900
        #expect(
            try Rendered.refusal(of: sample("gif/901-frames.gif"), in: directory.url, limits: limits)
                == .tooManyFrames(frames: 901, limit: 900))
        limits = Limits()
        let pixels: Int64 = 96 * 64 * 6
        limits.animationPixels = pixels - 1
        let error = try Rendered.refusal(of: sample("gif/loop-3.gif"), in: directory.url, limits: limits)
        #expect(error == .tooManyPixels(pixels: pixels, limit: pixels - 1))
    }

    @Test(arguments: 0..<50)
    func `no frame starts more than half a hundredth off, unless it would be too short`(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let delays = (0..<100).map { _ in Int.random(in: 20...300, using: &random) }
        var elapsed = 0
        var written = 0
        let output = try #require(MediaType.gif.format.animation)
        for (delay, hundredths) in zip(delays, output.written(delays).map { $0 / 10 }) {
            elapsed += delay
            written += hundredths
            #expect(abs(elapsed - written * 10) <= 5)
            #expect(hundredths >= 2)
        }
    }
}
