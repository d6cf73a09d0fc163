import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// A picture is reported only as what the headers of its file say.
@Suite struct WrittenPictureTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    static let kinds: [(sample: String, type: MediaType, hasAlpha: Bool)] = [
        ("jpeg/coffee.jpg", .jpeg, false), ("png/alpha.png", .png, true), ("webp/lossless-alpha.webp", .webp, true),
        ("jpeg/coffee.jpg", .webp, false), ("gif/play-once.gif", .gif, false), ("gif/play-once.gif", .webp, false),
    ]

    private static func isRefused(_ report: RenditionReport, _ file: URL, hasAlpha: Bool?) throws -> Bool {
        try withDescriptor(file) { descriptor in
            do {
                try report.check(descriptor, hasAlpha: hasAlpha)
                return false
            } catch let error as AttachmentError {
                guard case .codecCrashed = error else { throw error }
                return true
            }
        }
    }

    @Test(arguments: 0..<kinds.count) func `a file that isn't what is reported is a fault of the codec`(kind: Int)
        throws
    {
        let (sample, type, hasAlpha) = Self.kinds[kind]
        let profile = Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 16),
            image: ImagePolicy(types: [type], longestSide: 96, cap: 1_000_000),
            animation: AnimationPolicy(type: type, longestSide: 96, cap: 1_000_000))
        let made = try Rendered.of(Repository.media.appending(path: sample), in: directory.url, profile: profile)
        let report = try #require(made.report(.main))
        let file = URL(filePath: try made.path(.main))
        let isMoving = made.probeResult.kind == .animation
        let alpha = isMoving ? nil : hasAlpha
        #expect(report.type == type)
        #expect(try !Self.isRefused(report, file, hasAlpha: alpha))
        var other = report
        other.size = report.size?.swapped
        #expect(try Self.isRefused(other, file, hasAlpha: alpha))
        other = report
        other.bytes += 1
        #expect(try Self.isRefused(other, file, hasAlpha: alpha))
        other = report
        other.duration = (report.duration ?? 0) + 0.01
        #expect(try Self.isRefused(other, file, hasAlpha: alpha))
        if let alpha { #expect(try Self.isRefused(report, file, hasAlpha: !alpha)) }
        // What a full disk or another file in its place leaves.
        let bytes = try Data(contentsOf: file)
        for changed in [bytes.prefix(20), bytes.prefix(bytes.count - 1), bytes + [0], Data(count: bytes.count)] {
            try Data(changed).write(to: file)
            #expect(try Self.isRefused(report, file, hasAlpha: alpha), "\(changed.count) of \(bytes.count)")
        }
    }

    @Test func `a picture of which hardly anything is transparent is delivered in every type`() throws {
        let source = directory.url.appending(path: "spot.png")
        try PictureJudge.run(
            """
            image = np.full((600, 800, 4), 255, np.uint8); image[..., 0] = np.arange(800) % 251; image[300, 400, 3] = int(args[1])
            Image.fromarray(image).save(args[0])
            """, [source.path, "254"])
        for type in [MediaType.png, .webp] {
            for side in [800, 400, 64] {
                let profile = Profile(
                    name: "test", thumbnail: ThumbnailPolicy(side: 16),
                    image: ImagePolicy(types: [type], longestSide: side, cap: 1_000_000))
                let made = try Rendered.of(source, in: directory.url, profile: profile)
                #expect(made.report(.main)?.size?.longestSide == side)
            }
        }
    }
}
