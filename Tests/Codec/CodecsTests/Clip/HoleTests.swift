import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs

/// Times of a clip in which one of its tracks has nothing.
@Suite struct HoleTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Ten seconds of pictures and sound.
    private borrowing func clip(_ name: String, pictures: String = "null", _ options: [String] = []) throws -> URL {
        let url = directory.url.appending(path: name)
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=64x48:rate=25:duration=10", "-f", "lavfi", "-i", "sine=duration=10",
                "-vf", pictures, "-vsync", "passthrough", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-c:a",
                "aac",
            ] + options, to: url)
        return url
    }

    /// What is told of gaps, by part: seconds without anything, and of how many.
    private static func gaps(_ url: URL, damaged: WhenDamaged = .refuse) throws -> [Finding.Part: [Double]] {
        var profile = Profile.message
        profile.damaged = damaged
        let made = try #require(try Clips.render(url, profile: profile))
        let gaps = (made.ending.evidence + made.ending.losses).filter { $0.code == .gap }
        return Dictionary(grouping: gaps) { $0.part ?? .main }
            .mapValues { $0.flatMap { [$0.missing ?? 0, $0.total ?? 0] } }
    }

    @Test(arguments: ["a.mp4", "a.mov", "a.mkv", "a.ts"], [(2.0, 5.0), (7, 3)])
    func `seconds without a frame are told, with the sound going on`(name: String, hole: (Double, Double)) throws {
        let (start, length) = hole
        let source = try clip(name, pictures: "select='not(between(t,\(start),\(start + length)))'")
        let gaps = try Self.gaps(source)
        #expect(gaps.keys.sorted { $0.rawValue < $1.rawValue } == [.video])
        let told = try #require(gaps[.video])
        #expect(abs(told[0] - length) < 0.2 && abs(told[1] - 10) < 0.2, "\(told)")
    }

    @Test(arguments: ["b.mkv", "b.ts"])
    func `seconds without sound are told, with the pictures going on`(name: String) throws {
        let source = try clip("a.mkv")
        let (dropped, holed) = (directory.url.appending(path: "c.mkv"), directory.url.appending(path: name))
        try Tool.ffmpeg(
            ["-i", source.path, "-c", "copy", "-bsf:a", "noise=drop='between(pts*tb,3,7)'"], to: dropped)
        try Tool.ffmpeg(["-i", dropped.path, "-c", "copy"], to: holed)
        let told = try #require(try Self.gaps(holed)[.sound])
        #expect(abs(told[0] - 4) < 0.2 && abs(told[1] - 10) < 0.2, "\(told)")
    }

    @Test func `a track that ends early is told`() throws {
        let told = try #require(try Self.gaps(try clip("a.mp4", ["-af", "atrim=0:4"]))[.sound])
        #expect(abs(told[0] - 6) < 0.2 && abs(told[1] - 10) < 0.2, "\(told)")
    }

    @Test(
        arguments: [
            "null", "select='not(mod(n,50))'", "select='not(mod(n,7))*gt(random(1),0.2)+eq(n,0)'",
            "select='not(between(t,3,3.8))'",
        ])
    func `steady, slow and uneven pictures have no gap`(pictures: String) throws {
        #expect(try Self.gaps(try clip("a.mp4", pictures: pictures)).isEmpty)
    }
}
