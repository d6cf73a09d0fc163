import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Pictures are as near to a full decode and Lanczos 3 as the best of libvips, Pillow, ImageMagick and our own speed `best`
/// bring them with as many bytes.
///
/// The reference is Pillow's filter over its own full decode, in floats. Each peer scales; what it scaled is then encoded
/// by libjpeg-turbo with optimised tables, with and without subsampled chroma, at every quality around our bytes. Its
/// PSNR at exactly our bytes lies on the line between the two qualities beside them.
@Suite struct ImageFidelityTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private func profile(_ side: Int, _ speed: Speed) -> Profile {
        var profile = Profile.notification
        profile.speed = speed
        profile.thumbnail = nil
        profile.image?.types = [.jpeg]
        profile.image?.longestSide = side
        profile.image?.aim = nil
        return profile
    }

    /// Decibels of ours, then of each peer at our bytes: libvips, Pillow, ImageMagick, and what `best` scaled.
    private func decibels(_ source: String, best: String, _ ours: [String]) throws -> [[Double]] {
        let lines = try PictureJudge.run(
            """
            source, scratch, scaled, ours = args[0], args[1], args[2], args[3:]
            image = Image.open(source); image.load()
            size = Image.open(ours[0]).size
            reference = lanczos(image, size)
            shape = f'{size[0]}x{size[1]}!'
            def tool(name, *command):
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
                return Image.open(name).convert('RGB')
            vips, magick = scratch + '/vips.png', scratch + '/magick.png'
            peers = [tool(vips, 'vipsthumbnail', source, '-s', shape, '--no-rotate', '-o', vips),
                image.convert('RGB').resize(size, Image.LANCZOS),
                tool(magick, 'convert', source, '-resize', shape, magick), Image.open(scaled).convert('RGB')]
            cache = {}
            def encoded(peer, chroma, quality):
                if (peer, chroma, quality) not in cache:
                    out = io.BytesIO()
                    peers[peer].save(out, 'JPEG', quality=quality, optimize=True, subsampling=chroma)
                    cache[peer, chroma, quality] = (out.tell(), psnr(reference, rgb(Image.open(out))))
                return cache[peer, chroma, quality]
            def best(peer, count):
                found = []
                # Small pictures keep their colours.
                for chroma in (2, 0) if size[0] * size[1] > 65536 else (0,):
                    low, high = 10, 98
                    while high - low > 1:
                        middle = (low + high) // 2
                        if encoded(peer, chroma, middle)[0] <= count: low = middle
                        else: high = middle
                    (a, x), (b, y) = encoded(peer, chroma, low), encoded(peer, chroma, high)
                    found.append(x + (y - x) * (math.log(count / a) / math.log(b / a) if a < count < b else 0))
                return max(found)
            for file in ours:
                count = os.path.getsize(file)
                say(psnr(reference, rgb(Image.open(file))), *[best(peer, count) for peer in range(4)])
            """, [source, directory.url.path, best] + ours)
        return lines.map { $0.split(separator: " ").compactMap { Double($0) } }
    }

    private func judge(_ source: String, side: Int) throws {
        let ours = try [Speed.standard, .fast].map {
            try Rendered.of(URL(filePath: source), in: directory.url, profile: profile(side, $0)).path(.main)
        }
        var lossless = PictureJudge.lossless(side: side)
        lossless.speed = .best
        let best = try Rendered.of(URL(filePath: source), in: directory.url, profile: lossless).path(.main)
        let values = try decibels(source, best: best, ours)
        try #require(values.count == 2 && values.allSatisfy { $0.count == 5 })
        let behind = values.map { ($0[1...].max() ?? 999) - $0[0] }
        #expect(behind[0] <= 0.1, "standard: \(values[0])")
        #expect(behind[1] <= 0.7, "fast: \(values[1])")
    }

    @Test func `a photograph of 12 megapixels loses nothing at 1038 pixels`() throws {
        try judge(Repository.media.appending(path: "jpeg/earth-12-megapixels.jpg").path, side: 1038)
    }

    /// Foliage and lettering: detail at every scale, with sides that no power of two divides, and colours as fine.
    private static let details = Result {
        try SharedDirectory { directory in
            try PictureJudge.run(
                """
                from PIL import ImageDraw
                rng = np.random.default_rng(7)
                h, w = 1021, 1363
                f = np.hypot(np.fft.fftfreq(h)[:, None], np.fft.rfftfreq(w)[None, :]); f[0, 0] = 1
                def noise(power):
                    n = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((h, w))) / f ** power, (h, w))
                    return n / n.std()
                luma = 128 + 45 * noise(1.1)
                planes = [luma + 18 * noise(1.5) for _ in range(3)]
                image = Image.fromarray(np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8))
                draw = ImageDraw.Draw(image)
                for i in range(12): draw.text((40 + 90 * i, 60 + 70 * i), 'Satchel 0123456789', fill=(255, 250, 240))
                for i in range(60): draw.line((700 + 9 * i, 40, 760 + 11 * i, 400), fill=(10, 20, 30), width=2)
                image.save(args[0] + '/detailed.jpg', quality=93)
                image.save(args[0] + '/detailed.png')
                image.save(args[0] + '/detailed.webp', lossless=True, method=0)
                image.save(args[0] + '/detailed.tiff')
                image.convert('L').save(args[0] + '/grey.jpg', quality=93)
                """, [directory.path])
        }
    }

    private func detailed(_ name: String) throws -> String { try Self.details.get().url.appending(path: name).path }

    @Test(arguments: Sweep.of([1038, 645, 517, 320, 160, 73], every: 3, from: 2))
    func `detail with sides that no power of two divides loses nothing at any size`(side: Int) throws {
        try judge(try detailed("detailed.jpg"), side: side)
    }

    /// libjpeg and libwebp could scale what they decode, which moves pixels or costs detail: at this speed they don't.
    @Test func `what has no planes to scale is scaled as Pillow scales it, to the rounding`() throws {
        var made: [(name: String, side: Int, source: String, ours: String)] = []
        for (index, name) in ["detailed.png", "detailed.webp", "detailed.tiff", "grey.jpg"].enumerated() {
            let source = try detailed(name)
            for side in Sweep.of([1038, 479, 100], every: 3, from: index + 1) {
                let ours = try Rendered.of(
                    URL(filePath: source), in: directory.url, profile: PictureJudge.lossless(side: side)
                ).path(.main)
                made.append((name, side, source, ours))
            }
        }
        let lines = try PictureJudge.run(
            """
            for source, ours in zip(args[::2], args[1::2]):
                b = Image.open(ours); say(psnr(lanczos(Image.open(source), b.size), rgb(b)))
            """, made.flatMap { [$0.source, $0.ours] })
        try #require(lines.count == made.count)
        for (one, line) in zip(made, lines) {
            // Bytes are rounded between columns and rows; what is small is scaled in floats.
            let least = one.side == 100 ? 55.0 : 52
            #expect(try #require(Double(line)) > least, "\(one.name) at \(one.side): \(line)")
        }
    }

    @Test(arguments: ["png", "jpg"])
    func `a zone plate shows no moiré that the reference doesn't show`(type: String) throws {
        let source = path("zone.\(type)")
        try PictureJudge.run(
            """
            n = 1501; y, x = np.mgrid[0:n, 0:n] - n / 2
            plate = 127.5 + 127.5 * np.cos(np.pi * (x * x + y * y) / n)
            Image.fromarray((plate + 0.5).astype(np.uint8)).convert('RGB').save(args[0], quality=96)
            """, [source])
        for side in Sweep.of([700, 333, 150], every: 2, from: type == "png" ? 0 : 1) {
            let ours = try Rendered.of(
                URL(filePath: source), in: directory.url, profile: PictureJudge.lossless(side: side)
            ).path(.main)
            let lines = try PictureJudge.run(
                """
                ours = rgb(Image.open(args[1]))[..., 1]; n = ours.shape[0]
                reference = lanczos(Image.open(args[0]), (n, n))[..., 1]
                y, x = np.mgrid[0:n, 0:n] - (n - 1) / 2
                # At this radius the plate reaches twice the new pixels' limit: what is left there is folded.
                limit = n / 1501
                far = np.hypot(x, y) / (n / 2) > 1.35 * limit
                say(ours[far].std(), reference[far].std(), np.abs(ours - reference)[~far].mean())
                """, [source, ours])
            let values = try #require(lines.first).split(separator: " ").compactMap { Double($0) }
            #expect(values.count == 3)
            // libjpeg's own scaling lets a little more through, and bytes are rounded between columns and rows, but for small
            // pictures.
            let more = type == "jpg" ? 4 : side == 150 ? 0.25 : 0.5
            #expect(values[0] <= values[1] + more, "at \(side): \(values)")
        }
    }

    @Test(arguments: ["jpg", "png", "webp", "tiff"])
    func `a plain picture stays plain up to its rim`(type: String) throws {
        let source = path("plain.\(type)")
        try Tool.run("convert", ["-size", "1229x1117", "xc:#dcb478", "-quality", "95", source])
        let rects = [UnitRect(x: 0, y: 0, width: 1, height: 1), UnitRect(x: 0.1, y: 0.1, width: 0.83, height: 0.71)]
        let ours = try [997, 402, 91].flatMap { side in
            try rects.map { rect in
                try Rendered.of(
                    URL(filePath: source), in: directory.url, profile: PictureJudge.lossless(side: side),
                    request: RenditionRequest(crop: .rect(rect))
                ).path(.main)
            }
        }
        let lines = try PictureJudge.run(
            """
            for file in args:
                a = rgb(Image.open(file))
                say(np.ptp(a, (0, 1)).max(), np.abs(a - [0xdc, 0xb4, 0x78]).max())
            """, ours)
        #expect(lines.count == ours.count)
        for line in lines {
            let values = line.split(separator: " ").compactMap { Double($0) }
            #expect(values[0] == 0 && values[1] <= 3, "\(lines)")
        }
    }

    @Test func `what a crop cuts off doesn't shine through at the rim`() throws {
        let source = path("frame.png")
        try Tool.run("convert", ["-size", "800x800", "xc:white", "-bordercolor", "black", "-border", "100", source])
        let ours = try Rendered.of(
            URL(filePath: source), in: directory.url, profile: PictureJudge.lossless(side: 211),
            request: RenditionRequest(crop: .rect(UnitRect(x: 0.1, y: 0.1, width: 0.8, height: 0.8)))
        ).path(.main)
        #expect(try PictureJudge.run("say(rgb(Image.open(args[0])).min())", [ours]) == ["255.0"])
    }

    @Test(arguments: ["white", "black"])
    func `a transparent edge has no halo over its own colour, and mixes as Pillow mixes it over another`(
        colour: String
    ) throws {
        let source = path("logo.png")
        // Hidden under the transparency: green.
        try PictureJudge.run(
            """
            from PIL import ImageDraw
            mask = Image.new('L', (903, 903), 0); draw = ImageDraw.Draw(mask)
            draw.ellipse((100, 100, 700, 640), fill=255); draw.text((300, 750), 'Satchel', fill=255)
            for i in range(30): draw.line((20 + 7 * i, 20, 200 + 9 * i, 880), fill=255)
            logo = Image.new('RGB', mask.size, args[1]); green = Image.new('RGB', mask.size, (0, 255, 0))
            # Newer versions of Pillow draw text with soft edges.
            seen = mask.point(lambda value: 255 if value else 0)
            logo = Image.composite(logo, green, seen); logo.putalpha(mask); logo.save(args[0])
            """, [source, colour])
        let kept = try Rendered.of(
            URL(filePath: source), in: directory.url, profile: PictureJudge.lossless(side: 217)
        ).path(.main)
        var profile = profile(217, .standard)
        var flattened: [String] = []
        for background in ["#ffffff", "#000000", "#3366cc"] {
            profile.image?.background = background
            profile.image?.quality = 95
            flattened.append(
                try Rendered.of(URL(filePath: source), in: directory.url, profile: profile).path(.main))
        }
        let lines = try PictureJudge.run(
            """
            source, colour, kept, flat = args[0], 255 if args[1] == 'white' else 0, args[2], args[3:]
            ours = load(kept)
            # What is seen has the logo's colour and no other.
            say(np.abs(ours[..., :3] - colour)[ours[..., 3] > 0].max(), ours[..., :3][ours[..., 3] == 0].max(initial=0))
            alpha = np.asarray(Image.open(source).getchannel('A')).astype(np.float32)
            small = np.clip(np.asarray(Image.fromarray(alpha, 'F').resize((217, 217), Image.LANCZOS)), 0, 255)
            say(np.abs(ours[..., 3] - small).max(), 0)
            for file, ground in zip(flat, ((255, 255, 255), (0, 0, 0), (0x33, 0x66, 0xcc))):
                expected = small[..., None] / 255 * colour + (1 - small[..., None] / 255) * np.array(ground)
                d = np.abs(rgb(Image.open(file)) - expected); say(d.mean(), d.max())
            """, [source, colour, kept] + flattened)
        let values = lines.map { $0.split(separator: " ").compactMap { Double($0) } }
        try #require(values.count == 5)
        #expect(values[0] == [0, 0])
        // libvips knows 64 places between two pixels, and rounds alpha once more when it divides by it.
        #expect(values[1][0] <= 1.25)
        // The logo over its own colour is not to be seen at all.
        #expect(values[colour == "white" ? 2 : 3].allSatisfy { $0 < 0.01 })
        for flat in values[2...] { #expect(flat[0] < 3, "\(values)") }
    }
}
