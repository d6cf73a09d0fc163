import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What fits is kept: coded anew without loss. Judged by jpegtran, djpeg, Pillow and exiftool.
@Suite struct KeptStillTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func file(_ name: String) -> URL { directory.url.appending(path: name) }

    private func rendered(_ name: String, profile: Profile = .notification) throws -> Rendered {
        try Rendered.of(file(name), in: directory.url, profile: profile)
    }

    /// Bytes of a source, with what tables of another encoder may differ by.
    private func mostBytes(_ name: String) throws -> Int64 {
        let bytes = try file(name).resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        return Int64(bytes + bytes / 100 + 64)
    }

    // MARK: JPEG

    /// JPEGs of each kind, stored as each orientation has them; the name is the kind's and the orientation.
    private static let jpegs = """
        os.chdir(args[0])
        photo = Image.open(args[1]).convert('RGB').resize((240, 160))
        for width, height in ((240, 160), (160, 144), (152, 152), (101, 67)):
            for name, mode, subsampling in (('444', 'RGB', 0), ('422', 'RGB', 1), ('420', 'RGB', 2), ('grey', 'L', 0)):
                for progressive in (False, True):
                    for orientation in range(1, 9):
                        exif = Image.Exif(); exif[0x112] = orientation; exif[0x10e] = 'SATCHEL-CANARY'
                        file = f'{name}-{width}-{"p" if progressive else "b"}-{orientation}.jpg'
                        photo.crop((0, 0, width, height)).convert(mode).save(file, quality=88, optimize=True, exif=exif,
                            subsampling=subsampling, progressive=progressive)
                        say(file)
        """

    /// For pairs of a source and what was made of it: whether jpegtran turns it exactly, and whether both show the same.
    private static let turns = """
        FLAGS = {1: [], 2: ['-flip', 'horizontal'], 3: ['-rotate', '180'], 4: ['-flip', 'vertical'], 5: ['-transpose'],
            6: ['-rotate', '90'], 7: ['-transverse'], 8: ['-rotate', '270']}
        def shown(data): return subprocess.run(['djpeg'], input=data, check=True, capture_output=True).stdout
        for source, made in zip(args[::2], args[1::2]):
            turned = subprocess.run(['jpegtran', '-perfect', '-copy', 'none', *FLAGS[int(source[-5])], source],
                capture_output=True)
            if turned.returncode: say('inexact')
            else: say('same' if shown(turned.stdout) == shown(open(made, 'rb').read()) else 'different')
        """

    @Test func `a JPEG that fits keeps its coefficients, upright, where jpegtran can turn it too`() throws {
        let photo = Repository.media.appending(path: "jpeg/coffee.jpg").path
        let names = Sweep.of(try PictureJudge.run(Self.jpegs, [directory.url.path, photo]), every: 3)
        let made = try names.map { try rendered($0) }
        let pairs = try zip(names, made).flatMap { [file($0).path, try $1.path(.main)] }
        var turned = 0
        for (index, verdict) in try PictureJudge.run(Self.turns, pairs).enumerated() {
            let report = try #require(made[index].report(.main))
            let about = "\(names[index]): \(verdict), \(report.bytes) bytes, \(report.note)"
            if verdict == "inexact" {
                #expect(
                    report.note.hasPrefix("JPEG quality 82")
                        && report.note.hasSuffix("; not kept: its turn isn't exact on whole blocks"), "\(about)")
                continue
            }
            #expect(verdict == "same" && report.encodes == 0, "\(about)")
            let isUpright = names[index].hasSuffix("-1.jpg")
            if !isUpright { turned += 1 }
            #expect(
                report.note.hasPrefix(
                    "kept: JPEG \(isUpright ? "" : "turned and ")coded anew without loss, under the aim of 500000 bytes; "
                ), "\(about)")
            #expect(try report.bytes <= mostBytes(names[index]), "\(about)")
        }
        #expect(turned >= names.count / 3)
        let paths = try made.map { try $0.path(.main) }
        #expect(try metadata(of: paths) == [])
    }

    /// What exiftool finds in files beside pictures: everything that isn't of the file itself, a JPEG's or PNG's header.
    private func metadata(of paths: [String]) throws -> Set<String> {
        let found = try Tool.text("exiftool", ["-G0:1", "-a", "-u", "-s", "-ee"] + paths)
        let known = ["[File", "[Composite", "[ExifTool", "[JFIF", "[PNG]", "[PNG:PNG-pHYs]"]
        return Set(
            found.split(separator: "\n").map(String.init)
                .filter { line in line.hasPrefix("[") && !known.contains { line.hasPrefix($0) } })
    }

    @Test func `Display P3 stays in a JPEG that is kept, under a profile that isn't the source's`() throws {
        let source = Repository.media.appending(path: "jpeg/display-p3.jpg")
        let made = try Rendered.of(source, in: directory.url)
        let report = try #require(made.report(.main))
        #expect(report.note.hasPrefix("kept: JPEG coded anew"), "\(report.note)")
        let answer = try PictureJudge.run(
            """
            source, made = (Image.open(path) for path in args)
            profiles = [image.info['icc_profile'] for image in (source, made)]
            say(profiles[0] in open(args[1], 'rb').read(), ImageCms.getProfileDescription(io.BytesIO(profiles[1])).strip())
            say((np.asarray(source) == np.asarray(made)).all())
            def standard(image, profile): return rgb(ImageCms.profileToProfile(image, io.BytesIO(profile),
                ImageCms.createProfile('sRGB'), renderingIntent=1))
            say(psnr(standard(source, profiles[0]), standard(made, profiles[1])) > 45)
            """, [source.path, try made.path(.main)])
        #expect(answer == ["False sP3C", "True", "True"])
        // What is scaled is sRGB, without a profile.
        #expect(try !Tool.text("exiftool", [made.path(.thumbnail)]).contains("Profile"))
        // What comes out once goes in again.
        let again = try Rendered.of(URL(filePath: made.path(.main)), in: directory.url)
        #expect(again.report(.main)?.bytes == report.bytes)
        #expect(again.report(.main)?.note.hasPrefix("kept: ") == true)
    }

    @Test func `a profile that was cut or changed anywhere is read no further than it goes`() throws {
        let read = """
            sys.stdout.write(Image.open(args[0]).info['icc_profile'].hex())
            """
        let source = Repository.media.appending(path: "jpeg/display-p3.jpg").path
        let hexadecimal = try PictureJudge.run(read, [source]).joined()
        let digits = Array(hexadecimal.utf8)
        let profile = stride(from: 0, to: digits.count - 1, by: 2).compactMap { at in
            UInt8(String(decoding: digits[at...at + 1], as: UTF8.self), radix: 16)
        }
        func isDisplayP3(_ bytes: [UInt8]) -> Bool {
            unsafe bytes.withUnsafeBytes { unsafe ColourProfile.isDisplayP3($0) }
        }
        #expect(profile.count > 300 && isDisplayP3(profile))
        for length in 0..<profile.count { _ = isDisplayP3(Array(profile.prefix(length))) }
        var random = SeededGenerator()
        for _ in 0..<3000 {
            var changed = profile
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            _ = isDisplayP3(changed)
        }
        // Of another space.
        var grey = profile
        grey.replaceSubrange(16..<20, with: Array("GRAY".utf8))
        #expect(!isDisplayP3(grey))
    }

    // MARK: PNG

    private static let pngs = """
        os.chdir(args[0])
        photo = Image.open(args[1]).convert('RGB').resize((90, 60), Image.LANCZOS); grey = photo.convert('L')
        clear = photo.copy(); clear.putalpha(Image.radial_gradient('L').resize(photo.size).point(lambda v: max(0, 255 - 2 * v)))
        drawing = Image.new('RGB', (400, 300), '#0078ff')
        for i in range(12): drawing.paste((i * 20, 30, 99), (i * 30, i * 20, i * 30 + 50, i * 20 + 40))
        grey.point(lambda v: 255 * (v > 99)).convert('1', dither=0).save('grey-1.png')
        for bits in (2, 4):
            step = 255 // (2 ** bits - 1)
            subprocess.run(['convert', '-depth', '8', '-size', '90x60', 'gray:-', '-define', f'png:bit-depth={bits}',
                '-define', 'png:color-type=0', f'grey-{bits}.png'], check=True,
                input=grey.point(lambda v: v // (256 >> bits) * step).tobytes())
        photo.convert('1').save('dithered.png')
        for colours in (2, 4, 16, 200): photo.quantize(colours).save(f'palette-{colours}.png', optimize=True)
        photo.quantize(64).save('clear-palette.png', transparency=bytes(range(0, 256, 4)), optimize=True)
        clear.quantize(100).save('alpha-palette.png', optimize=True)
        clear.save('alpha.png', optimize=True)
        Image.merge('LA', (grey, clear.getchannel('A'))).save('grey-alpha.png', optimize=True)
        drawing.save('drawing.png', optimize=True); drawing.convert('L').save('grey-drawing.png', optimize=True)
        for name in sorted(n for n in os.listdir('.') if n.endswith('.png')): say(name)
        """

    /// For pairs: whether what full transparency doesn't hide is the same, and whether anything is hidden.
    private static let pixels = """
        for a, b in zip(args[::2], args[1::2]):
            a, b = load(a), load(b)
            seen = a[..., 3:] > 0
            say(a.shape == b.shape and (a[..., 3] == b[..., 3]).all() and (a * seen == b * seen).all()
                and not (b * ~seen).any())
        """

    /// What becomes of each file, and what a judge of pairs says of the file and of its main rendition.
    private func judged(_ names: [String], by script: String) throws -> [(
        name: String, made: Rendered, verdict: String
    )] {
        let made = try names.map { try rendered($0) }
        let pairs = try zip(names, made).flatMap { [file($0).path, try $1.path(.main)] }
        let verdicts = try PictureJudge.run(script, pairs)
        try #require(verdicts.count == names.count)
        return names.indices.map { (names[$0], made[$0], verdicts[$0]) }
    }

    @Test func `a PNG that fits keeps its pixels, in as few bits as it has`() throws {
        let photo = Repository.media.appending(path: "jpeg/coffee.jpg").path
        let names = try PictureJudge.run(Self.pngs, [directory.url.path, photo])
        #expect(names.count == 14)
        let judged = try judged(names, by: Self.pixels)
        for (name, made, verdict) in judged {
            let report = try #require(made.report(.main))
            let about = "\(name): \(verdict), \(report.bytes) bytes, \(report.note)"
            // What JPEG makes smaller is no less faithful than it was.
            if report.type == .jpeg {
                #expect(report.note.hasSuffix("; not kept: JPEG takes fewer bytes"), "\(about)")
                #expect(try report.bytes < mostBytes(name) && name.hasPrefix("palette"), "\(about)")
                continue
            }
            #expect(verdict == "True" && report.note.hasPrefix("kept: PNG, "), "\(about)")
            #expect(try report.bytes <= mostBytes(name), "\(about)")
        }
        #expect(try metadata(of: judged.map { try $0.made.path(.main) }) == [])
    }

    /// PNGs in Display P3 of each kind: what colours they have, whether any is transparent, and how they are turned.
    private static let wide = """
        os.chdir(args[0])
        profile = Image.open(args[1]).info['icc_profile']
        drawing = Image.new('RGB', (400, 300), (255, 20, 10))
        for i in range(12): drawing.paste((i * 20, 250, 99), (i * 30, i * 20, i * 30 + 50, i * 20 + 40))
        clear = drawing.copy(); clear.putalpha(Image.linear_gradient('L').resize(clear.size).point(lambda v: max(0, v - 40)))
        photo = Image.open(args[1]).convert('RGB')
        turned = Image.Exif(); turned[0x112] = 6; turned[0x10e] = 'SATCHEL-CANARY'
        for name, picture, exif in (('rgb', drawing, None), ('rgba', clear, None), ('palette', drawing.quantize(16), None),
                ('turned', drawing, turned), ('grey', drawing.convert('L').convert('RGB'), None), ('photo', photo, None)):
            picture.save(name + '.png', icc_profile=profile, optimize=True, **({'exif': exif} if exif else {}))
            say(name + '.png')
        """

    /// For pairs: whether both have the same numbers where anything is seen, the profile's name, and whether it is the source's.
    private static let widePixels = """
        for source, made in zip(args[::2], args[1::2]):
            a, b = Image.open(source), Image.open(made)
            profile = b.info.get('icc_profile')
            name = ImageCms.getProfileDescription(io.BytesIO(profile)).strip() if profile else 'none'
            own = bool(profile) and profile == a.info['icc_profile']
            a, b = (np.asarray(ImageOps.exif_transpose(image).convert('RGBA')).astype(int) for image in (a, b))
            seen = a[..., 3:] > 0
            say(a.shape == b.shape and (a[..., 3] == b[..., 3]).all() and (a * seen == b * seen).all(), name, own)
        """

    @Test func `Display P3 stays in a PNG that is kept, but where all is grey or JPEG takes fewer bytes`() throws {
        let profile = Repository.media.appending(path: "jpeg/display-p3.jpg").path
        let names = try PictureJudge.run(Self.wide, [directory.url.path, profile])
        #expect(names.count == 6)
        let judged = try judged(names, by: Self.widePixels)
        for (name, made, verdict) in judged {
            let report = try #require(made.report(.main))
            let about = "\(name): \(verdict), \(report.bytes) bytes, \(report.note)"
            #expect(
                try Data(contentsOf: URL(filePath: made.path(.main))).range(of: Data("CANARY".utf8)) == nil, "\(about)")
            if name == "photo.png" {
                #expect(report.type == .jpeg && report.note.contains("not kept: "), "\(about)")
                continue
            }
            #expect(report.note.hasPrefix("kept: PNG in Display P3, "), "\(about)")
            #expect(!report.note.contains("in all colours takes"), "\(about)")
            #expect(verdict == "True \(name == "grey.png" ? "none" : "sP3C") False", "\(about)")
            // libvips' profile, of 480 bytes, may take more than the source's own.
            #expect(try report.bytes <= mostBytes(name) + 480, "\(about)")
        }
        // What comes out once goes in again.
        let once = try #require(judged.first).made
        let again = try Rendered.of(URL(filePath: once.path(.main)), in: directory.url)
        #expect(again.report(.main)?.bytes == once.report(.main)?.bytes)
        var aim = Profile.notification
        aim.image?.aim = 1_000
        let over = try #require(try rendered("rgb.png", profile: aim).report(.main))
        #expect(over.note.hasSuffix(" bytes are over the aim of 1000"), "\(over.note)")
    }

    // MARK: What isn't kept

    /// A profile for each thing that stands against keeping a sample, with the words that say so.
    private static let obstacles: [(path: String, profile: Profile, words: String)] = {
        var small = Profile.notification
        small.image?.longestSide = 200
        var square = Profile.notification
        square.image?.fit = .crop
        var aim = Profile.notification
        aim.image?.aim = 50_000
        var cap = Profile.notification
        cap.image?.aim = nil
        cap.image?.cap = 50_000
        var only = Profile.notification
        only.image?.types = [.png]
        return [
            ("jpeg/coffee.jpg", small, "; 200×133 because the longest side may be 200"),
            ("jpeg/coffee.jpg", square, "; 400×400, square by its profile, cropped to its middle"),
            ("jpeg/coffee.jpg", aim, "; not kept: 55563 bytes are over the aim of 50000"),
            ("jpeg/coffee.jpg", cap, "; not kept: 55563 bytes are over the cap of 50000"),
            ("jpeg/coffee.jpg", only, "; not kept: it came as JPEG"),
            ("webp/cat.webp", .notification, "; not kept: it came as WebP"),
            ("webp/cat.webp", .message, "; not kept: no WebP is coded anew without loss"),
            ("gif/still.gif", .notification, "; not kept: it came as GIF"),
            ("jpeg/cmyk.jpg", .notification, "; not kept: it isn't grey or YCbCr of 8 bits"),
            ("jpeg/adobe-rgb.jpg", .notification, "; not kept: its colours become sRGB"),
            ("png/16-bit-rgb.png", .notification, "; not kept: it has more than 8 bits"),
            ("png/coffee.png", .notification, "; not kept: JPEG takes fewer bytes"),
        ]
    }()

    @Test func `what isn't kept says why`() throws {
        for (path, profile, words) in Self.obstacles {
            let report = try #require(try Rendered.sample(path, profile: profile).report(.main))
            #expect(report.note.hasSuffix(words) && !report.note.hasPrefix("kept"), "\(path): \(report.note)")
            #expect(report.encodes > 0)
        }
    }

    @Test func `what a decoder wonders at is encoded, and what lies behind the end is left out`() throws {
        let whole = try Data(contentsOf: Repository.media.appending(path: "jpeg/coffee.jpg"))
        // Bytes before a marker that mean nothing.
        let start = try #require(whole.range(of: Data([0xFF, 0xDB]))?.lowerBound)
        try (whole[..<start] + Data("SATCHEL-CANARY".utf8) + whole[start...]).write(to: file("odd.jpg"))
        let odd = try #require(try rendered("odd.jpg").report(.main))
        #expect(odd.note.hasSuffix("; not kept: it didn't decode without a warning"), "\(odd.note)")
        try whole.dropLast(2).write(to: file("endless.jpg"))
        let endless = try rendered("endless.jpg")
        #expect(endless.report(.main)?.note.hasSuffix("; not kept: it didn't decode without a warning") == true)
        #expect(endless.ending.evidence == [Finding(.endMarkMissing)])
        try (whole + Data("SATCHEL-CANARY".utf8)).write(to: file("more.jpg"))
        let more = try rendered("more.jpg")
        #expect(more.report(.main)?.note.hasPrefix("kept: ") == true)
        #expect(try Data(contentsOf: URL(filePath: more.path(.main))).range(of: Data("CANARY".utf8)) == nil)
    }

    @Test func `a crop that was asked for isn't kept, and a square that fits is, as thumbnail too`() throws {
        let source = Repository.media.appending(path: "jpeg/coffee.jpg")
        let request = RenditionRequest(crop: .rect(UnitRect(x: 0, y: 0, width: 0.5, height: 1)))
        let cropped = try Rendered.of(source, in: directory.url, request: request)
        #expect(cropped.report(.main)?.note.contains("kept") == false)
        try PictureJudge.run(
            "Image.open(args[0]).crop((0, 0, 200, 200)).save(args[1], quality=70)",
            [source.path, file("square.jpg").path])
        let square = try rendered("square.jpg")
        #expect(square.reports.map(\.role) == [.thumbnail, .main])
        #expect(square.reports.allSatisfy { $0.note.hasPrefix("kept: JPEG coded anew") })
        #expect(square.ending.placeholder?.thumbhash != nil)
    }
}
