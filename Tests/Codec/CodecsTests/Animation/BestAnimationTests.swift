import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// Animations at the speed `best`, by libvips from the first step to the last: what `standard` is compared with.
@Suite struct BestAnimationTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    private static func profile(
        _ speed: Speed, _ type: MediaType = .gif, side: Int?, cap: Int64 = 50_000_000
    ) -> Profile {
        var profile = Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 64),
            animation: AnimationPolicy(type: type, longestSide: side, cap: cap))
        profile.speed = speed
        return profile
    }

    private static let samples = [
        ("gif/film.gif", 100), ("gif/film.gif", 151), ("gif/local-palettes.gif", 24), ("gif/disposal-0.gif", 48),
        ("gif/disposal-1.gif", 61), ("gif/disposal-2.gif", 48), ("gif/disposal-3.gif", 48), ("gif/delays.gif", 31),
        ("gif/no-control.gif", 17), ("gif/loop-3.gif", 40), ("gif/play-once.gif", 40), ("webp/animated.webp", 100),
        ("webp/animated-alpha.webp", 24),
    ]

    /// Each sample as both types; the order has every other pair hold each sample and both types.
    private static let pairs = samples.enumerated().flatMap { index, sample in
        [MediaType.gif, .webp].indices.map { (sample, [MediaType.gif, .webp][(index + $0) % 2]) }
    }

    @Test(arguments: Sweep.of(pairs, every: 2))
    func `next to nothing is more like the source, and frames, delays, loops and transparency are the same`(
        sample: (path: String, side: Int), type: MediaType
    ) throws {
        let source = self.sample(sample.path)
        var judged: [Speed: AnimationJudge] = [:]
        var loops: Set<String> = []
        for speed in [Speed.best, .standard] {
            let made = try Rendered.of(
                source, in: directory.url, profile: Self.profile(speed, type, side: sample.side))
            #expect(!made.ending.changes.contains { $0.part == .speed })
            #expect(made.report(.main) != nil && made.report(.main)?.haste == nil)
            if type == .gif {
                #expect(made.report(.main)?.note.contains("by libvips") == (speed == .best))
            }
            judged[speed] = try AnimationJudge.compare(try made.path(.main), with: source)
            loops.formUnion(
                try AnimationJudge.run("print(Image.open(sys.argv[1]).info.get('loop'))", [made.path(.main)]))
        }
        let best = try #require(judged[.best])
        let standard = try #require(judged[.standard])
        #expect(best.frames == best.expectedFrames && best.delays == standard.delays)
        #expect(best.width == standard.width && best.height == standard.height)
        #expect(best.wrongAlpha == 0 && loops.count == 1)
        // libimagequant weighs errors by how they are seen, and ours by their squares: 0.32 at most, with libvips 8.16.
        let margin = type == .gif ? 0.35 : 0.01
        // What is above this is as good as the same, of either.
        let aim = min(standard.meanLikeness - margin, 45)
        #expect(best.meanLikeness >= aim, "\(best.likeness), \(standard.likeness)")
    }

    @Test func `no frame bleeds into the one above or below it`() throws {
        let source = directory.url.appending(path: "lamp.gif")
        try Tool.run(
            "convert", ["-delay", "10", "-size", "90x70", "xc:white", "xc:black", "xc:red", "xc:white", source.path])
        let made = try Rendered.of(source, in: directory.url, profile: Self.profile(.best, side: 31))
        let judged = try AnimationJudge.compare(try made.path(.main), with: source)
        #expect(judged.frames == 4 && judged.likeness == 99)
        #expect(made.report(.main)?.note.contains("by libvips") == true)
    }

    @Test func `a cap is held, and a part is cut`() throws {
        let source = sample("gif/film.gif")
        let free = try Rendered.of(source, in: directory.url, profile: Self.profile(.best, side: 120))
        for share in [2, 6, 40] as [Int64] {
            let cap = try #require(free.report(.main)?.bytes) / share
            let bound = try Rendered.of(source, in: directory.url, profile: Self.profile(.best, side: 120, cap: cap))
            #expect(try #require(bound.report(.main)).bytes <= cap)
        }
        let request = RenditionRequest(trim: TrimRequest(start: 0.5, duration: 0.7))
        let part = try Rendered.of(
            source, in: directory.url, profile: Self.profile(.best, side: 120), request: request)
        let info = try AnimationJudge.run("print(Image.open(sys.argv[1]).n_frames)", [part.path(.main)])
        #expect(info == ["7"] && part.ending.trim?.start == 0.5)
    }

    @Test func `what libvips doesn't read is made by us, and the record says so`() throws {
        let made = try Rendered.of(
            sample("png/animated.png"), in: directory.url, profile: Self.profile(.best, side: 40))
        #expect(made.ending.changes == [Finding(.notSupported, .speed, named: "APNG")])
        #expect(made.report(.main) != nil && made.report(.main)?.haste == nil)
    }

    @Test func `damage is counted as ever`() throws {
        let path = "trouble/truncated.gif"
        var profiles = [Self.profile(.best, side: 40), Self.profile(.standard, side: 40)]
        for index in profiles.indices { profiles[index].damaged = .salvage }
        let made = try profiles.map { try Rendered.of(sample(path), in: directory.url, profile: $0) }
        #expect(made[0].ending.losses == made[1].ending.losses && !made[0].ending.losses.isEmpty)
        let delays = try made.map {
            try AnimationJudge.compare(try $0.path(.main), with: sample("gif/film.gif")).delays
        }
        #expect(delays[0] == delays[1])
    }

    /// Frames beyond the screen, interlaced, with holes and every disposal, at random.
    @Test(arguments: 0..<Sweep.count(6, else: 3))
    func `frames that libvips shows otherwise are made by us`(seed: Int) throws {
        let source = directory.url.appending(path: "random-\(seed).gif")
        try Tool.run("/usr/bin/python3", ["-c", AnimationFramesTests.randomGIF, source.path, "\(seed)"])
        let made = try Rendered.of(source, in: directory.url, profile: Self.profile(.best, side: 39))
        let standard = try Rendered.of(source, in: directory.url, profile: Self.profile(.standard, side: 39))
        let judged = try [made, standard].map { try AnimationJudge.compare(try $0.path(.main), with: source) }
        #expect(judged[0].frames == 9 && judged[0].delays == judged[1].delays)
        #expect(judged[0].meanLikeness >= judged[1].meanLikeness - 0.25)
        let isByLibvips = made.report(.main)?.note.contains("by libvips") == true
        let isTold = made.ending.changes.contains(Finding(.shownOtherwise, .speed))
        #expect(isByLibvips != isTold, "\(made.ending.changes)")
        #expect(made.report(.main) != nil && made.report(.main)?.haste == nil)
    }

    @Test func `where time is short it is made at standard, and that isn't reduced`() throws {
        let part = AnimationPart(
            all: AnimationFacts(
                type: .gif, sniffedType: "image/gif", size: PixelSize(width: 200, height: 112),
                delays: Array(repeating: 100, count: 20), plays: 0, bytes: 100_000))
        let policy = AnimationPolicy(longestSide: 150)
        let region = PixelRect(part.facts.size)
        let (best, standard) = (part.cost(region, policy, at: .best).full, part.cost(region, policy).full)
        #expect(best > standard * 2)
        let choice = BestAnimation(part, as: .gif, result: 150 * 84)
        for (seconds, isHindered) in [(nil, false), (best * 2, false), (best, true), (standard * 1.3, true)]
            as [(Double?, Bool)]
        {
            let hindrance = choice.hindrance(
                granted: 1 << 30, standard: 10 << 20, seconds: best, secondsLeft: seconds)
            #expect((hindrance != nil) == isHindered)
        }
    }

    @Test func `more frames than libvips reads, and more memory than is granted, are made by us`() {
        func part(_ frames: Int, _ type: MediaType = .gif, delay: Int = 100) -> AnimationPart {
            AnimationPart(
                all: AnimationFacts(
                    type: type, sniffedType: "image/gif", size: PixelSize(width: 64, height: 64),
                    delays: Array(repeating: delay, count: frames), plays: 0, bytes: 100_000))
        }
        func hindrance(_ part: AnimationPart, granted: Int64 = 1 << 40) -> Finding? {
            BestAnimation(part, as: .gif, result: 4096).hindrance(
                granted: granted, standard: 1 << 20, seconds: 1, secondsLeft: nil)
        }
        #expect(hindrance(part(4_000)) == nil && hindrance(part(4_001)) != nil)
        #expect(hindrance(part(4_001, .webp)) != nil && hindrance(part(2, .png)) != nil)
        #expect(hindrance(part(2, .avif)) == Finding(.notSupported, .speed, named: "AVIF"))
        #expect(hindrance(part(2, delay: 655_360)) != nil && hindrance(part(2, delay: 655_350)) == nil)
        let memory = BestAnimation(part(100), as: .gif, result: 4096).memory
        // What is written is held.
        #expect(memory > 4096 * 100 && BestAnimation(part(200), as: .gif, result: 4096).memory > memory)
        #expect(hindrance(part(100), granted: memory + (1 << 20)) == nil)
        #expect(hindrance(part(100), granted: memory + (1 << 20) - 1) != nil)
    }
}
