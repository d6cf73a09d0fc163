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

    private static func isRefused(
        _ report: RenditionReport, _ file: URL, hasAlpha: Bool?, delays: [Int] = []
    ) throws -> Bool {
        try withDescriptor(file) { descriptor in
            do {
                try report.check(descriptor, hasAlpha: hasAlpha, delays: delays)
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
        if isMoving {
            let delays = try Self.judged(file.path).delays
            #expect(try !Self.isRefused(report, file, hasAlpha: nil, delays: delays))
            // A frame that is missing, one too many, and one that begins at another time.
            let fewer = [delays[0] + delays[1]] + delays.dropFirst(2)
            let shifted = [delays[0] + 10, delays[1] - 10] + delays.dropFirst(2)
            for other in [[delays[0] - 10, 10] + delays.dropFirst(), fewer, shifted] {
                #expect(try Self.isRefused(report, file, hasAlpha: nil, delays: other), "\(other)")
            }
        }
        // What a full disk or another file in its place leaves.
        let bytes = try Data(contentsOf: file)
        for changed in [bytes.prefix(20), bytes.prefix(bytes.count - 1), bytes + [0], Data(count: bytes.count)] {
            try Data(changed).write(to: file)
            #expect(try Self.isRefused(report, file, hasAlpha: alpha), "\(changed.count) of \(bytes.count)")
        }
    }

    /// Milliseconds of each frame of a file, and the least opacity of any of its pixels, as Pillow and ffprobe have them.
    private static func judged(_ file: String) throws -> (delays: [Int], alpha: Int) {
        let numbers = try PictureJudge.run(
            """
            if open(args[0], 'rb').read(8)[4:] == b'ftyp':
                told = subprocess.run(['ffprobe', '-v', 'error', '-show_entries', 'packet=pts_time:stream=duration', '-of',
                    'csv=p=0', args[0]], check=True, capture_output=True, text=True).stdout
                *times, end = [round(float(time.strip(',')) * 1000) for time in told.split()]
                delays, alphas = np.diff(sorted(times) + [end]), [255]
            else:
                image, delays, alphas = Image.open(args[0]), [], []
                for n in range(getattr(image, 'n_frames', 1)):
                    image.seek(n); image.load(); delays.append(round(image.info.get('duration', 0)))
                    alphas.append(np.asarray(image.convert('RGBA'))[..., 3].min())
            say(min(alphas), *delays)
            """, [file]
        ).joined().split(separator: " ").compactMap { Int($0) }
        return (Array(numbers.dropFirst()), numbers.first ?? -1)
    }

    private static let outputs: [(type: MediaType, speed: Speed)] = [
        (.gif, .standard), (.gif, .best), (.webp, .standard), (.mp4, .standard),
    ]

    @Test(arguments: ["webp", "png", "gif", "twice.gif"])
    func `an animation has the frames of its source, and what is said of its transparency is so`(kind: String) throws {
        // A square that moves over a ground of which only the opacity differs.
        let sources = try PictureJudge.run(
            """
            for alpha in (255, 200, 60, 0):
                frames = []
                for n in range(6):
                    pixels = np.full((48, 64, 4), (30, 90, 220, alpha), np.uint8)
                    pixels[10:34, 4 + n * 6:28 + n * 6] = (240, 200, 20, 255); frames.append(Image.fromarray(pixels))
                file = os.path.join(args[0], f'{alpha}.{args[1]}')
                options = {'lossless': True} if args[1] == 'webp' else {'disposal': 2} if 'gif' in args[1] else {}
                frames[0].save(file, save_all=True, append_images=frames[1:], duration=100, loop=0, **options)
                if 'twice' in args[1]:
                    twice = [f'#{n // 2}' for n in range(12)]
                    subprocess.run(['gifsicle', '-b', '-U', file] + twice, check=True)
                say(file)
            """, [directory.path, kind])
        for path in sources {
            let source = try Self.judged(path)
            for (type, speed) in Self.outputs {
                let profile = Profile(
                    name: "test", speed: speed, thumbnail: ThumbnailPolicy(side: 16),
                    animation: AnimationPolicy(type: type, longestSide: 40, cap: 1_000_000))
                let made = try Rendered.of(URL(filePath: path), in: directory.url, profile: profile)
                let found = try Self.judged(try made.path(.main))
                let what = Comment(rawValue: "\(path) as \(type) at \(speed): \(source) and \(found)")
                let note = try #require(made.report(.main)?.note)
                if found.delays.count == source.delays.count {
                    #expect(!note.contains("in the file"), what)
                } else {
                    // Only a frame that repeats the one before may have become one with it.
                    #expect(kind == "twice.gif" && found.delays.count == 6, what)
                    #expect(note.contains("6 in the file"), "\(note)")
                }
                #expect(found.delays.reduce(0, +) == source.delays.reduce(0, +), what)
                let isTold = made.ending.omissions.contains { $0.code == .leftOut && $0.part == .transparency }
                #expect(isTold == (source.alpha < 255 && found.alpha == 255), what)
                let told = Diagnosis.result(.full, error: nil, diagnosis: made.ending.diagnosis) ?? ""
                #expect(told.contains("without transparency") == isTold, what)
            }
        }
    }

    @Test(arguments: [MediaType.jpeg, .png, .webp])
    func `a still that lost its transparency says so`(type: MediaType) throws {
        for sample in ["png/alpha.png", "png/palette-alpha.png", "webp/lossless-alpha.webp"] {
            let source = Repository.media.appending(path: sample)
            let profile = Profile(
                name: "test", thumbnail: ThumbnailPolicy(side: 16),
                image: ImagePolicy(types: [type], longestSide: 96, cap: 1_000_000))
            let made = try Rendered.of(source, in: directory.url, profile: profile)
            let found = try Self.judged(try made.path(.main))
            let isTold = made.ending.omissions.contains { $0.code == .leftOut && $0.part == .transparency }
            #expect(try isTold == (Self.judged(source.path).alpha < 255 && found.alpha == 255), "\(sample)")
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
