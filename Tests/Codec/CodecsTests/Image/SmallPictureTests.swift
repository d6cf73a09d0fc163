import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Icons, badges and emoji: as faithful as JPEG with all its colours, and no larger; judged by Pillow and NumPy.
@Suite struct SmallPictureTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Draws icons as PNGs into a directory: six kinds, eleven sizes, with hard and smooth edges, opaque and not.
    private static let recipe = """
        import random
        from PIL import ImageDraw, ImageFont
        FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf'
        HUES = ['#e60023', '#ff7a00', '#ffd400', '#00b050', '#0078ff', '#7a00e6', '#ff00a8', '#101010']
        def font(size): return ImageFont.truetype(FONT, max(6, size))
        def badge(d, w, h, r, s):
            cut = w * r.randint(35, 60) // 100
            d.rectangle((0, 0, cut, h), fill='#444'); d.rectangle((cut, 0, w, h), fill=r.choice(HUES))
            for text, x in (('build', cut // 2), ('v%d' % r.randint(1, 99), (cut + w) // 2)):
                d.text((x, h // 2), text, fill='white', anchor='mm', font=font(h * 6 // 10))
        def emoji(d, w, h, r, s):
            a, b = r.sample(HUES, 2); m = min(w, h)
            d.ellipse((m * .04, m * .04, m * .96, m * .96), fill='#ffd400', outline='#b07a00', width=max(1, m // 24))
            for x in (.33, .67): d.ellipse((m * (x - .08), m * .3, m * (x + .08), m * .5), fill='#402000')
            d.pieslice((m * .25, m * .45, m * .75, m * .85), 0, 180, fill=a)
            d.ellipse((m * .1, m * .55, m * .25, m * .7), fill=b)
        def lines(d, w, h, r, s):
            for _ in range(6):
                d.line([(r.randrange(w), r.randrange(h)) for _ in range(3)], fill=r.choice(HUES), width=max(s, w // 16))
        def text(d, w, h, r, s):
            for i in range(4):
                d.text((w * .05, h * .24 * i), ''.join(r.choice('abcdefghkmnopqrstuwxyz0123456789') for _ in range(9)),
                    fill=r.choice(HUES), font=font(h // 5))
        def pixels(d, w, h, r, s):
            some = r.sample(HUES, 4) + ['#ffffff']
            for y in range(8):
                for x in range(4):
                    c = r.choice(some)
                    for q in (x, 7 - x):
                        d.rectangle((q * w // 8, y * h // 8, (q + 1) * w // 8 - 1, (y + 1) * h // 8 - 1), fill=c)
        def gradient(d, w, h, r, s):
            a, b = r.sample(HUES, 2); across, down = r.choice(((0, 1), (1, 0), (.5, .5)))
            x, y = np.meshgrid(np.arange(w) / w, np.arange(h) / h)
            ends = [np.array([int(c[i:i + 2], 16) for i in (1, 3, 5)]) for c in (a, b)]
            t = (x * across + y * down)[..., None]
            d._image.paste(Image.fromarray(np.rint(ends[0] + (ends[1] - ends[0]) * t).astype('u1')))
            d.ellipse((w * .25, h * .25, w * .75, h * .75), fill='white')
            d.rectangle((w * .4, h * .4, w * .6, h * .6), fill=r.choice(HUES))
        SIZES = [(8, 8), (16, 16), (24, 24), (32, 32), (48, 48), (64, 64), (80, 15), (120, 20), (128, 128), (200, 60),
            (256, 256)]
        for kind in (badge, emoji, lines, text, pixels, gradient):
            for w, h in SIZES:
                for seed in range(4):
                    s, alpha = 1 if seed < 2 else 3, seed == 3
                    r = random.Random(f'{kind.__name__} {w} {h} {seed // 2}')
                    image = Image.new('RGBA', (w * s, h * s), (255, 255, 255, 0 if alpha else 255))
                    kind(ImageDraw.Draw(image), w * s, h * s, r, s)
                    image = image.resize((w, h), Image.LANCZOS) if s > 1 else image
                    name = f'{kind.__name__}-{w}x{h}-{seed}.png'
                    (image if alpha else image.convert('RGB')).save(args[0] + '/' + name)
                    say(name)
        """

    /// For pairs of a source and what was made of it: whether it is transparent, PSNR and SSIM of what was made and of
    /// Pillow's JPEG in 4:4:4 at quality 82, and the bytes of that and of Pillow's PNG.
    private static let judge = """
        def ssim(a, b):
            # With means over windows of 8 × 8, as by Wang et al. 2004.
            def mean(v):
                s = np.pad(v.cumsum(0).cumsum(1), ((1, 0), (1, 0), (0, 0)))
                return (s[8:, 8:] - s[:-8, 8:] - s[8:, :-8] + s[:-8, :-8]) / 64
            ma, mb = mean(a), mean(b)
            va, vb, c = mean(a * a) - ma ** 2, mean(b * b) - mb ** 2, mean(a * b) - ma * mb
            k, l = (.01 * 255) ** 2, (.03 * 255) ** 2
            return ((2 * ma * mb + k) * (2 * c + l) / ((ma ** 2 + mb ** 2 + k) * (va + vb + l))).mean()
        for a, b in zip(args[::2], args[1::2]):
            source, made = Image.open(a), Image.open(b)
            def size(**options):
                out = io.BytesIO(); options.pop('of', source).save(out, **options)
                return len(out.getvalue()), out
            alpha = source.mode == 'RGBA' and np.asarray(source)[..., 3].min() < 255
            if alpha:
                # What full transparency hides is nobody's.
                x, y = (np.asarray(i.convert('RGBA')).astype(np.float64) for i in (source, made))
                x, y = (i * (i[..., 3:] > 0) for i in (x, y))
                say(1, psnr(x, y), 0, 0, 0, 0, size(format='png', optimize=True)[0]); continue
            jpeg, file = size(format='jpeg', quality=82, subsampling=0, optimize=True, of=source.convert('RGB'))
            x, y, z = rgb(source), rgb(made), rgb(Image.open(file))
            say(0, psnr(x, y), ssim(x, y), psnr(x, z), ssim(x, z), jpeg, size(format='png', optimize=True)[0])
        """

    @Test func `an icon is as faithful as JPEG with all its colours, and takes no more than the best of JPEG and PNG`()
        throws
    {
        // Of each kind and size one in a sample, by turns sharp and smooth.
        let all = try PictureJudge.run(Self.recipe, [directory.url.path])
        #expect(all.count == 264)
        let names = Sweep.of(all, every: 3)
        var made: [Rendered] = []
        for name in names {
            made.append(try Rendered.of(directory.url.appending(path: name), in: directory.url))
        }
        let pairs = try zip(names, made).flatMap { name, made in
            [directory.url.appending(path: name).path, try made.path(.main)]
        }
        let judged = try PictureJudge.run(Self.judge, pairs)
        #expect(judged.count == names.count)
        var pngs = 0
        for (index, line) in judged.enumerated() {
            let values = line.split(separator: " ").compactMap { Double($0) }
            let report = try #require(made[index].report(.main))
            let about = "\(names[index]): \(line), \(report.bytes) bytes, \(report.note)"
            guard values.count == 7 else {
                Issue.record("\(about)")
                continue
            }
            if report.type == .png { pngs += 1 }
            if values[0] == 1 {
                #expect(report.type == .png && values[1] > 100, "\(about)")
                #expect(Double(report.bytes) <= values[6] * 1.02 + 24, "\(about)")
                continue
            }
            #expect(values[1] >= values[3] - 0.02 && values[2] >= values[4] - 0.0005, "\(about)")
            // Ten scans of a JPEG take some bytes of what they save.
            #expect(Double(report.bytes) <= min(values[5] * 1.05, values[6] * 1.02) + 24, "\(about)")
            #expect(report.note.contains(report.type == .png ? "PNG, " : "JPEG quality 82"), "\(about)")
        }
        #expect(pngs > names.count / 2)
    }

    @Test(arguments: Speed.allCases)
    func `where a profile takes JPEG alone, an icon keeps all its colours`(speed: Speed) throws {
        let all = try PictureJudge.run(Self.recipe, [directory.url.path]).filter { $0.hasSuffix("0.png") }
        let names = Sweep.of(all, every: 4, from: speed == .fast ? 1 : 0)
        var profile = Profile.notification
        profile.speed = speed
        profile.image?.types = [.jpeg]
        let made = try names.map {
            try Rendered.of(directory.url.appending(path: $0), in: directory.url, profile: profile)
        }
        let pairs = try zip(names, made).flatMap { name, made in
            [directory.url.appending(path: name).path, try made.path(.main)]
        }
        for (index, line) in try PictureJudge.run(Self.judge, pairs).enumerated() {
            let values = line.split(separator: " ").compactMap { Double($0) }
            let about = "\(names[index]): \(line), \(try #require(made[index].report(.main)).note)"
            #expect(made[index].report(.main)?.type == .jpeg && made[index].report(.main)?.encodes == 1, "\(about)")
            #expect(values[1] >= values[3] - 0.02 && values[2] >= values[4] - 0.0005, "\(about)")
        }
    }

    @Test func `what becomes small keeps its colours: thumbnails and posters`() throws {
        let photo = try Rendered.of(Repository.media.appending(path: "jpeg/coffee.jpg"), in: directory.url)
        #expect(try sampling(photo.path(.thumbnail)) == "1x1,1x1,1x1")
        // PNG isn't even tried.
        #expect(photo.reports.map(\.encodes) == [1, 0] && photo.reports.allSatisfy { $0.type == .jpeg })
        var profile = Profile.notification
        profile.video?.poster?.longestSide = 240
        let film = try Rendered.of(
            Repository.media.appending(path: "mp4/film.mp4"), in: directory.url, profile: profile)
        #expect(try sampling(film.path(.poster)) == "1x1,1x1,1x1")
    }

    @Test(arguments: Speed.allCases)
    func `a large drawing of few colours is PNG where that is smaller, and every pixel is as it was`(speed: Speed)
        throws
    {
        let source = directory.url.appending(path: "drawing.png")
        try PictureJudge.run(
            """
            from PIL import ImageDraw
            image = Image.new('RGB', (1000, 800), '#0078ff'); d = ImageDraw.Draw(image)
            for i in range(20): d.rectangle((i * 45, i * 30, i * 45 + 120, i * 30 + 90), fill='#%02x2010' % (i * 12))
            image.save(args[0])
            """, [source.path])
        var profile = Profile.notification
        profile.speed = speed
        let drawing = try Rendered.of(source, in: directory.url, profile: profile)
        let report = try #require(drawing.report(.main))
        #expect(
            report.type == .png && report.note.hasPrefix("kept: PNG, 2 encodes, because JPEG at 82 "), "\(report.note)")
        #expect(try PictureJudge.difference(source.path, drawing.path(.main)).most == 0)
        // The same again, byte by byte.
        let again = try Rendered.of(source, in: directory.url, profile: profile)
        #expect(
            try Data(contentsOf: URL(filePath: drawing.path(.main)))
                == Data(contentsOf: URL(filePath: again.path(.main))))
        // A grey photograph has 256 colours at most too.
        let grey = try Rendered.of(Repository.media.appending(path: "jpeg/grey.jpg"), in: directory.url)
        #expect(grey.report(.main)?.type == .jpeg && grey.report(.main)?.encodes == 0)
    }

    /// The sampling factors of a JPEG's components.
    private borrowing func sampling(_ path: String) throws -> String {
        try Tool.text("identify", ["-format", "%[jpeg:sampling-factor]", path])
    }
}
