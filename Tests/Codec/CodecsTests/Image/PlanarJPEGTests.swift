import Foundation
import TestSupport
import Testing

@testable import SatchelCore
@testable import ClipCodecs
@testable import StillCodecs

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
        try Tool.run(
            "convert",
            [
                try Self.waves.get().url.appending(path: "waves.png").path, "-quality", "97", "-sampling-factor",
                sampling, "-interlace", progressive ? "Plane" : "None", path(name),
            ])
        return path(name)
    }

    private static let waves = Result {
        try SharedDirectory { directory in
            try PictureJudge.run(
                """
                h, w = 611, 917
                y, x = np.mgrid[0:h, 0:w].astype(float)
                planes = [128 + 90 * np.sin(x / a + y / b) for a, b in ((23, 31), (41, -19), (-29, 37))]
                Image.fromarray(np.stack(planes, -1).astype(np.uint8)).save(args[0])
                """, [directory.appending(path: "waves.png").path])
        }
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
        for side in Sweep.of([917, 700, 400, 150, 61], every: 2, from: sampling.hasSuffix("2") ? 1 : 0) {
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

    @Test(arguments: ["1x1", "2x1", "1x2", "2x2", "4x1"], [false, true])
    func `colours that are kept at half their resolution lie where an encoder would put them`(
        sampling: String, progressive: Bool
    ) throws {
        let source = try make("halved.jpg", sampling: sampling, progressive: progressive)
        var profile = PictureJudge.lossless()
        profile.speed = .fast
        // Whole, a half, a quarter and an eighth are taken from the decoder.
        for side in Sweep.of([701, 300, 141, 70], every: 2, from: progressive ? 1 : 0) {
            profile.image = ImagePolicy(types: [.jpeg], longestSide: side, aim: nil, cap: 100_000_000, quality: 100)
            let ours = try Rendered.of(URL(filePath: source), in: directory.url, profile: profile).path(.main)
            let lines = try PictureJudge.run(
                """
                b = Image.open(args[1]); reference = lanczos(Image.open(args[0]), b.size); out = io.BytesIO()
                Image.fromarray((reference + 0.5).astype(np.uint8)).save(out, 'JPEG', quality=100, subsampling=2)
                say(psnr(reference, rgb(b)), psnr(reference, rgb(Image.open(out))))
                """, [source, ours])
            let values = try #require(lines.first).split(separator: " ").compactMap { Double($0) }
            #expect(values.count == 2 && values[0] > values[1] - 1, "\(sampling) at \(side): \(values)")
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

    /// Noise, whose codes are of every length and need the zeros behind bytes of 255, with tables as they are usual and with
    /// tables made for it, and with a restart after each few blocks where `restarts`.
    private func noise(_ name: String, quality: Int, restarts: Bool) throws -> String {
        try PictureJudge.run(
            """
            noise = np.random.default_rng(5).integers(0, 256, (203, 317, 3)).astype(np.uint8)
            Image.fromarray(noise).save(args[0] + '.ppm')
            subprocess.run(['vips', 'jpegsave', args[0] + '.ppm', args[0], '--Q', args[1], '--subsample-mode', 'off',
                *args[2:]], check=True)
            """, [path(name), "\(quality)"] + (restarts ? ["--restart-interval", "7"] : ["--optimize-coding"]))
        return path(name)
    }

    /// The share of values that are off by more than rounding from what Pillow makes of a JPEG.
    private func share(of source: String) throws -> Double {
        var profile = PictureJudge.lossless()
        profile.damaged = .salvage
        let ours = try Rendered.of(URL(filePath: source), in: directory.url, profile: profile).path(.main)
        let lines = try PictureJudge.run(
            """
            from PIL import ImageFile
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            say((np.abs(rgb(Image.open(args[0])) - rgb(Image.open(args[1]))) > 2).mean())
            """, [source, ours])
        return try #require(lines.first.flatMap(Double.init))
    }

    @Test(arguments: [100, 90, 30], [false, true])
    func `codes of every length are read as libjpeg reads them`(quality: Int, restarts: Bool) throws {
        #expect(try share(of: noise("noise.jpg", quality: quality, restarts: restarts)) == 0)
    }

    @Test func `damage spoils what it spoils for libjpeg, up to the next restart`() throws {
        for seed in 0..<Sweep.count(12, else: 4) {
            let source = try noise("damaged.jpg", quality: 80, restarts: true)
            var bytes = try Data(contentsOf: URL(filePath: source))
            // Bytes that begin codes anew, end a part early, or are a marker that is not expected.
            let place = bytes.count / 3 + seed * 997
            bytes.replaceSubrange(
                place..<place + 2, with: [[0x5a, 0xa5], [0xff, 0xd9], [0xff, 0xd3], [0xff, 0xff]][seed % 4])
            try bytes.write(to: URL(filePath: source))
            // The block in which the data ends is a gap for one, and what the first try left for the other.
            let share = try share(of: source)
            #expect(share < 0.01, "\(seed): \(share)")
        }
    }

    @Test func `what ends in the middle is no picture`() throws {
        for progressive in [false, true] {
            let source = try make("cut-\(progressive).jpg", sampling: "2x2", progressive: progressive)
            let whole = try Data(contentsOf: URL(filePath: source))
            let cut = directory.url.appending(path: "cut.jpg")
            try whole.prefix(whole.count * 2 / 3).write(to: cut)
            let refusal = try Rendered.refusal(of: cut, in: directory.url)
            #expect(refusal?.code == .corrupt)
            let finding = try #require(refusal?.finding)
            #expect(finding.code == .endsBefore && finding.total == 611)
            #expect(finding.part == (progressive ? .detail : .rows))
        }
    }

    @Test func `folded weights are those of interpolating first`() throws {
        let full = LanczosWeights(Span(start: 3.25, length: 90), of: 101, to: 37)
        let halved = full.halved(51)
        var random = SeededGenerator()
        let samples = (0..<51).map { _ in Float.random(in: 0...255, using: &random) }
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
