import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// Parts of animations: which frames, for how long, and nothing else.
@Suite struct AnimationTrimTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    private static func profile(_ type: MediaType = .gif, side: Int? = nil) -> Profile {
        Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 64), image: ImagePolicy(types: [.png]),
            animation: AnimationPolicy(type: type, longestSide: side, cap: 50_000_000))
    }

    private static func facts(_ delays: [Int], missing: Int = 0) -> AnimationFacts {
        AnimationFacts(
            type: .gif, sniffedType: "image/gif", size: PixelSize(width: 8, height: 8), delays: delays, plays: 0,
            bytes: 1000, missing: missing, missingCode: .endsBefore)
    }

    @Test func `a part has just the frames that are shown within it, each as long as it is`() throws {
        var generator = SeededGenerator()
        for _ in 0..<2000 {
            let delays = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                Int.random(in: 11...60, using: &generator)
            }
            let total = delays.reduce(0, +)
            let start = Int.random(in: 0..<total, using: &generator)
            let length = Bool.random(using: &generator) ? Int.random(in: 1...total + 20, using: &generator) : nil
            let trim = TrimRequest(start: Double(start) / 1000, duration: length.map { Double($0) / 1000 })
            let part = try AnimationPart(of: Self.facts(delays), for: RenditionRequest(trim: trim))
            // What is shown in each millisecond.
            let shown = delays.enumerated().flatMap { Array(repeating: $0.offset, count: $0.element) }
            let wanted = shown[start..<min(total, start + (length ?? total))]
            let found = zip(part.frames, part.facts.delays).flatMap { Array(repeating: $0, count: $1) }
            #expect(found == Array(wanted))
            #expect(part.isTrimmed == (wanted.count < total))
            #expect(part.report?.start ?? 0 == Double(start) / 1000)
            #expect(part.report?.duration ?? Double(total) / 1000 == Double(wanted.count) / 1000)
        }
    }

    @Test func `a part around a moment or a frame holds it, and one outside is refused`() throws {
        let facts = Self.facts(Array(repeating: 100, count: 10))
        func part(_ request: RenditionRequest) throws -> AnimationPart { try AnimationPart(of: facts, for: request) }
        let around = TrimRequest(start: nil, duration: 0.4)
        #expect(try part(RenditionRequest(trim: around, thumbnailTime: 0.5)).frames == 3..<7)
        #expect(try part(RenditionRequest(trim: around, thumbnailTime: 0)).frames == 0..<4)
        #expect(try part(RenditionRequest(trim: around, thumbnailTime: 99)).frames == 6..<10)
        #expect(try part(RenditionRequest(trim: around, thumbnailFrame: 5)).frames == 3..<7)
        for trim in [TrimRequest(start: 1), TrimRequest(start: 1e300), TrimRequest(start: 0, duration: 0)] {
            #expect(throws: AttachmentError.self) { try part(RenditionRequest(trim: trim)) }
        }
    }

    @Test func `frames that the file lacks are missing only of a part that reaches them`() throws {
        let facts = Self.facts([100, 100, 100], missing: 5)
        for (start, duration, missing) in [(0, nil, 5), (0.1, 0.1, 0), (0.1, 0.2, 0), (0.1, 0.3, 5)]
            as [(Double, Double?, Int)]
        {
            let trim = TrimRequest(start: start, duration: duration)
            #expect(try AnimationPart(of: facts, for: RenditionRequest(trim: trim)).facts.missing == missing)
        }
    }

    /// Every first and last frame that a part can have; some of them in a sample, which differ by `offset`.
    private static func parts(of frames: Int, from offset: Int) -> [Range<Int>] {
        Sweep.of((0..<frames).flatMap { first in (first + 1...frames).map { first..<$0 } }, every: 4, from: offset)
    }

    /// - Parameter likeness: In dB, of the worst frame; 99 where every pixel is the same.
    @Test(arguments: [
        ("gif/delays.gif", MediaType.gif, nil, 99.0), ("gif/disposal-0.gif", .gif, nil, 99),
        ("gif/disposal-1.gif", .gif, nil, 99), ("gif/disposal-2.gif", .gif, nil, 99),
        ("gif/disposal-3.gif", .gif, nil, 99), ("gif/local-palettes.gif", .gif, nil, 99),
        ("gif/no-control.gif", .gif, nil, 99), ("gif/play-once.gif", .gif, nil, 99), ("gif/loop-3.gif", .gif, 40, 30),
        ("gif/disposal-3.gif", .gif, 40, 30),
        ("png/animated-disposal.png", .gif, nil, 30),
        ("png/animated-hidden.png", .gif, nil, 30), ("webp/animated-alpha.webp", .gif, nil, 30),
        ("webp/animated-alpha.webp", .webp, 40, 30),
    ])
    func `every part has the source's frames, from its first to its last, and plays as often`(
        path: String, type: MediaType, side: Int?, likeness: Double
    ) throws {
        try sweep(sample(path), to: type, side: side, likeness: likeness)
    }

    /// Frames beyond the screen, interlaced, with holes and every disposal, at random.
    @Test(arguments: 0..<4)
    func `every part of a GIF keeps every pixel, whatever it is drawn over`(seed: Int) throws {
        let source = directory.url.appending(path: "random-\(seed).gif")
        try Tool.run("/usr/bin/python3", ["-c", AnimationFramesTests.randomGIF, source.path, "\(seed)"])
        let delays = try Rendered.of(source, in: directory.url, profile: Self.profile()).delays()
        var arguments: [String] = []
        let parts = Self.parts(of: delays.count, from: seed)
        for frames in parts {
            let trim = TrimRequest(
                start: Double(delays[..<frames.lowerBound].reduce(0, +)) / 1000,
                duration: Double(delays[frames].reduce(0, +)) / 1000)
            let made = try Rendered.of(
                source, in: directory.url, profile: Self.profile(), request: RenditionRequest(trim: trim))
            arguments += [try made.path(.main), "\(frames.lowerBound)", "\(frames.upperBound)"]
        }
        let script =
            AnimationFramesTests.decoder + """
                width, height, source = decode(sys.argv[1])
                for n in range(2, len(sys.argv), 3):
                    first, end = [int(value) for value in sys.argv[n + 1:n + 3]]
                    print(decode(sys.argv[n]) == (width, height, source[first:end]))
                """
        let answers = try Tool.text("/usr/bin/python3", ["-c", script, source.path] + arguments).split(separator: "\n")
        for (answer, frames) in zip(answers, parts) { #expect(answer == "True", "\(frames)") }
        #expect(delays.count == 9 && answers.count == parts.count)
    }

    private borrowing func sweep(_ source: URL, to type: MediaType, side: Int?, likeness: Double) throws {
        let whole = try Rendered.of(source, in: directory.url, profile: Self.profile(type, side: side))
        let delays = try AnimationJudge.compare(try whole.path(.main), with: source).delays
        #expect(whole.ending.trim == nil)
        var arguments: [String] = []
        let parts = Self.parts(of: delays.count, from: source.lastPathComponent.utf8.count)
        for frames in parts {
            let start = delays[..<frames.lowerBound].reduce(0, +)
            let length = delays[frames].reduce(0, +)
            // Within the first and the last frame, but in parts of which less than browsers take would be left.
            let cut = frames.count > 1 ? 10 : 0
            let trim = TrimRequest(start: Double(start + cut) / 1000, duration: Double(length - 2 * cut) / 1000)
            let made = try Rendered.of(
                source, in: directory.url, profile: Self.profile(type, side: side),
                request: RenditionRequest(trim: trim))
            #expect(made.ending.losses.isEmpty)
            #expect((made.ending.trim == nil) == (length - 2 * cut == delays.reduce(0, +)))
            #expect(made.report(.main).flatMap(\.duration) == Double(length - 2 * cut) / 1000)
            arguments += [try made.path(.main), "\(frames.lowerBound)", "\(frames.upperBound)", "\(cut)"]
        }
        let answers = try AnimationJudge.run(Self.comparison, [source.path, try whole.path(.main)] + arguments)
        #expect(answers.count == parts.count)
        for (answer, frames) in zip(answers, parts) {
            let values = answer.split(separator: " ")
            #expect(values.first == "True", "\(frames): count, delays or loops: \(answer)")
            #expect(try #require(Double(values[1])) >= likeness, "\(frames): \(answer)")
            #expect(values[2] == "0", "\(frames): transparency: \(answer)")
        }
    }

    /// Whether the frames, their delays and loops are those of the part; how like they are, at the worst; pixels whose
    /// transparency is another.
    private static let comparison = """
        source = list(frames(sys.argv[1]))
        plays = Image.open(sys.argv[2]).info.get("loop")
        for n in range(3, len(sys.argv), 4):
            first, end, cut = [int(value) for value in sys.argv[n + 1:n + 4]]
            found = list(frames(sys.argv[n]))
            delays = [d for _, d in source[first:end]]
            delays[0] -= cut
            delays[-1] -= cut
            same = [d for _, d in found] == delays and Image.open(sys.argv[n]).info.get("loop") == plays
            worst, clear = 99, 0
            for (frame, _), (shown, _) in zip(source[first:end], found):
                wanted = (numpy.asarray(frame) if frame.size == shown.size else scaled(frame, shown.size)).astype(int)
                shown = numpy.asarray(shown).astype(int)
                clear += int(((wanted[..., 3] < 112) & (shown[..., 3] >= 128)
                    | (wanted[..., 3] > 144) & (shown[..., 3] < 128)).sum())
                both = (wanted[..., 3] >= 250) & (shown[..., 3] >= 250)
                error = ((wanted - shown)[both][:, :3] ** 2).mean() if both.any() else 0
                if error > 0: worst = min(worst, 10 * numpy.log10(65025 / error))
            print(same, worst, clear)
        """

    @Test func `a part of a sequence has its frames, and MP4 plays them as long`() throws {
        let source = directory.url.appending(path: "sequence.avif")
        try PictureJudge.run(
            """
            names = []
            for n in range(5):
                names.append(f'{args[0]}-{n}.png')
                Image.new('RGB', (64, 48), (40 * n, 255 - 50 * n, 30)).save(names[-1])
            subprocess.run(['avifenc', '--jobs', '1', '--speed', '9', '--min', '2', '--max', '6', '--fps', '10', *names,
                args[0]], check=True, stdout=subprocess.DEVNULL)
            """, [source.path])
        for (offset, type) in [MediaType.gif, .mp4].enumerated() {
            for frames in Self.parts(of: 5, from: offset) {
                let trim = TrimRequest(
                    start: Double(frames.lowerBound) / 10, duration: Double(frames.count) / 10)
                let made = try Rendered.of(
                    source, in: directory.url, profile: Self.profile(type), request: RenditionRequest(trim: trim))
                let answer = try PictureJudge.run(
                    """
                    data = subprocess.run(['ffmpeg', '-v', 'error', '-i', args[0], '-pix_fmt', 'rgb24', '-fps_mode',
                        'passthrough', '-f', 'rawvideo', '-'], check=True, stdout=subprocess.PIPE).stdout
                    for frame in np.frombuffer(data, np.uint8).reshape(-1, 48, 64, 3):
                        say(round(frame[..., 0].mean() / 40))
                    """, [try made.path(.main)])
                #expect(answer == frames.map { "\($0)" }, "\(frames) as \(type)")
                #expect(made.report(.main)?.duration == Double(frames.count) / 10)
            }
        }
    }

    private static func canary(_ index: UInt8) -> [UInt8] {
        let red: UInt8 = 16 + index * 24
        let green: UInt8 = 251 - index * 21
        let blue: UInt8 = 7 + index * 31
        return [red, green, blue]
    }

    /// Eight frames, each of one colour that no other has, in a palette of its own or in the file's.
    private borrowing func canaries(hasGlobalPalette: Bool) throws -> (file: URL, colours: [[UInt8]]) {
        let file = directory.url.appending(path: "canaries-\(hasGlobalPalette).gif")
        let colours = (0..<8).map(Self.canary)
        var bytes = [UInt8]("GIF89a".utf8)
        bytes += [16, 0, 16, 0, hasGlobalPalette ? 0xF2 : 0x70, 0, 0] as [UInt8]
        if hasGlobalPalette { for colour in colours { bytes += colour } }
        for (index, colour) in colours.enumerated() {
            bytes += [0x21, 0xFE, 9] as [UInt8]
            bytes += Array("SECRET-\(index)x".utf8)
            bytes += [0, 0x21, 0xF9, 4, 4, 10, 0, 0, 0] as [UInt8]
            let place = hasGlobalPalette ? index : 0
            bytes += [0x2C, 0, 0, 0, 0, 16, 0, 16, 0, hasGlobalPalette ? 0 : 0x81] as [UInt8]
            if !hasGlobalPalette { for _ in 0..<4 { bytes += colour } }
            bytes += Self.plainCodes(Array(repeating: UInt8(place), count: 256), codeSize: hasGlobalPalette ? 3 : 2)
        }
        bytes.append(0x3B)
        try Data(bytes).write(to: file)
        return (file, colours)
    }

    /// Codes of `codeSize` + 1 bits, which begin anew before they would grow.
    private static func plainCodes(_ pixels: [UInt8], codeSize: Int) -> [UInt8] {
        let clear = 1 << codeSize
        var codes: [Int] = []
        for (index, pixel) in pixels.enumerated() {
            if index % (clear - 2) == 0 { codes.append(clear) }
            codes.append(Int(pixel))
        }
        codes.append(clear + 1)
        var data: [UInt8] = []
        var held = 0
        var bits = 0
        for code in codes {
            held |= code << bits
            bits += codeSize + 1
            while bits >= 8 {
                data.append(UInt8(held & 255))
                held >>= 8
                bits -= 8
            }
        }
        if bits > 0 { data.append(UInt8(held)) }
        var blocks = [UInt8(codeSize)]
        for start in stride(from: 0, to: data.count, by: 255) {
            let end = min(start + 255, data.count)
            blocks.append(UInt8(end - start))
            blocks += data[start..<end]
        }
        blocks.append(0)
        return blocks
    }

    @Test(arguments: [false, true], [nil, 11])
    func `nothing of frames outside the part is in the file`(hasGlobalPalette: Bool, side: Int?) throws {
        let (source, colours) = try canaries(hasGlobalPalette: hasGlobalPalette)
        for frames in Self.parts(of: 8, from: hasGlobalPalette ? 1 : 0) where frames.count < 8 {
            let trim = TrimRequest(start: Double(frames.lowerBound) / 10, duration: Double(frames.count) / 10)
            let made = try Rendered.of(
                source, in: directory.url, profile: Self.profile(side: side), request: RenditionRequest(trim: trim))
            let bytes = try Data(contentsOf: URL(filePath: try made.path(.main)))
            for (index, colour) in colours.enumerated() {
                #expect((bytes.range(of: Data(colour)) != nil) == frames.contains(index), "\(frames): frame \(index)")
            }
            #expect(bytes.range(of: Data("SECRET".utf8)) == nil)
        }
    }

    @Test func `thumbnail and placeholder show the part, and the frame that was asked for in it`() throws {
        let source = directory.url.appending(path: "colours.gif")
        try Tool.run(
            "convert", ["-delay", "10", "-size", "64x64", "xc:red", "xc:#00ff00", "xc:blue", "xc:white", source.path])
        let trim = TrimRequest(start: 0.1, duration: 0.2)
        for (frame, colour, time) in [(nil, "010", nil), (2, "001", 1.0), (0, "010", 0), (3, "001", 1)]
            as [(Int?, String, Double?)]
        {
            let request = RenditionRequest(trim: trim, thumbnailFrame: frame)
            let made = try Rendered.of(source, in: directory.url, request: request)
            let found = try Tool.text(
                "convert",
                [made.path(.thumbnail), "-resize", "1x1!", "-format", "%[fx:r>0.5]%[fx:g>0.5]%[fx:b>0.5]", "info:"])
            #expect(found == colour)
            #expect(made.ending.placeholder?.color?.hasPrefix(colour == "010" ? "#00f" : "#000") == true)
            #expect(made.ending.thumbnailTime == time)
            let isTaken = frame == nil || frame == 2
            #expect(made.ending.changes.map(\.code) == (isTaken ? [] : [.otherFrame]))
            #expect(
                made.ending.trim == TrimReport(start: 0.1, duration: 0.2, sourceDuration: 0.4, method: .encode))
            #expect(try #require(made.report(.main)).note.contains("frames 2 to 3 of 4"))
        }
        // A still of an animation is the part's first frame.
        let still = try Rendered.of(
            source, in: directory.url, profile: .avatar, request: RenditionRequest(trim: trim))
        let found = try Tool.text("convert", [still.path(.main), "-format", "%[fx:mean.g]", "info:"])
        #expect(found == "1" && still.ending.omissions == [Finding(.oneTaken, .frames, missing: 2, of: 4)])
    }

    @Test func `what is forecast of a part is what is made`() throws {
        let source = sample("gif/film.gif")
        let request = RenditionRequest(trim: TrimRequest(start: 0.45, duration: 0.5))
        let made = try Rendered.of(source, in: directory.url, request: request)
        let forecast = try withDescriptor(source) { descriptor in
            try Codec.everything.identify(
                descriptor, order: WorkOrder(profile: .notification, request: request, wantsForecasts: true)
            ).probeResult.forecasts.first { $0.role == .main }
        }
        #expect(forecast?.duration == 0.5 && made.report(.main)?.duration == 0.5)
        #expect(forecast?.method == made.ending.trim?.method)
        #expect(forecast?.note.contains("frames 5 to 10 of 20") == true)
    }
}

extension Rendered {
    /// Milliseconds that each frame of the main rendition is shown, as gifsicle says.
    fileprivate func delays() throws -> [Int] {
        try Tool.text("gifsicle", ["--info", path(.main)]).split(separator: "\n").compactMap { line in
            guard let range = line.range(of: "delay ") else { return nil }
            return Double(line[range.upperBound...].dropLast()).map { Int(($0 * 1000).rounded()) }
        }
    }
}
