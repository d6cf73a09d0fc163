import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// What our own way from GIF to GIF promises, beside the tools that people use: bytes, and nearness to a Lanczos 3 scaling in
/// full colour, as `judges/animations.py` of the benchmarks sees both.
@Suite(.timeLimit(.minutes(5))) struct AnimationFidelityTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let side = 320
    private static let bench = Repository.root.appending(path: "Benchmarks/bench")

    private struct Made {
        var bytes: Int
        /// The mean over the frames.
        var decibels: Double
    }

    private func judged(_ source: URL, _ output: String) throws -> Made {
        let list = directory.url.appending(path: UUID().uuidString)
        try Data("\(source.path)\t\(output)\t\(Self.side)\n".utf8).write(to: list)
        let cache = directory.url.appending(path: "references").path
        let answer = try Tool.text(
            "/usr/bin/python3", [Self.bench.appending(path: "judges/animations.py").path, cache, list.path])
        let words = answer.split(separator: " ")
        let decibels = try #require(words.count == 3 ? Double(words[1]) : nil, "\(answer)")
        let bytes = try #require(FileManager.default.attributesOfItem(atPath: output)[.size] as? Int)
        return Made(bytes: bytes, decibels: decibels)
    }

    private func ours(_ source: URL, _ speed: Speed = .standard) throws -> Made {
        var profile = Profile.notification
        profile.speed = speed
        profile.animation = AnimationPolicy(type: .gif, longestSide: Self.side, cap: 50_000_000)
        return try judged(source, try Rendered.of(source, in: directory.url, profile: profile).path(.main))
    }

    private func vipsthumbnail(_ source: URL) throws -> Made {
        let output = directory.url.appending(path: "\(UUID().uuidString).gif").path
        try Tool.run(
            "vipsthumbnail", ["\(source.path)[n=-1]", "--size", "\(Self.side)x\(Self.side)>", "-o", output])
        return try judged(source, output)
    }

    private func gifsicle(_ source: URL) throws -> Made {
        let output = directory.url.appending(path: "\(UUID().uuidString).gif").path
        try Tool.run(
            "gifsicle",
            [
                "--no-warnings", "--resize-method=mix", "-O2", "--resize-fit", "\(Self.side)x\(Self.side)", "-o",
                output, source.path,
            ])
        return try judged(source, output)
    }

    /// 12 frames of 480 by 360 pixels with one palette of 256 colours, dithered: a camera that moves, something that moves
    /// before a still camera, and a chart in which most moves.
    private func films() throws -> [URL] {
        let photograph = Repository.media.appending(path: "jpeg/earth-12-megapixels.jpg").path
        let still = ["-loop", "1", "-framerate", "12", "-i", photograph]
        let films: [(name: String, input: [String], filter: String, dither: String)] = [
            (
                "camera", still, "crop=1200:900:1300+n*25:900+n*9,scale=480:360,noise=alls=3:allf=t:all_seed=1",
                "sierra2_4a"
            ),
            (
                "stage", still,
                "crop=1200:900:1500:1000,scale=480:360,noise=alls=5:all_seed=2,split[stage][piece];"
                    + "[piece]crop=120:90:240:180,hue=h=120[piece];[stage][piece]overlay=x=40+n*11:y=130",
                "bayer:bayer_scale=3:diff_mode=rectangle"
            ),
            ("chart", ["-f", "lavfi", "-i", "testsrc2=size=480x360:rate=12"], "hue=h=75", "sierra2_4a"),
        ]
        return try films.map { film in
            let output = directory.url.appending(path: "\(film.name).gif")
            let palette = "split[one][two];[one]trim=end_frame=12,palettegen=stats_mode=full[palette]"
            try Tool.ffmpeg(
                ["-bitexact"] + film.input + [
                    "-frames:v", "12", "-filter_complex",
                    "\(film.filter),\(palette);[two][palette]paletteuse=dither=\(film.dither)", "-f", "gif",
                ], to: output)
            return output
        }
    }

    /// As the benchmarks draw them.
    private func drawing(_ kind: String, seed: Int, width: Int, height: Int) throws -> URL {
        let output = directory.url.appending(path: "\(kind)-\(seed).gif")
        try Tool.run(
            "/usr/bin/python3",
            [Self.bench.appending(path: "corpus/drawings.py").path, kind]
                + [seed, width, height, 24, 6].map(String.init) + [output.path])
        return output
    }

    @Test func `films have no more bytes than vipsthumbnail's, are as faithful, and come near to best`() throws {
        var differences: [Double] = []
        for film in try films() {
            let (own, peer) = (try ours(film), try vipsthumbnail(film))
            let (best, fast, simple) = (try ours(film, .best), try ours(film, .fast), try gifsicle(film))
            let about = "\(film.lastPathComponent): \(own), \(fast), \(best), \(peer), \(simple)"
            #expect(own.bytes <= peer.bytes, "\(about)")
            #expect(own.bytes <= best.bytes && own.decibels >= best.decibels - 1, "\(about)")
            #expect(fast.bytes <= own.bytes && fast.decibels >= best.decibels - 4, "\(about)")
            #expect(fast.decibels > simple.decibels + 0.5, "\(about)")
            differences.append(own.decibels - peer.decibels)
        }
        differences.sort()
        #expect(differences[1] >= -0.3)
        #expect(differences[0] >= -1.5)
    }

    @Test func `drawings of any number of colours have about gifsicle's bytes and are more faithful`() throws {
        // A sticker's edges are there or not, and two colours are nearly all that line art of two has.
        // Every other one holds each kind.
        let drawings: [(kind: String, seed: Int, size: (Int, Int), decibels: Double)] = [
            ("screen", 1, (800, 600), 10), ("screen", 2, (800, 600), 10), ("lines", 2, (480, 480), 0),
            ("screen", 4, (800, 600), 5), ("lines", 5, (480, 480), 5), ("lines", 1, (480, 480), 10),
            ("sticker", 1, (512, 512), 3), ("lines", 3, (480, 480), 10),
        ]
        for (kind, seed, size, decibels) in Sweep.of(drawings, every: 2) {
            let drawing = try drawing(kind, seed: seed, width: size.0, height: size.1)
            let (own, peer, fast) = (try ours(drawing), try gifsicle(drawing), try ours(drawing, .fast))
            let about = "\(drawing.lastPathComponent): \(own), \(fast), \(peer)"
            #expect(Double(own.bytes) <= 1.1 * Double(peer.bytes), "\(about)")
            #expect(own.decibels > peer.decibels + decibels, "\(about)")
            // Nothing is simplified there.
            #expect(fast.bytes <= 2 * peer.bytes && fast.decibels > peer.decibels + 3, "\(about)")
        }
    }
}
