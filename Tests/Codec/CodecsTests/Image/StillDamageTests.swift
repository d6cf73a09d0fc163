import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Stills that lack something: how much, by what their decoders gave, and what becomes of the rest.
@Suite struct StillDamageTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A photograph of 640 by 480 pixels in every format whose rows come in order, with the directory of a TIFF before its
    /// pixels, so that it is there when the file is cut.
    private static let sources = Result {
        try SharedDirectory { directory in
            try PictureJudge.run(
                """
                import struct, zlib
                photo = Image.open(args[1]).convert('RGB').resize((640, 480), Image.LANCZOS)
                def save(name, image=photo, **how): image.save(f'{args[0]}/{name}', **how)
                save('baseline.jpg', quality=90)
                save('full-chroma.jpg', quality=90, subsampling=0)
                # Debian 12's Pillow writes none.
                subprocess.run(['jpegtran', '-restart', '1', '-outfile', args[0] + '/restarts.jpg', args[0] + '/baseline.jpg'],
                    check=True)
                save('progressive.jpg', quality=90, progressive=True)
                save('grey.jpg', photo.convert('L'), quality=90)
                save('cmyk.jpg', photo.convert('CMYK'), quality=90)
                save('plain.png')
                alpha = photo.copy(); alpha.putalpha(photo.convert('L')); save('alpha.png', alpha)
                save('palette.png', photo.quantize(64))
                save('24-bit.bmp')
                save('lossy.webp', quality=85); save('lossless.webp', lossless=True)
                def tiff(name, pack, code, rows=8, bits=8, channels=3, kind=2, image=photo):
                    raw = image.tobytes(); row = len(raw) // 480
                    strips = [pack(raw[at * row:(at + rows) * row]) for at in range(0, 480, rows)]
                    n = len(strips); entries = 9; data = 8 + 2 + 12 * entries + 4 + 8 + 8 * n
                    offsets = [data + sum(map(len, strips[:i])) for i in range(n)]
                    at = 8 + 2 + 12 * entries + 4
                    def entry(tag, type, count, value): return struct.pack('<HHII', tag, type, count, value)
                    body = b''.join([entry(256, 4, 1, 640), entry(257, 4, 1, 480),
                        struct.pack('<HHI', 258, 3, channels) + (struct.pack('<I', at) if channels > 2 else struct.pack('<I', bits)),
                        entry(259, 3, 1, code), entry(262, 3, 1, kind),
                        entry(273, 4, n, at + 8 if n > 1 else offsets[0]), entry(277, 3, 1, channels), entry(278, 4, 1, rows),
                        entry(279, 4, n, at + 8 + 4 * n if n > 1 else len(strips[0]))])
                    open(f'{args[0]}/{name}', 'wb').write(b'II*\\0' + struct.pack('<IH', 8, entries) + body + bytes(4)
                        + struct.pack('<4H', *[bits] * 4) + struct.pack(f'<{n}I', *offsets)
                        + struct.pack(f'<{n}I', *map(len, strips)) + b''.join(strips))
                tiff('raw.tiff', bytes, 1)
                tiff('deflate.tiff', zlib.compress, 8, rows=4)
                tiff('one-strip.tiff', bytes, 1, rows=480)
                for code, name in [('group3', 'g3'), ('group4', 'g4')]:
                    save(name + '.tiff', photo.resize((640, 1000)).convert('1'), compression=code)
                """, [directory.path, Repository.media.appending(path: "jpeg/coffee.jpg").path])
        }
    }

    private func source(_ name: String) throws -> URL { try Self.sources.get().url.appending(path: name) }

    private func file(_ name: String, cut share: Double, of whole: String) throws -> URL {
        let bytes = try Data(contentsOf: source(whole))
        let file = directory.url.appending(path: name)
        try bytes.prefix(bytes.count - max(3, Int(Double(bytes.count) * share))).write(to: file)
        return file
    }

    /// Rows of which an independent decoder gives something else than it gives of the whole file, added up by their pixels;
    /// of each file.
    private func judgedRows(_ cuts: [URL], of whole: String) throws -> [Double] {
        let lines = try PictureJudge.run(
            """
            from PIL import ImageFile
            ImageFile.LOAD_TRUNCATED_IMAGES = True
            name, source, cuts = args[0], args[1], args[2:]
            if 'tiff' in name:
                # Its strips, as far as the file goes.
                tags = Image.open(source).tag_v2
                strips = list(zip(tags[273], tags[279])); rows = 480 // len(strips)
                for cut in cuts:
                    there = os.path.getsize(cut)
                    whole = sum(offset + count <= there for offset, count in strips) * rows
                    if len(strips) == 1: whole = (there - strips[0][0]) // 1920
                    say(480 - whole)
                sys.exit()
            def shown(path):
                if 'jpg' in name:
                    data = subprocess.run(['djpeg', '-dct', 'int', path], capture_output=True).stdout
                    return np.asarray(Image.open(io.BytesIO(data)).convert('RGB'))
                return np.asarray(Image.open(path).convert('RGBA' if 'alpha' in name else 'RGB'))
            b = shown(source)
            for cut in cuts:
                a = shown(cut)
                # What nobody could tell from rounding where colours are interpolated between whole and missing ones.
                say((np.abs(a.astype(int) - b).max(-1) > 0).sum() / a.shape[1])
            """, [whole, try source(whole).path] + cuts.map(\.path))
        try #require(lines.count == cuts.count)
        return lines.map { Double($0) ?? .nan }
    }

    private static func rows(in text: String) -> Int? {
        guard let end = text.range(of: " of 480 rows") else { return nil }
        return Int(text[..<end.lowerBound].split(separator: " ").last ?? "")
    }

    private static func profile(_ damaged: WhenDamaged) -> Profile {
        var profile = PictureJudge.lossless()
        profile.damaged = damaged
        return profile
    }

    private static let cutOff = [
        "baseline.jpg", "full-chroma.jpg", "restarts.jpg", "progressive.jpg", "grey.jpg", "plain.png", "alpha.png",
        "palette.png", "24-bit.bmp", "lossy.webp", "lossless.webp", "raw.tiff", "deflate.tiff", "one-strip.tiff",
    ]

    @Test(arguments: cutOff)
    func `of a picture that was cut off, the rows that no decoder gives are counted, and decide`(whole: String) throws {
        let complete = try Rendered.of(
            try source(whole), in: directory.url, profile: Self.profile(.refuse))
        #expect(complete.ending.losses.isEmpty && complete.ending.warnings.isEmpty)
        // Of progressive ones, what is missing is detail that may have been nothing; libvips gives a TIFF's rows by 16.
        let isTIFF = whole.hasSuffix("tiff")
        let strip = isTIFF ? 16.0 : 3
        var cuts: [(share: Double, file: URL, salvaged: URL, loss: Finding, missing: Int)] = []
        for share in Sweep.of([0.005, 0.015, 0.03, 0.5], every: 2, from: Self.cutOff.firstIndex(of: whole) ?? 0) {
            let cut = try file("cut-\(share)-\(whole)", cut: share, of: whole)
            let salvaged = try Rendered.of(cut, in: directory.url, profile: Self.profile(.salvage))
            let loss = try #require(salvaged.ending.losses.first, "\(whole) \(share)")
            let missing = try #require(Self.rows(in: loss.what), "\(loss.what)")
            cuts.append((share, cut, URL(filePath: try salvaged.path(.main)), loss, missing))
        }
        // No tool shows a part of a WebP: what is shown is compared with the whole picture of another decoder.
        let judgedRows = try judgedRows(cuts.map { whole.hasSuffix("webp") ? $0.salvaged : $0.file }, of: whole)
        // What is there is as it was.
        let same = try PictureJudge.run(
            """
            b = load(args[1])
            for file, rest in zip(args[2::2], args[3::2]):
                a = load(file)
                # A BMP begins with its last row.
                n = slice(480 - int(rest), None) if 'bmp' in args[0] else slice(0, int(rest))
                say(np.abs(a[n] - b[n]).max(initial=0), a.shape == b.shape)
            """,
            [whole, complete.path(.main)]
                + cuts.flatMap { [$0.salvaged.path, "\(max(0, 480 - $0.missing - 16))"] })
        #expect(same == cuts.map { _ in "0 True" }, "\(whole)")
        for ((share, cut, _, loss, missing), judged) in zip(cuts, judgedRows) {
            #expect(Double(missing) >= judged - 2, "\(whole) \(share): \(missing), not \(judged)")
            if whole != "progressive.jpg" {
                #expect(Double(missing) <= judged + strip, "\(whole) \(share): \(missing), not \(judged)")
                #expect(loss.code == .endsBefore, "\(whole) \(share): \(loss.text)")
            }
            let isTolerable = Double(missing) <= 9.6
            if isTolerable {
                let delivered = try Rendered.of(cut, in: directory.url, profile: Self.profile(.refuse))
                #expect(delivered.ending.losses == [loss])
            } else {
                let refusal = try Rendered.refusal(of: cut, in: directory.url, profile: Self.profile(.refuse))
                #expect(refusal?.code == .corrupt)
                let rows = "\(missing) of 480 rows"
                let missed = whole == "progressive.jpg" ? "the detail of \(rows) is" : "\(rows) are"
                let says = refusal?.message.contains("\(missed) missing")
                #expect(says == true, "\(String(describing: refusal))")
            }
            if share == 0.5 { #expect(!isTolerable && missing > 100) }
            // libwebp gives rows by 16, and of lossy ones needs the next to filter them.
            if share == 0.005, !isTIFF, whole != "progressive.jpg", !whole.hasSuffix("webp") {
                #expect(isTolerable, "\(whole): \(missing)")
            }
        }
    }

    @Test(arguments: ["baseline.jpg", "restarts.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg"])
    func `a JPEG that lacks nothing but its end marker is whole, with a warning`(whole: String) throws {
        let bytes = try Data(contentsOf: source(whole))
        let file = directory.url.appending(path: "endless.jpg")
        try bytes.dropLast(2).write(to: file)
        #expect(try judgedRows([file], of: whole) == [0])
        let rendered = try Rendered.of(file, in: directory.url)
        #expect(rendered.ending.losses.isEmpty)
        #expect(rendered.ending.evidence == [Finding(.endMarkMissing)])
    }

    @Test(arguments: ["g3.tiff", "g4.tiff"])
    func `a fax whose last line is bad is delivered without it, and says so`(whole: String) throws {
        var bytes = [UInt8](try Data(contentsOf: source(whole)))
        // Pillow writes the strips from the eighth byte on, and then the directory.
        let end = Int(bytes[4]) | Int(bytes[5]) << 8 | Int(bytes[6]) << 16
        for at in end - 12..<end - 5 { bytes[at] = 0 }
        let file = directory.url.appending(path: "bad-\(whole)")
        try Data(bytes).write(to: file)
        let judge = try Program.tool("convert").run([file.path, directory.url.appending(path: "o.png").path])
        #expect(judge.errorText.contains("Premature EOL at line"), "\(judge.errorText)")
        let rendered = try Rendered.of(file, in: directory.url)
        // libvips reads 16 rows at a time, and libtiff 4.7 gives none of those with a Group 4 line that is bad.
        let few = Finding(.notDecoded, .rows, missing: 1, of: 1000)
        let many = Finding(.notDecoded, .rows, missing: 8, of: 1000)
        #expect(rendered.ending.losses == [few] || rendered.ending.losses == [many], "\(rendered.ending.losses)")
    }

    @Test(arguments: ["baseline.jpg", "grey.jpg", "restarts.jpg"], [0.5, 0.985])
    func `what libjpeg fills with grey within a JPEG is counted`(whole: String, share: Double) throws {
        var bytes = [UInt8](try Data(contentsOf: source(whole)))
        // A marker that is none of a scan's: what follows is not read.
        let place = Int(Double(bytes.count) * share)
        bytes.replaceSubrange(place..<place + 2, with: [0xff, 0xd9])
        let file = directory.url.appending(path: "damaged-\(whole)")
        try Data(bytes).write(to: file)
        let judge = try Program.tool("djpeg").run(["-outfile", "/dev/null", file.path])
        #expect(judge.errorText.contains("Corrupt JPEG data"), "\(judge.errorText)")
        let judged = try judgedRows([file], of: whole)[0]
        let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
        let loss = try #require(salvaged.ending.losses.first)
        #expect(loss.code == .dataEndsEarly)
        let missing = try #require(Self.rows(in: loss.what))
        #expect(abs(Double(missing) - judged) < 5, "\(missing), not \(judged)")
        let refusal = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.refuse))
        #expect(refusal?.code == (share < 0.9 ? .corrupt : nil))
    }

    @Test(arguments: ["heic/coffee-gps.heic", "avif/coffee.avif", "jxl/coffee.jxl"])
    func `formats whose libraries give no part of a picture are refused, salvaged or not`(path: String) throws {
        let bytes = try Data(contentsOf: Repository.media.appending(path: path))
        let file = directory.url.appending(path: "part")
        try bytes.prefix(bytes.count * 9 / 10).write(to: file)
        for damaged in WhenDamaged.allCases {
            let refusal = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(damaged))
            #expect(refusal?.code == (path.hasPrefix("jxl") ? .undecodable : .corrupt))
        }
    }

    @Test(arguments: [4, 7])
    func `of a TIFF that ends too early nobody says that it may be damaged`(share: Int) throws {
        let bytes = try Data(contentsOf: Repository.media.appending(path: "tiff/lzw.tiff"))
        let file = directory.url.appending(path: "part")
        try bytes.prefix(bytes.count * share / 10).write(to: file)
        let refusal = try Rendered.refusal(of: file, in: directory.url)
        #expect(refusal == .unreadable(Finding(.endsBefore, .picture, named: "TIFF picture")))
    }

    @Test func `rows that a baseline JPEG lacks at its end may stand for others above, and it says so`() throws {
        let file = directory.url.appending(path: "zeros.jpg")
        var data = try Data(contentsOf: source("baseline.jpg"))
        let middle = data.count / 2
        data.replaceSubrange(middle..<middle + 3000, with: Data(count: 3000))
        try data.write(to: file)
        let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
        let loss = try #require(salvaged.ending.losses.first)
        #expect(loss.code == .dataEndsEarly)
    }

    @Test func `an interval of a JPEG that runs short spoils its own rows, and ends in no stray marker`() throws {
        let file = directory.url.appending(path: "short.jpg")
        var data = try Data(contentsOf: source("restarts.jpg"))
        let begin = try #require(data.range(of: Data([0xff, 0xd3]))).upperBound
        let end = try #require(data.range(of: Data([0xff, 0xd4]), in: begin..<data.count)).lowerBound
        data.replaceSubrange(begin..<end, with: Data(count: end - begin))
        try data.write(to: file)
        let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
        let loss = try #require(salvaged.ending.losses.first)
        #expect(loss.code == .dataEndsEarly)
        #expect(try (1...16).contains(#require(Self.rows(in: loss.what))), "\(loss.what)")
    }

    @Test(arguments: ["baseline.jpg", "restarts.jpg"])
    func `what follows a picture's own end is no sign that a marker stands where none belongs`(whole: String) throws {
        let file = directory.url.appending(path: "followed.jpg")
        var data = try Data(contentsOf: source(whole))
        let middle = data.count / 2
        // As if its data had been cut short by changed codes, with a preview behind it.
        data.removeSubrange(middle..<data.count - 2)
        data.append(try Data(contentsOf: source(whole)))
        try data.write(to: file)
        let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
        #expect(
            salvaged.ending.losses.first?.code == .dataEndsEarly)
    }

    @Test(arguments: ["JPEG", "TIFF"])
    func `what is assumed of inks without a profile is told`(format: String) throws {
        let profile = "/usr/share/color/icc/ghostscript/default_cmyk.icc"
        for has in [false, FileManager.default.fileExists(atPath: profile)] {
            let file = directory.url.appending(path: "inks.\(format)")
            try PictureJudge.run(
                """
                profile = open(args[3], 'rb').read() if args[3] else None
                Image.open(args[0]).convert('CMYK').save(args[1], args[2], icc_profile=profile)
                """, [source("baseline.jpg").path, file.path, format, has ? profile : ""])
            let changes = try Rendered.of(file, in: directory.url).ending.changes
            #expect(changes == (has ? [] : [Finding(.profileAssumed)]))
        }
    }

    @Test func `a colour profile that can't be used is left out, and the record says so`() throws {
        try PictureJudge.run(
            """
            profile = ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes()
            Image.open(args[0]).convert('CMYK').save(args[1], icc_profile=profile[:200])
            """, [source("baseline.jpg").path, directory.url.appending(path: "profile.jpg").path])
        let rendered = try Rendered.of(directory.url.appending(path: "profile.jpg"), in: directory.url)
        #expect(rendered.ending.evidence == [Finding(.profileLeftOut)])
        #expect(rendered.ending.losses.isEmpty)
    }

    @Test(arguments: ["plain.png", "alpha.png", "palette.png"], ["IDAT", "IEND"])
    func `a PNG of which a chunk's checksum alone is wrong is whole`(whole: String, chunk: String) throws {
        let file = directory.url.appending(path: "chunk.png")
        var bytes = [UInt8](try Data(contentsOf: source(whole)))
        let place = try #require(Data(bytes).range(of: Data("IEND".utf8))).lowerBound
        // Before the length of the end's chunk, or behind its name.
        bytes[chunk == "IDAT" ? place - 6 : place + 6] ^= 0xff
        try Data(bytes).write(to: file)
        let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile(.refuse))
        #expect(rendered.ending.losses.isEmpty)
        let doubt = Finding(.checksumDiffers, named: "chunks")
        // The libvips of Debian 13 doesn't compare it.
        let isCompared = chunk == "IDAT" && !CodecLibrary(.libvips, version: Libvips.version).isAtLeast("8.16")
        #expect(rendered.ending.evidence == (isCompared ? [doubt] : []))
        let difference = try PictureJudge.difference(rendered.path(.main), try source(whole).path)
        #expect(difference.most == 0 && difference.alpha == 0, "\(difference)")
    }

    @Test func `a PNG whose pixels don't fit their checksum is corrupt, and salvaged as it is`() throws {
        let file = directory.url.appending(path: "checksum.png")
        // What isn't compressed decodes whatever it is.
        try PictureJudge.run(
            "Image.open(args[0]).save(args[1], compress_level=0)", [source("plain.png").path, file.path])
        var bytes = [UInt8](try Data(contentsOf: file))
        bytes[bytes.count / 2] ^= 0xff
        try Data(bytes).write(to: file)
        let refusal = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.refuse))
        #expect(refusal == .unreadable(Finding(.checksumDiffers, .rows, of: 480, named: "rows")))
        let salvaged = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
        #expect(salvaged.ending.losses.count == 1)
    }

    // MARK: Changed codes

    @Test(arguments: ["baseline.jpg", "full-chroma.jpg", "progressive.jpg", "grey.jpg", "cmyk.jpg"])
    func `a JPEG of which bits are left over is never called whole`(whole: String) throws {
        // Changes of one bit that djpeg complains of, though it finds a code for every block.
        let names = try PictureJudge.run(
            """
            data, rng = open(args[1], 'rb').read(), np.random.default_rng(11)
            start, found = data.index(b'\\xff\\xda') + 20, 0
            for place in rng.integers(start, len(data) - 2, 400):
                if 255 in data[place - 1:place + 2]: continue
                changed = bytearray(data); changed[place] ^= 1 << int(rng.integers(8))
                if 255 in changed[place - 1:place + 2]: continue
                told = subprocess.run(['djpeg', '-outfile', os.devnull], input=bytes(changed), capture_output=True).stderr
                if b'extraneous' not in told or b'bad' in told or b'premature' in told: continue
                open(f'{args[0]}/changed-{found}.jpg', 'wb').write(changed); say(f'changed-{found}.jpg'); found += 1
                if found == 6: break
            """, [directory.path, try source(whole).path])
        try #require(names.count >= 3)
        for name in names {
            let file = directory.url.appending(path: name)
            guard try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.refuse)) == nil else {
                continue
            }
            let ending = try Rendered.of(file, in: directory.url, profile: Self.profile(.refuse)).ending
            let isTold = ending.evidence.contains { $0.code == .bytesLeftOver }
            #expect(isTold || ending.losses.contains { $0.part == .rows }, "\(name): \(ending.losses)")
        }
    }

    @Test(arguments: ["0; 1; 2;", "0 2; 1;", "progressive"], [[], ["-arithmetic"], ["-restart", "1"]])
    func `damage in any of a JPEG's scans is counted, whatever its codes are`(scans: String, form: [String]) throws {
        let names = try PictureJudge.run(
            """
            os.chdir(args[0])
            Image.open(args[1]).convert('RGB').resize((96, 64)).save('x.ppm'); open('scans', 'w').write(args[2])
            order = ['-progressive'] if args[2] == 'progressive' else ['-scans', 'scans']
            data = subprocess.run(['cjpeg', *order, *args[3:], 'x.ppm'], check=True, capture_output=True).stdout
            starts = [at for at in range(len(data)) if data[at:at + 2] == b'\\xff\\xda']
            def save(name, change):
                changed = bytearray(data); change(changed); open(name + '.jpg', 'wb').write(changed); say(name + '.jpg')
            for at in starts[1::max(1, len(starts) // 3)]:
                save(f'count-{at}', lambda d: d.__setitem__(at + 4, 246))
                save(f'table-{at}', lambda d: d.__setitem__(at + 6, 0x33))
                save(f'cut-{at}', lambda d: d.__delitem__(slice(at + 20, None)))
                save(f'zeros-{at}', lambda d: d.__setitem__(slice(at + 14, at + 60), bytes(46)))
            """, [directory.path, try source("baseline.jpg").path, scans] + form)
        #expect(names.count >= 4)
        for name in names {
            let file = directory.url.appending(path: name)
            do {
                let made = try Rendered.of(file, in: directory.url, profile: Self.profile(.salvage))
                #expect(made.ending != Ending(), "\(name)")
                // Any bits are arithmetic codes.
                let mayBeRight = name.hasPrefix("zeros") || name.hasPrefix("table") && form == ["-arithmetic"]
                #expect(!made.ending.losses.isEmpty || mayBeRight, "\(name)")
            } catch let error as AttachmentError {
                #expect([.corrupt, .undecodable].contains(error.code), "\(name): \(error)")
            }
        }
    }

    @Test(arguments: [0, 0xff])
    func `what fills a JPEG up behind its last row is no damage`(byte: Int) throws {
        let file = directory.url.appending(path: "filled.jpg")
        var data = try Data(contentsOf: source("baseline.jpg"))
        data.insert(contentsOf: [UInt8](repeating: UInt8(byte), count: 40), at: data.count - 2)
        try data.write(to: file)
        #expect(try Rendered.of(file, in: directory.url).ending.losses == [])
    }

    @Test func `a WebP whose transparency alone is damaged is delivered without it`() throws {
        let file = directory.url.appending(path: "alpha.webp")
        try PictureJudge.run(
            """
            photo = Image.open(args[0]).convert('RGB'); photo.putalpha(photo.convert('L'))
            out = io.BytesIO(); photo.save(out, 'WEBP', quality=80)
            data = bytearray(out.getvalue()); at = data.index(b'ALPH'); Image.open(args[0]).save(args[1] + '.png')
            for i in range(at + 9, at + 60): data[i] ^= 0xa5
            open(args[1], 'wb').write(data)
            """, [source("baseline.jpg").path, file.path])
        let rendered = try Rendered.of(file, in: directory.url, profile: Self.profile(.refuse))
        #expect(rendered.ending.losses == [Finding(.notDecoded, .transparency)])
        let difference = try PictureJudge.difference(rendered.path(.main), file.path + ".png")
        #expect(difference.mean < 3 && difference.alpha == 0, "\(difference)")
    }

    @Test func `of a TIFF whose data is damaged nobody says that it ends too early`() throws {
        let file = directory.url.appending(path: "damaged.tiff")
        var data = try Data(contentsOf: source("deflate.tiff"))
        for index in 0..<64 { data[data.count / 2 + index] ^= 0x5a }
        try data.write(to: file)
        let refusal = try #require(try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.refuse)))
        #expect(refusal.code == .undecodable && refusal.finding?.part == .rows, "\(refusal.message)")
    }

    @Test func `a HEIC whose header claims other sides than its picture has is told so`() throws {
        let file = directory.url.appending(path: "sides.heic")
        var data = try Data(contentsOf: Repository.media.appending(path: "heic/coffee-gps.heic"))
        let place = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
        // Twice as wide.
        let width = data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } * 2
        for index in 0..<4 { data[place + index] = UInt8(truncatingIfNeeded: width >> (8 * (3 - index))) }
        try data.write(to: file)
        let refusal = try #require(try Rendered.refusal(of: file, in: directory.url))
        #expect(refusal.code == .undecodable, "\(refusal.message)")
    }

    @Test func `what only begins like an animated JPEG XL needs no newer library`() throws {
        let file = directory.url.appending(path: "noise.jxl")
        // Noise, of which the bit for animations is set.
        let noise: [UInt8] = [
            0xff, 0x0a, 0xac, 0xf4, 0x8e, 0xea, 0xf7, 0xc4, 0x46, 0xf5, 0x2b, 0x42, 0xc0, 0x5e, 0x9c, 0xe2,
        ]
        try Data(noise + [UInt8](repeating: 0, count: 300)).write(to: file)
        let refusal = try #require(try Rendered.refusal(of: file, in: directory.url))
        #expect(refusal.code == .undecodable, "\(refusal.message)")
    }

    @Test(
        arguments: [
            ("webp/cat.webp", 450 * 300), ("webp/lossless-alpha.webp", 300 * 200), ("webp/private.webp", 300 * 200),
        ])
    func `what a WebP claims to be is read from its header, for messages`(path: String, pixels: Int) throws {
        let data = try Data(contentsOf: Repository.media.appending(path: path))
        let announced = unsafe data.withUnsafeBytes { unsafe AnnouncedSize.pixels(.webp, $0) }
        #expect(announced == Int64(pixels))
    }

    @Test(arguments: ["baseline.jpg", "grey.jpg", "cmyk.jpg"])
    func `a JPEG whose end is zeros, as a download reserves them, lacks its rows`(whole: String) throws {
        let file = directory.url.appending(path: "reserved.jpg")
        let data = try Data(contentsOf: source(whole))
        for (share, isTaken) in [(0.5, false), (0.99, true)] {
            let kept = Int(Double(data.count) * share)
            try (data.prefix(kept) + Data(count: max(600, data.count - kept))).write(to: file)
            if let refusal = try Rendered.refusal(of: file, in: directory.url, profile: Self.profile(.refuse)) {
                #expect(!isTaken && refusal.finding?.code == .zeros, "\(refusal.message)")
            } else {
                let losses = try Rendered.of(file, in: directory.url, profile: Self.profile(.refuse)).ending.losses
                #expect(isTaken && losses.map(\.code) == [.zeros], "\(losses)")
            }
        }
        // Behind the end marker they mean nothing.
        try (data + Data(count: 4096)).write(to: file)
        #expect(try Rendered.of(file, in: directory.url).ending.losses == [])
    }
}
