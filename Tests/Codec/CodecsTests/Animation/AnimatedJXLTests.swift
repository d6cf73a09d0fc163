import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// An animation in JPEG XL is read where libvips does, and told apart from a still everywhere.
@Suite struct AnimatedJXLTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let sample = Repository.media.appending(path: "jxl/animated.jxl")

    /// Whether the installed libvips reads its frames.
    private static var isRead: Bool {
        get throws {
            try Codec.everything.prepare()
            let library = try #require(Codec.everything.libraries.first { $0.name == .libvips })
            return !NewerFeature.missing(in: library).contains(.animatedJXL)
        }
    }

    private static var profile: Profile {
        Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 64), image: ImagePolicy(types: [.png], cap: 10_000_000),
            animation: AnimationPolicy(type: .webp, cap: 50_000_000))
    }

    @Test func `an animation keeps every frame and its delays where libvips reads them, else it is refused by name`()
        throws
    {
        guard try Self.isRead else {
            let error = try Rendered.refusal(of: Self.sample, in: directory.url)
            #expect(error == NewerFeature.animatedJXL.refusal)
            return
        }
        let rendered = try Rendered.of(Self.sample, in: directory.url, profile: Self.profile)
        #expect(rendered.probeResult.kind == .animation && rendered.probeResult.type == .jxl)
        #expect(rendered.probeResult.frames == 6 && rendered.probeResult.duration == 0.6)
        #expect(rendered.ending.losses.isEmpty && rendered.ending.warnings.isEmpty)
        #expect(rendered.reports.map(\.role) == [.thumbnail, .main])
        // libjxl's own tool writes an APNG.
        let judged = try PictureJudge.run(
            """
            subprocess.run(['djxl', args[0], args[2]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wanted, found = Image.open(args[2]), Image.open(args[1])
            say(wanted.n_frames, found.n_frames, found.info.get('loop'))
            worst = 99
            for n in range(wanted.n_frames):
                wanted.seek(n); found.seek(n); found.load()
                say(found.info['duration'])
                worst = min(worst, psnr(*(np.asarray(each.convert('RGB')).astype(float) for each in (wanted, found))))
            say(worst > 30 or worst)
            """,
            [Self.sample.path, try rendered.path(.main), directory.url.appending(path: "judged.apng").path])
        #expect(judged == ["6 6 0"] + Array(repeating: "100", count: 6) + ["True"])
    }

    @Test func `an animation that is cut off or changed is refused, or read as far as libvips does`() throws {
        let whole = try Data(contentsOf: Self.sample)
        let file = directory.url.appending(path: "cut.jxl")
        for length in [4, 12, 20, whole.count / 4, whole.count / 2, whole.count * 3 / 4] {
            try whole.prefix(length).write(to: file)
            let error = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile)
            let code = try #require(error?.code, "\(length) bytes")
            #expect(
                [.corrupt, .undecodable, .unsupportedFeature, .unrecognizedType].contains(code),
                "\(length) bytes: \(code)")
        }
    }

    /// What jxlinfo says is an animation.
    private func isAnimated(_ file: URL) throws -> Bool {
        let words = try Tool.text("jxlinfo", [file.path])
        #expect(words.contains("JPEG XL animation") != words.contains("JPEG XL image"), "\(words)")
        return words.contains("JPEG XL animation")
    }

    private func header(_ data: Data) -> JXLHeader? {
        unsafe data.withUnsafeBytes { unsafe JXLHeader($0) }
    }

    @Test func `the header tells animations from stills, whatever the size, the boxes and the orientation`() throws {
        let names = try PictureJudge.run(
            """
            sizes = [(1, 1), (7, 9), (64, 64), (256, 256), (300, 200), (1500, 30), (40, 4000), (1024, 576)]
            for w, h in sizes:
                for frames in (1, 3):
                    name = f'{args[0]}/{w}x{h}-{frames}'
                    images = [Image.fromarray(np.full((h, w, 3), 40 * n + 20, np.uint8)) for n in range(frames)]
                    images[0].save(name + '.png', save_all=frames > 1, append_images=images[1:], duration=70)
                    for container in (0, 1):
                        out = f'{name}-{container}.jxl'
                        subprocess.run(['cjxl', name + '.png', out, '-e', '1', '-d', '1', f'--container={container}'],
                            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                        say(out)
            for n in range(1, 9):
                name = f'{args[0]}/turned-{n}'
                exif = Image.Exif(); exif[0x112] = n
                Image.fromarray(np.full((40, 60, 3), 90, np.uint8)).save(name + '.jpg', exif=exif)
                subprocess.run(['cjxl', name + '.jpg', name + '.jxl'], check=True, stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL)
                say(name + '.jxl')
            """, [directory.url.path])
        #expect(names.count == 8 * 4 + 8)
        var animated = 0
        for name in names {
            let file = URL(filePath: name)
            let data = try Data(contentsOf: file)
            let expected = try isAnimated(file)
            if expected { animated += 1 }
            #expect(header(data)?.isAnimated == expected, "\(name)")
            // Whatever is missing of it, what is said of the rest is right or nothing.
            for length in 0..<min(80, data.count) {
                let found = header(data.prefix(length))?.isAnimated
                #expect(found == nil || found == expected, "\(name), \(length) bytes")
            }
        }
        #expect(animated == 8 * 2)
    }

    @Test func `a codestream in parts behind other boxes is found`() throws {
        let codestream = try Data(contentsOf: Self.sample)
        #expect(codestream.starts(with: [0xff, 0x0a]))
        func box(_ type: String, _ body: Data) -> Data {
            Data((0..<4).map { UInt8(truncatingIfNeeded: (body.count + 8) >> (24 - 8 * $0)) }) + Data(type.utf8) + body
        }
        var file = box("JXL ", Data([0x0d, 0x0a, 0x87, 0x0a])) + box("ftyp", Data("jxl \0\0\0\0jxl ".utf8))
        file += box("Exif", Data(count: 100_000))
        for (number, start) in stride(from: 0, to: codestream.count, by: 5).enumerated() {
            let part = codestream[start..<min(codestream.count, start + 5)]
            let isLast = start + 5 >= codestream.count
            file += box("jxlp", Data([isLast ? 0x80 : 0, 0, UInt8(number >> 8 & 255), UInt8(number & 255)]) + part)
        }
        #expect(header(file)?.isAnimated == true)
        #expect(header(Data("not one".utf8)) == nil)
        #expect(header(Data()) == nil)
    }
}
