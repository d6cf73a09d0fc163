import Attachments
import Foundation
import TestSupport
import Testing

@testable import Codecs

/// A JPEG's light and colours are scaled apart, and meet where they belong.
@Suite struct PlanarJPEGTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    /// Colours that change along both sides, so that a shift or a wrong share of half a sample shows, of sides that no
    /// block divides.
    private func make(_ name: String, sampling: String, progressive: Bool = false) throws -> String {
        try PictureJudge.run(
            """
            h, w = 611, 917
            y, x = np.mgrid[0:h, 0:w].astype(float)
            planes = [128 + 90 * np.sin(x / a + y / b) for a, b in ((23, 31), (41, -19), (-29, 37))]
            Image.fromarray(np.stack(planes, -1).astype(np.uint8)).save(args[0] + '.png')
            subprocess.run(['convert', args[0] + '.png', '-quality', '97', '-sampling-factor', args[1],
                '-interlace', args[2], args[0]], check=True)
            """, [path(name), sampling, progressive ? "Plane" : "None"])
        return path(name)
    }

    /// Decibels to Lanczos 3 over Pillow's full decode.
    private func decibels(_ source: String, side: Int, _ speed: Speed = .standard) throws -> Double {
        var profile = PictureJudge.lossless(side: side)
        profile.speed = speed
        let ours = try Rendered.of(URL(filePath: source), in: directory.url, profile: profile).path(.main)
        let lines = try PictureJudge.run(
            "b = Image.open(args[1]); say(psnr(lanczos(Image.open(args[0]), b.size), rgb(b)))", [source, ours])
        return try #require(lines.first.flatMap(Double.init))
    }

    @Test(arguments: ["1x1", "2x1", "1x2", "2x2", "4x1", "4x2"])
    func `whatever share of the colours is kept, they lie where a full decode shows them`(sampling: String) throws {
        let source = try make("\(sampling).jpg", sampling: sampling)
        for side in [917, 700, 400, 150, 61] {
            let found = try decibels(source, side: side)
            // Where a sample stands for four pixels, libjpeg repeats it; the kernel goes evenly from one to the next.
            #expect(found > (sampling.hasPrefix("4") ? 40 : 45), "\(sampling) at \(side): \(found) dB")
        }
    }

    @Test func `a decoder's own scaling moves nothing`() throws {
        let source = try make("fast.jpg", sampling: "2x2", progressive: true)
        // Half, a quarter and an eighth are taken from the decoder.
        for side in [300, 140, 70] {
            let found = try decibels(source, side: side, .fast)
            #expect(found > 43, "\(side): \(found) dB")
        }
    }

    @Test func `a vector's rest, a single pixel and a line are scaled too`() throws {
        for (width, height) in [(1, 1), (2, 1), (7, 40), (33, 3), (640, 1), (17, 16), (8, 8)] {
            try PictureJudge.run(
                """
                w, h = int(args[1]), int(args[2])
                Image.fromarray(np.random.default_rng(3).integers(90, 160, (h, w, 3)).astype(np.uint8)).save(
                    args[0], quality=98)
                """, [path("small.jpg"), "\(width)", "\(height)"])
            let ours = try Rendered.of(
                URL(filePath: path("small.jpg")), in: directory.url, profile: PictureJudge.lossless()
            ).path(.main)
            let lines = try PictureJudge.run(
                "say(np.abs(rgb(Image.open(args[0])) - rgb(Image.open(args[1]))).max())", [path("small.jpg"), ours])
            #expect(try #require(lines.first.flatMap(Double.init)) <= 3, "\(width) by \(height): \(lines)")
        }
    }

    @Test func `what ends in the middle is no picture`() throws {
        for progressive in [false, true] {
            let source = try make("cut-\(progressive).jpg", sampling: "2x2", progressive: progressive)
            let whole = try Data(contentsOf: URL(filePath: source))
            let cut = directory.url.appending(path: "cut.jpg")
            try whole.prefix(whole.count * 2 / 3).write(to: cut)
            #expect(throws: AttachmentError.corrupt(reason: "the file ends before its JPEG picture is complete")) {
                _ = try Rendered.of(cut, in: directory.url, profile: .notification)
            }
        }
    }

    @Test func `folded weights are those of interpolating first`() throws {
        let full = LanczosWeights(Span(start: 3.25, length: 90), of: 101, to: 37)
        let halved = full.halved(51)
        let samples = (0..<51).map { _ in Float.random(in: 0...255) }
        // libjpeg's: three parts of the nearest and one of the next.
        let pixels = (0..<101).map { pixel in
            let near = pixel / 2
            let far = min(max(pixel.isMultiple(of: 2) ? near - 1 : near + 1, 0), 50)
            return 0.75 * samples[near] + 0.25 * samples[far]
        }
        func scaled(_ weights: LanczosWeights, _ line: [Float]) -> [Float] {
            (0..<weights.count).map { index in
                (0..<Int(weights.counts[index])).map {
                    weights.weights[index * weights.taps + $0] * line[Int(weights.starts[index]) + $0]
                }.reduce(0, +)
            }
        }
        for (one, other) in zip(scaled(full, pixels), scaled(halved, samples)) { #expect(abs(one - other) < 0.01) }
    }
}
