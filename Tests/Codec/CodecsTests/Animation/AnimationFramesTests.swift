import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import SatchelCore
@testable import StillCodecs

/// What is shown, frame by frame, against another decoder's composition.
@Suite struct AnimationFramesTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    private static func profile(_ type: MediaType = .gif, side: Int?, aim: Int64? = nil, cap: Int64 = 50_000_000)
        -> Profile
    {
        Profile(
            name: "test", thumbnail: ThumbnailPolicy(side: 64),
            animation: AnimationPolicy(type: type, longestSide: side, aim: aim, cap: cap))
    }

    /// Drawn by Pillow; `code` saves to `path`.
    private borrowing func drawn(_ name: String, _ code: String) throws -> URL {
        let file = directory.url.appending(path: name)
        try Tool.run(
            "/usr/bin/python3",
            [
                "-c", "import sys, math, random\nfrom PIL import Image, ImageDraw\npath = sys.argv[1]\n" + code,
                file.path,
            ])
        return file
    }

    @Test(arguments: [
        ("gif/film.gif", 100, 34.0), ("gif/local-palettes.gif", 24, 36), ("gif/disposal-0.gif", 48, 36),
        ("gif/disposal-1.gif", 48, 36), ("gif/disposal-3.gif", 48, 36),
        ("gif/delays.gif", 31, 36), ("gif/no-control.gif", 17, 36),
        ("png/animated-disposal.png", 20, 34), ("png/animated-hidden.png", 20, 34), ("webp/animated.webp", 100, 33),
        ("webp/animated-alpha.webp", 24, 33),
    ])
    func `scaled frames are those that another decoder composes and scales`(
        path: String, side: Int, likeness: Double
    ) throws {
        let rendered = try Rendered.of(sample(path), in: directory.url, profile: Self.profile(side: side))
        let judged = try AnimationJudge.compare(try rendered.path(.main), with: sample(path))
        #expect(max(judged.width, judged.height) == side)
        #expect(judged.frames == judged.expectedFrames)
        #expect(judged.delays == judged.expectedDelays)
        #expect(judged.likeness >= likeness)
        #expect(judged.wrongAlpha == 0)
    }

    @Test(arguments: [
        "delay-0", "delay-1", "delays", "disposal-0", "disposal-1", "disposal-2", "disposal-3", "film",
        "local-palettes", "loop-3", "no-control", "play-once", "private",
    ])
    func `a GIF that keeps its size keeps every pixel and grows by a twentieth at most`(name: String) throws {
        let source = sample("gif/\(name).gif")
        try expectSame(source)
        let optimised = directory.url.appending(path: "optimised.gif")
        try Tool.run("gifsicle", ["-O3", source.path, "-o", optimised.path])
        try expectSame(optimised)
    }

    private borrowing func expectSame(_ source: URL) throws {
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(side: nil))
        let judged = try AnimationJudge.compare(try rendered.path(.main), with: source)
        #expect(judged.frames == judged.expectedFrames)
        #expect(judged.delays == judged.expectedDelays)
        #expect(judged.likeness == 99)
        #expect(judged.wrongAlpha == 0)
        let bytes = try Data(contentsOf: source).count
        let report = try #require(rendered.report(.main))
        #expect(Double(report.bytes) <= Double(bytes) * 1.05)
        #expect(report.note.contains("palettes kept"))
    }

    /// Frames beyond the screen, interlaced, with holes and every disposal, at random.
    @Test(arguments: 0..<Sweep.count(12, else: 5))
    func `every disposal, place and order of rows gives what another decoder shows`(seed: Int) throws {
        let source = directory.url.appending(path: "random-\(seed).gif")
        try Tool.run("/usr/bin/python3", ["-c", Self.randomGIF, source.path, "\(seed)"])
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(side: nil))
        try expectSamePixels(try rendered.path(.main), source)
        // A part of it, without scaling.
        let crop = UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        let cut = try Rendered.of(
            source, in: directory.url, profile: Self.profile(side: nil), request: RenditionRequest(crop: .rect(crop)))
        try expectSamePixels(try cut.path(.main), source, crop: [10, 8, 20, 15])
        // Scaled: the same transparency, and nearly the same colours.
        let small = try Rendered.of(source, in: directory.url, profile: Self.profile(side: 39))
        #expect(try Self.frameCount(try small.path(.main)) == 9)
    }

    /// A caret, a cursor, a lamp: too few pixels to be worth much in an average.
    @Test(arguments: [(1, 14), (3, 3), (3, 5), (4, 4)])
    func `a few pixels of a colour that comes late get that colour`(width: Int, height: Int) throws {
        let source = directory.url.appending(path: "caret.gif")
        try PictureJudge.run(
            """
            w, h = int(args[1]), int(args[2])
            page = Image.effect_noise((160, 120), 20).convert('L').point(lambda v: min(255, v + 60))
            page = Image.merge('RGB', (page, page, page.point(lambda v: min(255, v + 40))))
            frames = []
            for index in range(4):
                frame = page.copy()
                if index % 2: frame.paste((230, 20, 30), (80, 50, 80 + w, 50 + h))
                frames.append(frame.quantize(256))
            frames[0].save(args[0], save_all=True, append_images=frames[1:], duration=500, loop=0)
            """, [source.path, "\(width)", "\(height)"])
        // Half as large, so that frames are drawn anew.
        var request = RenditionRequest()
        request.crop = .rect(UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5))
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(side: 79), request: request)
        let answer = try PictureJudge.run(
            """
            image = Image.open(args[0])
            image.seek(1)
            frame = np.asarray(image.convert('RGB')).astype(int)
            redness = frame[..., 0] - np.maximum(frame[..., 1], frame[..., 2])
            say(image.n_frames, redness.max())
            """, [try rendered.path(.main)])
        let values = try #require(answer.first).split(separator: " ").compactMap { Int($0) }
        #expect(values.first == 4)
        #expect(try #require(values.last) > 100)
    }

    /// What people send that isn't filmed.
    private static let drawings = [
        "lines": """
        def frame(n):
            image = Image.new("RGB", (640, 480), "white")
            draw = ImageDraw.Draw(image)
            for k in range(12):
                at = [t / 20 * math.tau for t in range(21)]
                draw.line([(320 + (40 + k * 17) * math.cos(a + n * .05 * (k % 3)),
                            240 + (27 + k * 15) * math.sin(a * (1 + k % 2) + n * .07)) for a in at],
                          fill=(20, 20, 30), width=3)
            return image
        """,
        "page": """
        random.seed(5)
        lines = ["".join(random.choice("etaoin shrdlu ") for _ in range(95)) for _ in range(60)]
        def frame(n):
            image = Image.new("RGB", (640, 480), "white")
            draw = ImageDraw.Draw(image)
            for row, line in enumerate(lines): draw.text((20, 40 + row * 14 - n * 4), line, fill=(30, 30, 30))
            draw.rectangle((0, 0, 640, 28), fill=(52, 58, 70))
            return image
        """,
    ]

    @Test(arguments: drawings.keys.sorted())
    func `a drawing has no more bytes than an optimiser of files makes of it without loss`(name: String) throws {
        let draw = try #require(Self.drawings[name])
        let source = try drawn(
            "\(name).gif",
            draw + """

                frames = [frame(n).quantize(8, dither=0) for n in range(24)]
                frames[0].save(path, save_all=True, append_images=frames[1:], duration=60, loop=0)
                """)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(side: 320))
        let output = try rendered.path(.main)
        let optimised = directory.url.appending(path: "optimised.gif")
        try Tool.run("gifsicle", ["-O3", output, "-o", optimised.path])
        let bytes = try Data(contentsOf: URL(filePath: output)).count
        #expect(bytes <= (try Data(contentsOf: optimised).count))
        let judged = try AnimationJudge.compare(output, with: source)
        #expect(judged.frames == judged.expectedFrames)
        // Of two colours there is little between.
        #expect(judged.likeness >= (name == "lines" ? 26 : 34))
    }

    private borrowing func expectSamePixels(_ output: String, _ source: URL, crop: [Int] = []) throws {
        let judged = try Tool.text(
            "/usr/bin/python3", ["-c", Self.comparison, source.path, output] + crop.map(String.init))
        #expect(judged == "9 9 True")
    }

    private static func frameCount(_ file: String) throws -> Int {
        try Tool.text("gifsicle", ["--info", file]).split(separator: "\n").filter { $0.contains("+ image") }.count
    }

    /// A decoder of its own, as browsers show GIFs: others enlarge the screen for frames beyond it, or have their own
    /// views of a first frame that is disposed of.
    static let decoder = """
        import sys
        def decode(path):
            data = open(path, "rb").read()
            number = lambda at: data[at] | data[at + 1] << 8
            width, height, at = number(6), number(8), 13
            def table(flags, at):
                if not flags & 128: return None, at
                size = 2 << (flags & 7)
                return [tuple(data[at + 3 * i:at + 3 * i + 3]) + (255,) for i in range(size)], at + 3 * size
            common, at = table(data[10], at)
            def blocks(at):
                joined = b""
                while data[at]: joined += data[at + 1:at + 1 + data[at]]; at += data[at] + 1
                return joined, at + 1
            clear = (0, 0, 0, 0)
            screen = [clear] * (width * height)
            control, frames = (0, None), []
            while data[at] != 0x3B:
                if data[at] == 0x21:
                    label = data[at + 1]
                    body, at = blocks(at + 2)
                    if label == 0xF9: control = (body[0] >> 2 & 7, body[3] if body[0] & 1 else None)
                    continue
                left, top, w, h, flags = number(at + 1), number(at + 3), number(at + 5), number(at + 7), data[at + 9]
                local, at = table(flags, at + 10)
                size = data[at]
                packed, at = blocks(at + 1)
                bits = int.from_bytes(packed, "little")
                strings, wide, last, pixels = [], size + 1, None, bytearray()
                while len(pixels) < w * h:
                    code, bits = bits & (1 << wide) - 1, bits >> wide
                    if code == 1 << size:
                        strings, wide, last = [bytes([i]) for i in range(1 << size)] + [b"", b""], size + 1, None
                        continue
                    if code == (1 << size) + 1: break
                    text = strings[code] if code < len(strings) else last + last[:1]
                    pixels += text
                    if last is not None and len(strings) < 4096: strings.append(last + text[:1])
                    last = text
                    if len(strings) == 1 << wide and wide < 12: wide += 1
                before = list(screen)
                rows = list(range(h))
                if flags & 64: rows = rows[::8] + rows[4::8] + rows[2::4] + rows[1::2]
                colours = local or common
                for place, row in enumerate(rows):
                    for column in range(w):
                        x, y, index = left + column, top + row, pixels[place * w + column]
                        if x < width and y < height and index != control[1]: screen[y * width + x] = colours[index]
                frames.append(list(screen))
                if control[0] == 3: screen = before
                if control[0] == 2:
                    for y in range(top, min(top + h, height)):
                        for x in range(left, min(left + w, width)): screen[y * width + x] = clear
                control = (0, None)
            return width, height, frames

        """

    private static let comparison =
        decoder + """
            width, height, expected = decode(sys.argv[1])
            width, height, found = decode(sys.argv[2])
            if len(sys.argv) > 3:
                left, top, w, h = map(int, sys.argv[3:])
                expected = [[frame[(top + y) * 40 + left + x] for y in range(h) for x in range(w)] for frame in expected]
            print(len(expected), len(found), found == expected)
            """

    /// Writes blocks by hand: Pillow would optimise them away.
    static let randomGIF = """
        import sys, random
        random.seed(int(sys.argv[2]))
        def codes(pixels):
            # Nothing but literals: a clear code before each pair keeps them 4 bits wide.
            out, bits, count = bytearray(), 0, 0
            def put(code):
                nonlocal bits, count
                bits |= code << count; count += 4
                while count >= 8: out.append(bits & 255); bits >>= 8; count -= 8
            for index, pixel in enumerate(pixels):
                if index % 4 == 0: put(8)
                put(pixel)
            put(9)
            if count: out.append(bits & 255)
            blocks = bytearray([3])
            for start in range(0, len(out), 255):
                part = out[start:start + 255]
                blocks += bytes([len(part)]) + part
            return bytes(blocks) + b"\\0"
        def palette(): return bytes(random.randrange(256) for _ in range(24))
        def number(value): return value.to_bytes(2, "little")
        data = b"GIF89a" + number(40) + number(30) + b"\\xf2\\0\\0" + palette()
        for frame in range(9):
            width, height = (40, 30) if frame == 0 else (random.randrange(1, 30), random.randrange(1, 30))
            left, top = (0, 0) if frame == 0 else (random.randrange(38), random.randrange(28))
            interlaced, local, clear = random.random() < .5, random.random() < .4, random.random() < .6
            disposal = random.choice([0, 1, 2, 3])
            data += b"\\x21\\xf9\\x04" + bytes([disposal << 2 | clear]) + number(7) + bytes([5 if clear else 0, 0])
            data += b"\\x2c" + number(left) + number(top) + number(width) + number(height)
            data += bytes([interlaced << 6 | (0x82 if local else 0)]) + (palette() if local else b"")
            noise = random.random() < .5
            data += codes([random.randrange(8) if noise else (i // 3) % 8 for i in range(width * height)])
        open(sys.argv[1], "wb").write(data + b";")
        """

    @Test func `no halo: what lies beside transparency keeps its colour`() throws {
        // White and black lie hidden where it is transparent.
        let source = try drawn(
            "disc.png",
            """
            frames = []
            for n in range(6):
                image = Image.new("RGBA", (90, 90), (255, 255, 255, 0) if n % 2 else (0, 0, 0, 0))
                ImageDraw.Draw(image).ellipse([10 + n, 10, 70 + n, 70], fill=(200, 40, 30, 255))
                frames.append(image)
            frames[0].save(path, save_all=True, append_images=frames[1:], duration=70, loop=0)
            """)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(side: 31))
        let judged = try AnimationJudge.compare(try rendered.path(.main), with: source)
        #expect(judged.frames == 6 && judged.wrongAlpha == 0)
        // Lanczos swings by some steps within a surface, and no more.
        #expect(judged.least[0] >= 190 && judged.most[0] <= 210)
        #expect(judged.most[1] <= 50 && judged.most[2] <= 40)
    }

    @Test func `an APNG whose deep frames are laid over each other is refused by name, and others are shown`() throws {
        let names = try PictureJudge.run(
            """
            import struct, zlib
            def chunk(name, body): return struct.pack('>I', len(body)) + name + body + struct.pack('>I', zlib.crc32(name + body))
            for kind, bands in ((0, 1), (4, 2), (2, 3), (6, 4)):
                for bits in (8, 16):
                    for blend in (0, 1):
                        out = b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 32, 24, bits, kind, 0, 0, 0))
                        out += chunk(b'acTL', struct.pack('>II', 3, 0)); number = 0
                        for n in range(3):
                            pixels = np.full((24, 32, bands), (60 * n + 50) * (257 if bits == 16 else 1), '>u2' if bits == 16 else 'u1')
                            data = zlib.compress(b''.join(b'\\0' + row.tobytes() for row in pixels))
                            out += chunk(b'fcTL', struct.pack('>IIIIIHHBB', number, 32, 24, 0, 0, 1, 10, 0, blend)); number += 1
                            if n: data = struct.pack('>I', number) + data; number += 1
                            out += chunk(b'fdAT' if n else b'IDAT', data)
                        name = f'{kind}-{bits}-{blend}.png'; open(f'{args[0]}/{name}', 'wb').write(out + chunk(b'IEND', b'')); say(name)
            """, [directory.url.path])
        #expect(names.count == 16)
        for name in names {
            let file = directory.url.appending(path: name)
            let refusal = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.webp, side: nil))
            let isRefused = ["4-16-1.png", "6-16-1.png"].contains(name)
            #expect(refusal?.code == (isRefused ? .unsupportedFeature : nil), "\(name)")
        }
    }

    @Test(arguments: [60, 75, 50, 25], [MediaType.gif, .webp, .mp4])
    func `an animation of many frames a second lasts as long as its source, and the record says how long`(
        rate: Int, type: MediaType
    ) throws {
        // An APNG says seconds as a fraction, so that nothing is rounded before.
        let source = try drawn(
            "fast-\(rate).png",
            """
            import struct, zlib
            frames = [Image.new("RGB", (32, 24), (n * 4, 200 - n * 3, 90)) for n in range(48)]
            frames[0].save(path, save_all=True, append_images=frames[1:], duration=20)
            data, at = bytearray(open(path, "rb").read()), 8
            while at < len(data):
                size, name = struct.unpack(">I4s", data[at:at + 8])
                if name == b"fcTL":
                    data[at + 28:at + 32] = struct.pack(">HH", 1, RATE)
                    data[at + 8 + size:at + 12 + size] = struct.pack(">I", zlib.crc32(data[at + 4:at + 8 + size]))
                at += size + 12
            open(path, "wb").write(data)
            """.replacing("RATE", with: "\(rate)"))
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(type, side: nil))
        let output = try rendered.path(.main)
        let judged =
            type == .webp
            ? try PictureJudge.run(
                """
                image = Image.open(args[0]); total = 0
                for n in range(image.n_frames): image.seek(n); image.load(); total += image.info['duration']
                say(total / 1000)
                """, [output]
            ).first
            : try Tool.text(
                "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", output])
        let seconds = try #require(judged.flatMap { Double($0) })
        let wanted = 48.0 / Double(rate)
        #expect(abs(seconds - wanted) < 0.016, "\(seconds), not \(wanted)")
        let told = try #require(rendered.report(.main)?.duration)
        #expect(abs(told - seconds) < 0.002, "\(told), not \(seconds)")
        let isMerged = rendered.ending.omissions.contains { $0.code == .merged }
        #expect(isMerged == (type == .gif && rate > 50), "\(rendered.ending.omissions)")
    }

    @Test func `animated WebP keeps all alpha, every delay and the number of plays`() throws {
        let source = try drawn(
            "fading.png",
            """
            frames = []
            for n in range(5):
                image = Image.new("RGBA", (64, 48), (20, 120, 220, 40 + 50 * n))
                ImageDraw.Draw(image).rectangle([n * 8, 4, n * 8 + 16, 30], fill=(250, 200, 10, 255 - 40 * n))
                frames.append(image)
            frames[0].save(path, save_all=True, append_images=frames[1:], duration=[70, 130, 45, 200, 330], loop=3,
                disposal=1, blend=0)
            """)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(.webp, side: 40))
        let output = try rendered.path(.main)
        let judged = try AnimationJudge.compare(output, with: source)
        #expect(judged.frames == 5)
        #expect(judged.delays == [70, 130, 45, 200, 330])
        #expect(try Tool.text("webpmux", ["-info", output]).contains("Loop Count : 3"))
        let alpha = try Tool.text(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sys
                from PIL import Image
                image = Image.open(sys.argv[1])
                print([image.seek(n) or image.convert("RGBA").getpixel((38, 28))[3] for n in range(5)])
                """, output,
            ])
        #expect(alpha == "[40, 90, 140, 190, 240]")
    }

    @Test(arguments: ["gif/film.gif", "gif/delays.gif", "png/animated.png", "webp/animated.webp"])
    func `an animation becomes H.264 whose pictures are shown as long`(path: String) throws {
        let source = sample(path)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(.mp4, side: 75))
        let output = try rendered.path(.main)
        #expect(rendered.probeResult.kind == .animation)
        let report = try #require(rendered.report(.main))
        #expect(report.type == .mp4)
        let size = try #require(report.size)
        #expect(size.width % 2 == 0 && size.height % 2 == 0)
        let times = try Tool.text(
            "ffprobe",
            ["-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of", "csv=p=0", output]
        ).split(whereSeparator: { $0 == "\n" || $0 == "," }).compactMap { Double($0) }.sorted()
        let expected = try Self.delays(of: source)
        #expect(times.count == expected.count)
        var time = 0.0
        for (found, delay) in zip(times, expected) {
            #expect(abs(found - time) < 0.0006)
            time += Double(delay) / 1000
        }
        let stream = try Tool.text(
            "ffprobe",
            [
                "-v", "error", "-show_entries", "stream=codec_name,width,height,pix_fmt,duration", "-of", "csv=p=0",
                output,
            ])
        // The last picture is shown as long as it was, too.
        #expect(stream == "h264,\(size.width),\(size.height),yuv420p,\(String(format: "%.6f", time))")
        let data = try Data(contentsOf: URL(filePath: output))
        let index = try #require(data.range(of: Data("moov".utf8))).lowerBound
        #expect(index < (try #require(data.range(of: Data("mdat".utf8))).lowerBound))
        // Decoded whole, it has as many pictures.
        let decoded = try Tool.run(
            "ffmpeg",
            ["-v", "error", "-i", output, "-fps_mode", "passthrough", "-f", "framecrc", "-"])
        let rows = String(decoding: decoded, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(rows.count == expected.count)
    }

    private static func delays(of source: URL) throws -> [Int] {
        let text = try Tool.text(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sys
                from PIL import Image
                image = Image.open(sys.argv[1])
                for n in range(image.n_frames):
                    image.seek(n)
                    image.load()
                    delay = image.info.get("duration", 0)
                    print(100 if delay <= 10 else round(delay))
                """, source.path,
            ])
        return text.split(separator: "\n").compactMap { Int($0) }
    }

    @Test func `transparency becomes white in H.264, and colours stay`() throws {
        let source = try drawn(
            "colours.png",
            """
            frames = []
            for n in range(4):
                image = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
                ImageDraw.Draw(image).rectangle([0, 0, 31, 63], fill=(30 + 50 * n, 90, 200, 255))
                frames.append(image)
            frames[0].save(path, save_all=True, append_images=frames[1:], duration=100, loop=0, disposal=1)
            """)
        let rendered = try Rendered.of(source, in: directory.url, profile: Self.profile(.mp4, side: nil))
        let pixels = [UInt8](
            try Tool.run(
                "ffmpeg",
                ["-v", "error", "-i", try rendered.path(.main), "-vf", "scale=in_color_matrix=bt709"]
                    + ["-pix_fmt", "rgb24", "-f", "rawvideo", "-"]))
        #expect(pixels.count == 64 * 64 * 3 * 4)
        for frame in 0..<4 {
            let row = (frame * 64 + 32) * 64 * 3
            for (column, colour) in [(12, [30 + 50 * frame, 90, 200]), (52, [255, 255, 255])] {
                for channel in 0..<3 {
                    #expect(abs(Int(pixels[row + column * 3 + channel]) - colour[channel]) <= 6)
                }
            }
        }
    }
}
