import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// Animations that lack their end, or something within: what is left keeps its delays and loops, and what is missing is said.
@Suite struct AnimationDamageTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func profile(_ damaged: WhenDamaged = .refuse, type: MediaType = .gif, side: Int? = nil) -> Profile {
        var profile = Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 16), image: ImagePolicy(types: [.png], cap: 10_000_000),
            animation: AnimationPolicy(type: type, longestSide: side, cap: 50_000_000))
        profile.damaged = damaged
        return profile
    }

    /// Frames of noise in eight colours, each over the whole screen, shown for 30, 40, … milliseconds.
    private borrowing func noise(_ frames: Int, _ name: String = "noise.gif") throws -> URL {
        let file = directory.url.appending(path: name)
        try PictureJudge.run(
            """
            random = np.random.default_rng(7)
            frames = [Image.fromarray(random.integers(0, 8, (20, 30)).astype(np.uint8) * 30, 'L').convert('RGB')
                for _ in range(int(args[1]))]
            delays = [30 + 10 * (n % 7) for n in range(len(frames))]
            if args[0].endswith('.webp'):
                frames[0].save(args[0], save_all=True, append_images=frames[1:], duration=delays, loop=3, lossless=True)
            else:
                frames[0].save(args[0], save_all=True, append_images=frames[1:], duration=delays, loop=2, optimize=False)
            """, [file.path, "\(frames)"])
        return file
    }

    private borrowing func written(_ data: Data, _ name: String) throws -> URL {
        let file = directory.url.appending(path: name)
        try data.write(to: file)
        return file
    }

    /// Where each frame's image descriptor lies, by the graphic controls before them.
    private static func images(in gif: Data) -> [Int] {
        gif.indices.dropLast(9).filter {
            gif[$0] == 0x21 && gif[$0 + 1] == 0xF9 && gif[$0 + 2] == 4 && gif[$0 + 7] == 0 && gif[$0 + 8] == 0x2C
        }.map { $0 + 8 }
    }

    /// How the first `count` frames of `output` compare with those of `source`, by Pillow: delays and pixels.
    private static func areFirst(_ count: Int, of source: URL, in output: String) throws -> [String] {
        try PictureJudge.run(
            """
            def frames(path):
                image = Image.open(path)
                for n in range(image.n_frames):
                    image.seek(n)
                    # A WebP's delay is read with its pixels.
                    image.load()
                    yield round(image.info.get('duration', 0)), np.asarray(image.convert('RGB')).astype(int)
            found, wanted = list(frames(args[1])), list(frames(args[0]))
            count = int(args[2])
            say(len(found), Image.open(args[1]).info.get('loop'))
            say(all(a[0] == b[0] and (a[1] == b[1]).all() for a, b in zip(found[:count], wanted[:count])))
            """, [source.path, output, "\(count)"])
    }

    @Test(arguments: [1, 2])
    func `a GIF that lacks only what marks its end lost nothing`(cut: Int) throws {
        let source = try noise(12)
        let data = try Data(contentsOf: source)
        let rendered = try Rendered.of(
            try written(data.dropLast(cut), "cut.gif"), in: directory.url, profile: Self.profile())
        #expect(rendered.ending.losses.isEmpty)
        #expect(rendered.ending.evidence == [Finding(.endMarkMissing)])
        #expect(try Self.areFirst(12, of: source, in: try rendered.path(.main)) == ["12 2", "True"])
    }

    @Test(arguments: [nil, 15] as [Int?])
    func `of 100 frames the last may be cut off, and the others are as they were`(side: Int?) throws {
        let source = try noise(100)
        let data = try Data(contentsOf: source)
        let last = try #require(Self.images(in: data).last)
        for cut in [last + 60, last + 11, last + 5, last - 3] {
            let rendered = try Rendered.of(
                try written(data.prefix(cut), "cut.gif"), in: directory.url, profile: Self.profile(side: side))
            #expect(
                rendered.ending.losses == [Finding(.endsWithin, .frames, missing: 1, of: 100, named: "last frame")],
                "\(cut - last)")
            #expect(rendered.probeResult.frames == 99)
            let found = try Self.areFirst(side == nil ? 99 : 0, of: source, in: try rendered.path(.main))
            #expect(found == ["99 2", "True"])
        }
    }

    @Test func `of 20 frames the last may not, unless the profile salvages`() throws {
        let source = try noise(20)
        let file = try written(try Data(contentsOf: source).dropLast(80), "cut.gif")
        #expect(
            try Rendered.refusal(of: file, in: directory.url, profile: Self.profile())
                == .unreadable(Finding(.endsWithin, .frames, missing: 1, of: 20, named: "last frame")))
        for type in [.gif, .webp, .mp4] as [MediaType] {
            let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage, type: type))
            #expect(rendered.ending.losses.map(\.what) == ["frame 20 and all after it"])
            if type == .gif {
                #expect(try Self.areFirst(19, of: source, in: try rendered.path(.main)) == ["19 2", "True"])
            }
        }
        // The first frame is whole, and a profile that takes stills wants no other.
        let still = try Rendered.of(file, in: directory.url, profile: .avatar)
        #expect(still.ending.losses.isEmpty)
        #expect(still.ending.omissions == [Finding(.oneTaken, .frames, missing: 18, of: 19)])
    }

    /// Wherever a file is cut: what is told is what is there.
    @Test func `a GIF of 60 frames that is cut anywhere in its last frame tells of that one`() throws {
        let source = try noise(60)
        let data = try Data(contentsOf: source)
        let last = try #require(Self.images(in: data).last)
        for cut in stride(from: last - 8, through: data.count, by: 7) {
            let file = try written(data.prefix(cut), "cut.gif")
            let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile())
            let frames = try #require(rendered.probeResult.frames)
            let told = rendered.ending.losses.map(\.what)
            #expect(
                frames == 60 ? told.isEmpty : told == ["frame 60 and all after it"] || cut == last - 8,
                "\(cut - last)")
            #expect(frames == 60 || frames == 59)
            if frames == 60 {
                #expect(try Self.areFirst(60, of: source, in: try rendered.path(.main)) == ["60 2", "True"])
            }
        }
    }

    enum Wound: String, CaseIterable {
        case blockTooLong, blockTooShort, endsEarly, codesThatCannotBe, introducer, control, label
    }

    @Test(arguments: Wound.allCases)
    func `what is damaged in the middle is counted, and all that follows is shown`(wound: Wound) throws {
        let source = try noise(100)
        var data = try Data(contentsOf: source)
        let image = Self.images(in: data)[50]
        // The descriptor, its palette, the size of codes, the length of the first block.
        let flags = data[image + 9]
        let block = image + 11 + (flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1))
        switch wound {
        case .blockTooLong: data[block + Int(data[block]) + 1] = 255
        case .blockTooShort: data[block] -= 30
        case .endsEarly: data[block] = 0
        case .codesThatCannotBe: for at in block + 20..<block + 40 { data[at] = 0xFF }
        case .introducer: data[image] = 0x00
        case .control: data[image - 8] = 0x44
        case .label: data[image - 6] = 0x60
        }
        let file = try written(data, "\(wound.rawValue).gif")
        let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile())
        let output = try rendered.path(.main)
        let judged = try PictureJudge.run(
            """
            def frames(path):
                image = Image.open(path)
                for n in range(image.n_frames):
                    image.seek(n)
                    yield np.asarray(image.convert('RGB')).astype(int)
            found, wanted = list(frames(args[1])), list(frames(args[0]))
            missing = len(wanted) - len(found)
            say(all((a == b).all() for a, b in zip(found[:50], wanted[:50])))
            say(all((a == b).all() for a, b in zip(found[51 - missing:], wanted[51:])))
            """, [source.path, output])
        #expect(judged == ["True", "True"])
        #expect(rendered.ending.losses.map(\.what) == ["1 of 100 frames"], "\(rendered.ending.losses)")
    }

    @Test func `a single picture is counted by its rows`() throws {
        let file = directory.url.appending(path: "still.gif")
        try PictureJudge.run(
            """
            random = np.random.default_rng(3)
            Image.fromarray(random.integers(0, 250, (200, 50)).astype(np.uint8), 'L').save(args[0])
            """, [file.path])
        let data = try Data(contentsOf: file)
        var profile = Self.profile()
        let nearly = try Rendered.of(
            try written(data.dropLast(100), "nearly.gif"), in: directory.url, profile: profile)
        let loss = try #require(nearly.ending.losses.first)
        #expect(loss.what.wholeMatch(of: /[1-4] of 200 rows/) != nil, "\(loss)")
        #expect(loss.code == .endsBefore)
        let half = try written(data.prefix(data.count / 2), "half.gif")
        let error = try Rendered.refusal(of: half, in: directory.url, profile: profile)
        #expect(error?.code == .corrupt && error?.message.contains("of 200 rows are missing") == true)
        profile.damaged = .salvage
        let salvaged = try Rendered.of(half, in: directory.url, profile: profile)
        #expect(salvaged.ending.losses.first?.what.hasSuffix("of 200 rows") == true)
        for marks in 1...2 {
            let whole = try Rendered.of(
                try written(data.dropLast(marks), "whole.gif"), in: directory.url, profile: profile)
            #expect(whole.ending.losses.isEmpty)
            #expect(whole.ending.evidence == [Finding(.endMarkMissing)])
        }
    }

    @Test func `what begins as a GIF is a damaged one, and text is none`() throws {
        let data = try Data(contentsOf: try noise(3))
        // Pillow writes no more colours than there are, from some version on.
        #expect(data[10] & 0x80 != 0)
        let palette = 13 + 3 * (2 << Int(data[10] & 7))
        let noPicture: [(String, Data)] = [
            ("header", data.prefix(10)), ("screen", data.prefix(13)), ("palette", data.prefix(60)),
            ("marked", data.prefix(13) + Data([0x3B])),
            ("zeroes", data.prefix(min(palette, data.count)) + Data(count: 500)),
        ]
        for (name, data) in noPicture {
            let error = try Rendered.refusal(of: try written(data, "\(name).gif"), in: directory.url)
            let found: Finding.Code = name == "zeroes" ? .notDecoded : .endsBefore
            #expect(error?.finding?.code == found, "\(name): \(String(describing: error))")
        }
        let script = Data("GIF89a/*<script>*/=1;alert(document.cookie)//".utf8)
        #expect(
            try Rendered.refusal(of: try written(script, "script.gif"), in: directory.url)?.code == .unrecognizedType)
    }

    // MARK: APNG

    /// Drawn by Pillow: 100 frames, or as many as are wanted, and a default image that is the first of them.
    private borrowing func portable(_ frames: Int) throws -> URL { try noise(frames, "noise-\(frames).png") }

    private static func chunks(_ name: String, in png: Data) -> [Int] {
        let name = Data(name.utf8)
        return png.indices.dropLast(3).filter { png[$0..<$0 + 4] == name }.map { $0 - 4 }
    }

    enum Fault: String, CaseIterable {
        case fewer, more, impossible, headerSum, controlSum, order, outside
    }

    @Test(arguments: Fault.allCases)
    func `an APNG whose animation chunks are broken is the still that its specification wants`(fault: Fault) throws {
        let source = try portable(8)
        var data = try Data(contentsOf: source)
        let header = try #require(Self.chunks("acTL", in: data).first)
        let control = try #require(Self.chunks("fcTL", in: data).dropFirst(3).first)
        func patch(_ at: Int, _ bytes: [UInt8], in chunk: Int, length: Int) throws {
            data.replaceSubrange(at..<at + bytes.count, with: bytes)
            let sum = try PictureJudge.run(
                "import zlib\nsay(zlib.crc32(open(args[0], 'rb').read()))",
                [try written(data[chunk + 4..<chunk + 8 + length], "chunk").path]
            ).first.flatMap { UInt32($0) }
            let crc = try #require(sum)
            let place = chunk + 8 + length
            data.replaceSubrange(
                place..<place + 4, with: (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) })
        }
        let expected: Finding
        switch fault {
        case .fewer:
            try patch(header + 11, [7], in: header, length: 8)
            expected = Finding(.malformed, .animation, named: "count of frames")
        case .more:
            try patch(header + 11, [9], in: header, length: 8)
            expected = Finding(.announcesMore, .animation, missing: 1, of: 9)
        case .impossible:
            try patch(header + 8, [0x80, 0, 0, 1], in: header, length: 8)
            expected = Finding(.announcesMore, .animation, of: 2_147_483_649)
        case .headerSum:
            data[header + 17] ^= 1
            expected = Finding(.malformed, .animation, named: "animation header")
        case .controlSum:
            data[control + 30] ^= 1
            expected = Finding(.malformed, .animation, named: "frame 4")
        case .order:
            try patch(control + 11, [99], in: control, length: 26)
            expected = Finding(.malformed, .animation, named: "order of chunks")
        case .outside:
            try patch(control + 23, [200], in: control, length: 26)
            expected = Finding(.malformed, .animation, named: "frame 4")
        }
        let rendered = try Rendered.of(
            try written(data, "\(fault.rawValue).png"), in: directory.url, profile: Self.profile())
        #expect(rendered.probeResult.kind == .image)
        #expect(rendered.ending.losses == [expected])
        let same = try PictureJudge.run(
            "say((load(args[0]) == load(args[1])).all())", [source.path, try rendered.path(.main)])
        #expect(same == ["True"])
    }

    @Test func `of 100 frames of an APNG some may be damaged or cut off`() throws {
        let source = try portable(100)
        let data = try Data(contentsOf: source)
        let controls = Self.chunks("fcTL", in: data)
        #expect(controls.count == 100)
        // Behind the control of frame 50: the chunk of its data.
        var damaged = data
        damaged[controls[50] + 38 + 40] ^= 0x10
        let samples: [(Data, Int, String)] = [
            (damaged, 100, "1 of 100 frames"), (data.prefix(controls[99] + 60), 99, "1 of 100 frames"),
            (data.prefix(controls[99]), 99, "1 of 100 frames"), (data.prefix(controls[98] + 20), 98, "2 of 100 frames"),
        ]
        for (index, (data, frames, what)) in samples.enumerated() {
            let rendered = try Rendered.of(
                try written(data, "\(index).png"), in: directory.url, profile: Self.profile())
            #expect(rendered.ending.losses.map(\.what) == [what], "\(index)")
            let found = try Self.areFirst(index == 0 ? 50 : frames, of: source, in: try rendered.path(.main))
            #expect(found == ["\(frames) 1", "True"], "\(index)")
        }
        let unmarked = try Rendered.of(
            try written(data.dropLast(12), "unmarked.png"), in: directory.url, profile: Self.profile())
        #expect(unmarked.ending.losses.isEmpty && unmarked.probeResult.frames == 100)
        #expect(unmarked.ending.evidence == [Finding(.endMarkMissing)])
        // More than that is the still, or what there is where that is wanted.
        let half = try written(data.prefix(data.count / 2), "half.png")
        let still = try Rendered.of(half, in: directory.url, profile: Self.profile())
        #expect(still.probeResult.kind == .image)
        #expect(still.ending.losses.map(\.part) == [.animation] && still.ending.losses[0].total == 100)
        let salvaged = try Rendered.of(half, in: directory.url, profile: Self.profile(.salvage))
        let frames = try #require(salvaged.probeResult.frames)
        #expect((40...60).contains(frames))
        #expect(salvaged.ending.losses.map(\.what) == ["\(100 - frames) of 100 frames"])
    }

    @Test(
        arguments: [
            (.mp4, 0, 100, 1, ["its repetition: MP4 has no place for it; …"]),
            (.mp4, 3, 100, 1, ["2 of 3 plays: MP4 has no place for it; …"]),
            (.mp4, 1, 100, 1, []), (.gif, 70_000, 100, 1, ["4464 of 70000 plays: GIF has no place for it; …"]),
            (.webp, 70_000, 100, 1, ["4465 of 70000 plays: WebP has no place for it; …"]), (.webp, 0, 16, 1, []),
            (
                .gif, 0, 16, 5,
                ["1 of 5 frames: GIF shows no frame for so short a time, so they were merged with others"]
            ),
            (.gif, 0, 23, 5, ["GIF has no place for its exact delays, and it plays for 0.120 s instead of 0.115 s"]),
            (.gif, 0, 25, 4, ["GIF has no place for its exact delays"]),
            (
                .webp, 1, 20_000_000, 1,
                ["WebP has no place for its exact delays, and it plays for 4 h 39 min instead of 5 h 33 min"]
            ),
        ] as [(MediaType, Int, Int, Int, [String])])
    func `what a type can't say of loops and delays is told`(
        type: MediaType, plays: Int, delay: Int, frames: Int, told: [String]
    ) {
        let facts = AnimationFacts(
            type: .png, sniffedType: "image/png", size: PixelSize(width: 8, height: 8),
            delays: Array(repeating: delay, count: frames), plays: plays, bytes: 100)
        var diagnosis = Diagnosis()
        facts.note(unsaidBy: type, in: &diagnosis)
        let texts = (diagnosis.omissions + diagnosis.changes).map(\.text)
        #expect(texts.map { $0.replacing(/; a profile .*/, with: "; …") } == told)
    }

    @Test func `what plays one time plays once`() {
        let texts = [0, 1, 2].map { plays in
            AnimationFacts(
                type: .gif, sniffedType: "image/gif", size: PixelSize(width: 8, height: 8), delays: [100], plays: plays,
                bytes: 100
            ).playsText
        }
        #expect(texts == ["for ever", "once", "2 times"])
    }

    @Test func `an APNG of 60 frames a second tells what becomes of it as GIF and as MP4`() throws {
        let file = directory.url.appending(path: "quick.png")
        try PictureJudge.run(
            """
            frames = [Image.new('RGB', (16, 16), (n * 40, 0, 0)) for n in range(5)]
            frames[0].save(args[0], save_all=True, append_images=frames[1:], duration=16, loop=0)
            """, [file.path])
        for type in [.gif, .mp4] as [MediaType] {
            let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile(type: type))
            let told: [Finding.Code] = type == .gif ? [.merged] : [.leftOut]
            #expect(rendered.ending.omissions.map(\.code) == told && rendered.ending.losses.isEmpty)
        }
    }

    @Test func `of 100 frames of a WebP the last may be cut off`() throws {
        let source = try noise(100, "noise.webp")
        let data = try Data(contentsOf: source)
        let frames = Self.chunks("ANMF", in: data).map { $0 + 4 }
        #expect(frames.count == 100)
        for (index, cut) in [data.count - 10, frames[99] + 12, frames[99] + 4, frames[99]].enumerated() {
            let file = try written(data.prefix(cut), "\(index).webp")
            let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile())
            #expect(rendered.probeResult.frames == 99)
            #expect(rendered.ending.losses == [Finding(.endsBefore, .frames, missing: 1, of: 100)], "\(index)")
            #expect(try Self.areFirst(99, of: source, in: try rendered.path(.main)) == ["99 2", "True"])
        }
        // Where many are missing, their number is that of as many bytes of those that are there.
        let half = try written(data.prefix(data.count / 2), "half.webp")
        let error = try Rendered.refusal(of: half, in: directory.url, profile: Self.profile())
        #expect(
            error?.code == .corrupt && error?.message.contains("frames are missing") == true,
            "\(String(describing: error))")
        for (cut, range) in [(data.count / 2, 48...50), (frames[1] + 20, 1...1)] {
            let file = try written(data.prefix(cut), "salvaged-\(cut).webp")
            let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
            let shown = try #require(salvaged.probeResult.frames)
            #expect(range.contains(shown))
            let loss = try #require(salvaged.ending.losses.first)
            let figures = loss.what.split(separator: " ").compactMap { Int($0) }
            #expect(figures.count == 2 && figures[1] - figures[0] == shown, "\(loss)")
            #expect(figures.last.map { (90...110).contains($0) } == true && loss.code == .endsBefore, "\(loss)")
            #expect(try Self.areFirst(shown, of: source, in: try salvaged.path(.main)).last == "True")
        }
    }

    @Test func `a WebP that ends within what follows its frames lost none`() throws {
        let source = try noise(12, "noise.webp")
        var data = try Data(contentsOf: source)
        // Forty bytes of XMP, of which ten are there.
        data += Data("XMP ".utf8) + Data([40, 0, 0, 0]) + Data(repeating: 32, count: 10)
        let size = UInt32(data.count + 30 - 8)
        for byte in 0..<4 { data[4 + byte] = UInt8(truncatingIfNeeded: size >> (8 * byte)) }
        let rendered = try Rendered.of(try written(data, "xmp.webp"), in: directory.url, profile: Self.profile())
        #expect(rendered.ending.losses.isEmpty)
        #expect(rendered.ending.evidence == [Finding(.endMarkMissing)])
        #expect(try Self.areFirst(12, of: source, in: try rendered.path(.main)) == ["12 2", "True"])
    }
}
