import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Two ways lead to smaller stills, libvips and our own for planes of JPEGs: which is taken, and that `best` is the better
/// one.
@Suite struct DownscalerTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let folders = ["jpeg", "png", "webp", "tiff", "bmp", "heic", "heif", "avif", "jxl"]

    /// Samples that are stills and can be decoded.
    private static func samples(_ folder: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: Repository.media.appending(path: folder), includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    private func rendered(_ source: URL, _ speed: Speed, side: Int) throws -> Rendered? {
        var profile = PictureJudge.lossless(side: side)
        profile.speed = speed
        profile.animation = nil
        do {
            // The larger ones take the same ways, for minutes.
            var limits = Limits.service
            limits.stillPixels = 3_000_000
            let rendered = try Rendered.of(source, in: directory.url, profile: profile, limits: limits)
            return rendered.probeResult.kind == .image ? rendered : nil
        } catch is AttachmentError {
            return nil
        }
    }

    /// The reference is a filter over all of the pixels in floats, by Pillow, of what `best` shows of them at full size:
    /// colours, turns and damage are judged elsewhere, over the same samples.
    @Test(arguments: folders)
    func `best is as near to the whole source as standard on every sample`(folder: String) throws {
        var compared = 0
        for (index, source) in try Self.samples(folder).enumerated() {
            guard let whole = try rendered(source, .best, side: 16_383), let size = whole.probeResult.size,
                size.longestSide >= 100
            else { continue }
            for side in Sweep.of([size.longestSide * 2 / 3, size.longestSide / 9], every: 2, from: index) {
                let pair = try [Speed.best, .standard].map { speed in
                    try #require(try rendered(source, speed, side: max(side, 16))).path(.main)
                }
                let lines = try PictureJudge.run(
                    """
                    source, best, standard = (Image.open(path) for path in args)
                    def floats(image):
                        pixels = np.asarray(image.convert('RGBA')).astype(np.float32)
                        pixels[..., :3] *= pixels[..., 3:] / 255
                        return pixels
                    pixels = floats(source)
                    reference = np.clip(np.stack([np.asarray(
                        Image.fromarray(pixels[..., c], 'F').resize(best.size, Image.LANCZOS)) for c in range(4)], -1), 0, 255)
                    say(*(psnr(reference, floats(image)) for image in (best, standard)))
                    """, [try whole.path(.main)] + pair)
                let values = try #require(lines.first).split(separator: " ").compactMap { Double($0) }
                try #require(values.count == 2)
                // What is rounded otherwise may fall to either side.
                #expect(values[0] >= values[1] - 0.05, "\(source.lastPathComponent) at \(side): \(values)")
                // Of drawings whose edges are sharp, clipping at black and white differs.
                #expect(values[0] > 30, "\(source.lastPathComponent) at \(side): \(values)")
            }
            compared += 1
        }
        #expect(compared > 0)
    }

    @Test func `a JPEG at best is decoded whole, and scaled as Pillow scales it, to the rounding`() throws {
        let source = Repository.media.appending(path: "jpeg/galaxies.jpg")
        for side in [700, 333, 100] {
            let best = try #require(try rendered(source, .best, side: side)).path(.main)
            let lines = try PictureJudge.run(
                "b = Image.open(args[1]); say(psnr(lanczos(Image.open(args[0]), b.size), rgb(b)))",
                [source.path, best])
            #expect(try #require(lines.first.flatMap(Double.init)) > 57, "at \(side): \(lines)")
        }
    }

    @Test func `only a JPEG of light and two colours has planes that are scaled by themselves, and not at best`() throws
    {
        func facts(_ type: MediaType, planes: Bool) -> StillFacts {
            StillFacts(
                type: type, sniffedType: type.rawValue, storedSize: PixelSize(width: 9, height: 9), orientation: 1,
                pixelBytes: 3, isPlanarJPEG: planes, bytes: 1)
        }
        for speed in Speed.allCases {
            let photograph = facts(.jpeg, planes: true).downscaler(at: speed)
            #expect((photograph is PlanarJPEGDownscaler) == (speed != .best))
            for type in [MediaType.jpeg, .png, .webp, .heic, .tiff, .gif] {
                #expect(facts(type, planes: false).downscaler(at: speed) is VipsDownscaler)
            }
        }
    }

    @Test func `where memory or time doesn't suffice, best is standard, and says so`() throws {
        let source = Repository.media.appending(path: "jpeg/galaxies.jpg")
        var profile = PictureJudge.lossless(side: 300)
        func pixels(_ speed: Speed, memory: Int64 = 1 << 30) throws -> (Rendered, Data) {
            profile.speed = speed
            let rendered = try Rendered.of(source, in: directory.url, profile: profile, memory: memory)
            return (rendered, try Data(contentsOf: URL(filePath: rendered.path(.main))))
        }
        let (standard, plain) = try pixels(.standard)
        let (best, finest) = try pixels(.best)
        let needed = best.probeResult.estimate.memory
        #expect(needed > standard.probeResult.estimate.memory && plain != finest)
        let (fallen, made) = try pixels(.best, memory: needed - 1)
        #expect(made == plain && fallen.reports.allSatisfy { $0.haste == nil })
        #expect(
            fallen.ending.changes.map(\.text) == [
                "the speed 'best': it needs \(needed) bytes, and \(needed - 1) were granted"
            ])
        #expect(best.ending.changes.isEmpty)
    }

    @Test func `less time or memory never brings best back, and standard asks for no more than best`() {
        for type in [MediaType.jpeg, .png, .heic, .tiff] {
            for width in [50, 1000, 6000] {
                let facts = StillFacts(
                    type: type, sniffedType: type.rawValue, storedSize: PixelSize(width: width, height: width),
                    orientation: 1, pixelBytes: 3, isPlanarJPEG: type == .jpeg, bytes: 1)
                let decision = BestStill(
                    facts, ImagePolicies(order: WorkOrder(profile: .notification), kind: .image))
                #expect(decision.standard.memory <= decision.best.memory)
                #expect(decision.standard.cpuSeconds <= decision.best.cpuSeconds)
                let memory = decision.best.memory
                #expect(decision.estimate(within: memory) == decision.best)
                #expect(decision.estimate(within: memory - 1) == decision.standard)
                #expect(decision.hindrance(granted: memory, secondsLeft: nil) == nil)
                #expect(decision.hindrance(granted: memory - 1, secondsLeft: nil) != nil)
                let times = [0, 0.001, 0.01, 0.1, 1, 10, 100]
                let isBest = times.map { decision.hindrance(granted: memory, secondsLeft: $0) == nil }
                #expect(isBest.last == true && isBest.first == false)
                #expect(zip(isBest, isBest.dropFirst()).allSatisfy { $0 == false || $1 })
            }
        }
    }
}
