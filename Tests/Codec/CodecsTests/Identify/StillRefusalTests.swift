import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Pictures that are whole and not taken: they are named, and nobody is asked to send them again.
@Suite struct StillRefusalTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let prelude = """
        import struct
        def tiff(name, order, make, entries, below=None, magic=None):
            # One directory, and one below it, of (tag, type, value); a preview of 16 by 16 pixels.
            e = '<' if order == b'II' else '>'
            def directory(at, entries):
                text = make.encode() + b'\\0'
                end = at + 2 + 12 * len(entries) + 4
                out, more = struct.pack(e + 'H', len(entries)), b''
                for tag, kind, value in sorted(entries):
                    if kind == 2:
                        out += struct.pack(e + 'HHII', tag, 2, len(text), end + len(more)); more += text
                    elif kind == 3: out += struct.pack(e + 'HHIHH', tag, 3, 1, value, 0)
                    else: out += struct.pack(e + 'HHII', tag, kind, 1, value)
                return out + bytes(4) + more
            preview = [(254, 4, 1), (256, 3, 16), (257, 3, 16), (258, 3, 8), (259, 3, 1), (262, 3, 1), (271, 2, 0),
                (273, 4, 8), (277, 3, 1), (278, 3, 16), (279, 4, 256)] + entries
            first = 8 + 256
            if below:
                at = first + len(directory(first, preview + [(330, 4, 0)]))
                body = directory(first, preview + [(330, 4, at)]) + directory(at, below)
            else: body = directory(first, preview)
            open(f'{args[0]}/{name}', 'wb').write(order + (magic or struct.pack(e + 'H', 42))
                + struct.pack(e + 'I', first) + bytes(range(256)) + body)

        """

    private func refusal(_ name: String, _ script: String) throws -> AttachmentError? {
        try PictureJudge.run(Self.prelude + script, [directory.path, Repository.media.path])
        return try Rendered.refusal(of: directory.url.appending(path: name), in: directory.url)
    }

    @Test(
        arguments: [
            ("a Nikon", "tiff('f', b'MM', 'NIKON CORPORATION', [], [(256, 3, 99), (262, 3, 32803), (259, 3, 34713)])"),
            ("a Sony", "tiff('f', b'II', 'SONY', [], [(256, 3, 99), (262, 3, 32803), (259, 3, 32767)])"),
            ("an Apple", "tiff('f', b'II', 'Apple', [(50706, 1, 4)], [(262, 3, 34892), (259, 3, 7)])"),
            ("a", "tiff('f', b'II', 'Phone', [(50706, 1, 4)])"),
            ("a Canon", "open(args[0] + '/f', 'wb').write(b'II*\\0\\x10\\0\\0\\0CR\\2\\0' + bytes(4000))"),
            ("a Canon", "open(args[0] + '/f', 'wb').write(b'\\0\\0\\0\\x18ftypcrx \\0\\0\\0\\1crx isom' + bytes(99))"),
            ("a Fujifilm", "open(args[0] + '/f', 'wb').write(b'FUJIFILMCCD-RAW 0201FF383501' + bytes(4000))"),
            ("an Olympus", "tiff('f', b'II', 'OLYMPUS', [], magic=b'RO')"),
            ("a Panasonic", "tiff('f', b'II', 'Panasonic', [], magic=b'U\\0')"),
        ])
    func `a RAW photograph is called one, whatever preview it has`(camera: String, script: String) throws {
        #expect(
            try refusal("f", script)
                == .unsupportedFeature(
                    reason: "this is \(camera) RAW photograph, which is not supported", advice: "Export it as JPEG."))
    }

    @Test func `a preview without a RAW photograph below it is a TIFF`() throws {
        #expect(try refusal("f", "tiff('f', b'II', 'NIKON CORPORATION', [])") == nil)
        #expect(try refusal("f", "tiff('f', b'MM', 'Canon', [])") == nil)
    }

    @Test(
        arguments: [
            (0xc3, 8, "lossless JPEG"), (0xc5, 8, "hierarchical JPEG"),
            (0xcb, 8, "lossless JPEG with arithmetic codes"),
            (0xf7, 8, "JPEG-LS"), (0xc1, 12, "JPEG with 12 bits a sample"), (0xc2, 12, "JPEG with 12 bits a sample"),
        ])
    func `a JPEG that libjpeg doesn't decode is named by its frame`(marker: Int, bits: Int, name: String) throws {
        let error = try refusal(
            "f",
            """
            data = bytearray(open(args[1] + '/jpeg/coffee.jpg', 'rb').read())
            at = data.index(b'\\xff\\xc0'); data[at + 1] = \(marker); data[at + 4] = \(bits)
            open(args[0] + '/f', 'wb').write(data)
            """)
        #expect(
            error
                == .unsupportedFeature(
                    reason: "this is \(name), which is not supported", advice: "Convert it to JPEG or PNG."))
    }

    @Test func `a JPEG with arithmetic codes is taken`() throws {
        let file = directory.url.appending(path: "arithmetic.jpg")
        try Tool.run(
            "jpegtran",
            ["-arithmetic", "-outfile", file.path, Repository.media.appending(path: "jpeg/coffee.jpg").path])
        let rendered = try Rendered.of(file, in: directory.url)
        #expect(try rendered.judged(.main) == "JPEG 600 400|")
    }

    @Test(
        arguments: [
            ("a JPEG 2000 picture", "Image.new('RGB', (64, 64)).save(args[0] + '/f', 'JPEG2000', no_jp2=False)"),
            ("a JPEG 2000 picture", "Image.new('RGB', (64, 64)).save(args[0] + '/f', 'JPEG2000', no_jp2=True)"),
            ("a Photoshop document", "begin(b'8BPS\\0\\1')"), ("an OpenEXR picture", "begin(b'v/1\\1\\2')"),
            ("a Radiance HDR picture", "begin(b'#?RADIANCE\\n')"),
            ("a BMP that holds a JPEG", "bmp(40, 24, 4)"), ("a BMP that holds a PNG", "bmp(40, 0, 5)"),
            ("a BMP of OS/2 with Huffman codes", "bmp(64, 1, 3)"),
            ("a BMP of OS/2 with run lengths of 24 bits", "bmp(64, 24, 4)"),
            ("a BMP with 64 bits a pixel", "bmp(40, 64, 0)"),
            ("a BMP without its file header", "bmp(40, 24, 0, 14)"),
            ("a BMP without its file header", "bmp(40, 8, 0, 14)"),
        ])
    func `another format is named`(name: String, script: String) throws {
        let error = try refusal(
            "f",
            """
            def begin(sign): open(args[0] + '/f', 'wb').write(sign + bytes(4096))
            def bmp(header, bits, compression, start=0):
                data = b'BM' + struct.pack('<IHHI', 4096, 0, 0, 200) + struct.pack(
                    '<IiiHHIIiiII', header, 16, 16, 1, bits, compression, 0, 0, 0, 0, 0) + bytes(4096)
                open(args[0] + '/f', 'wb').write(data[start:])
            \(script)
            """)
        #expect(
            error
                == .unsupportedFeature(
                    reason: "this is \(name), which is not supported", advice: "Convert it to JPEG or PNG."))
    }

    @Test(
        arguments: [
            ("a QOI picture", "ffmpeg('qoi')"),
            ("a Windows icon", "Image.new('RGB', (32, 32)).save(args[0] + '/f', 'ICO')"),
            (
                "a Windows cursor",
                """
                Image.new('RGB', (32, 32)).save(args[0] + '/f', 'ICO', bitmap_format='bmp')
                data = bytearray(open(args[0] + '/f', 'rb').read()); data[2] = 2; data[10:14] = bytes(4)
                open(args[0] + '/f', 'wb').write(data)
                """
            ),
            ("a macOS icon", "Image.new('RGB', (32, 32)).save(args[0] + '/f', 'ICNS')"),
            ("a Targa picture", "Image.open(photo).save(args[0] + '/f', 'TGA')"),
            ("a PCX picture", "Image.open(photo).save(args[0] + '/f', 'PCX')"),
            ("a Netpbm picture", "Image.open(photo).save(args[0] + '/f', 'PPM')"),
            ("a Netpbm picture", "Image.open(photo).convert('1').save(args[0] + '/f', 'PPM')"),
            ("a Netpbm picture", "ffmpeg('pam')"),
            ("a DDS texture", "Image.open(photo).save(args[0] + '/f', 'DDS')"),
            (
                "a bare fax",
                "subprocess.run(['convert', '-size', '1728x40', 'xc:white', '-monochrome', 'fax:' + args[0] + '/f'], check=True)"
            ),
            ("a FITS picture", "ffmpeg('fits')"), ("an X pixmap", "magick('xpm')"),
            ("a DICOM picture", "begin(bytes(128) + b'DICM')"), ("a GIMP picture", "begin(b'gimp xcf v011\\0')"),
            ("a KTX texture", "begin(b'\\xabKTX 20\\xbb\\r\\n\\x1a\\n')"), ("a DjVu scan", "begin(b'AT&TFORM')"),
            (
                "a JPEG wrapped up by an old Macintosh (MacBinary)",
                "begin(b'\\0\\x09photo.jpg'.ljust(65, b'\\0') + b'JPEG' + bytes(59) + open(jpeg, 'rb').read())"
            ),
            (
                "a picture, sound or video written as text (Base64)",
                "begin(__import__('base64').encodebytes(open(jpeg, 'rb').read()))"
            ),
            (
                "a picture, sound or video written as text (Base64)",
                "begin(__import__('base64').encodebytes(open(photo, 'rb').read()))"
            ),
            (
                "a file written as text (uuencode)",
                "begin(b'begin 644 photo.jpg\\n' + __import__('binascii').b2a_uu(b'a' * 45))"
            ),
            ("an SVG drawing", "begin(open(args[1] + '/trouble/drawing.svg', 'rb').read())"),
            ("a PostScript drawing", "Image.open(photo).save(args[0] + '/f', 'EPS')"),
            ("a Lottie animation", "begin(b'{\"v\":\"5.5.2\",\"fr\":60,\"layers\":[]}')"),
        ])
    func `a picture of a type that isn't taken is never passed over`(name: String, script: String) throws {
        let error = try refusal(
            "f",
            """
            photo, jpeg = args[1] + '/png/coffee.png', args[1] + '/jpeg/coffee.jpg'
            def begin(data): open(args[0] + '/f', 'wb').write(data + (b'' if data[-1:] in b'\\n}' else bytes(4096)))
            def tool(kind, *call): subprocess.run(call, check=True); os.rename(args[0] + '/f.' + kind, args[0] + '/f')
            def ffmpeg(kind): tool(kind, 'ffmpeg', '-v', 'error', '-i', photo, args[0] + '/f.' + kind)
            def magick(kind): tool(kind, 'convert', photo, args[0] + '/f.' + kind)
            \(script)
            """)
        guard case .unsupportedFeature(let reason, let advice) = error else {
            Issue.record("\(name): \(error.map(\.description) ?? "it is taken")")
            return
        }
        #expect(reason == "this is \(name), which is not supported" && !advice.isEmpty)
    }

    @Test(
        arguments: [
            ("a PDF document", "begin(open(args[1] + '/trouble/document.pdf', 'rb').read())"),
            (
                "an encrypted PDF document",
                "begin(open(args[1] + '/trouble/document.pdf', 'rb').read().replace(b'/Size 4', b'/Size 4 /Encrypt 4 0 R'))"
            ),
            ("an archive", "begin(__import__('gzip').compress(b'text'))"),
            ("a playlist", "begin(b'#EXTM3U\\n#EXT-X-TARGETDURATION:10\\n#EXTINF:10,\\na.ts\\n')"),
            (
                "a web page, as servers also answer in place of a file",
                "begin(b'<!DOCTYPE html><html><body>404</body></html>')"
            ),
            (
                "an e-mail or a saved web page",
                "begin(b'Return-Path: <a@b.c>\\r\\nReceived: from x\\r\\nFrom: a@b.c\\r\\n\\r\\n')"
            ),
            ("a link to a page or a file", "begin(b'[InternetShortcut]\\r\\nURL=https://example.com/\\r\\n')"),
            ("a file of subtitles or song texts", "begin(b'WEBVTT\\n\\n00:01.000 --> 00:02.000\\nHello\\n')"),
            (
                "a file of nothing but zeros, as a copy or a download leaves it that was never filled",
                "begin(bytes(40000))"
            ),
            (
                "a file of one byte over and over, as a copy or a download leaves it that was never filled",
                "begin(b'\\xff' * 40000)"
            ),
        ])
    func `what is no media is called what it is`(name: String, script: String) throws {
        let error = try refusal("f", "def begin(data): open(args[0] + '/f', 'wb').write(data)\n\(script)")
        #expect(error?.code == .unrecognizedType)
        #expect(
            error?.message.hasPrefix("This is \(name), not a picture, sound or video. ") == true,
            "\(error?.message ?? "")")
    }

    @Test func `a PNG of an iOS app is named, and so is a JPEG without a number of rows`() throws {
        let png = try refusal(
            "f",
            """
            data = open(args[1] + '/png/coffee.png', 'rb').read()
            open(args[0] + '/f', 'wb').write(data[:8] + struct.pack('>I', 4) + b'CgBI' + bytes(8) + data[8:])
            """)
        #expect(
            png
                == .unsupportedFeature(
                    reason: "this is a PNG as Xcode packs it into iOS apps (CgBI), which is not supported",
                    advice: "Export it as an ordinary PNG."))
        let jpeg = try refusal(
            "f",
            """
            data = bytearray(open(args[1] + '/jpeg/coffee.jpg', 'rb').read())
            at = data.index(b'\\xff\\xc0'); data[at + 5:at + 7] = bytes(2)
            open(args[0] + '/f', 'wb').write(data)
            """)
        #expect(
            jpeg
                == .unsupportedFeature(
                    reason: "its header leaves open how many rows it has, which is not supported",
                    advice: "Convert it to JPEG or PNG."))
    }

    @Test(arguments: ["Memory allocation error: ", "Invalid input: "])
    func `a picture beyond a decoder's own limits isn't called damage`(kind: String) {
        let text = "heif: \(kind)Security limit exceeded: Image size 16384x12288 exceeds the maximum (6.1000)"
        #expect(VipsFailure(text: text).damage(of: "HEIC").code == .tooExpensive)
    }

    @Test func `a HEIF whose picture is coded as nothing that is taken is named`() throws {
        let error = try refusal(
            "f",
            """
            data = bytearray(open(args[1] + '/heic/coffee-gps.heic', 'rb').read())
            while b'hvc1' in data: data[data.index(b'hvc1'):data.index(b'hvc1') + 4] = b'vvc1'
            open(args[0] + '/f', 'wb').write(data)
            """)
        #expect(
            error
                == .unsupportedFeature(
                    reason: "its picture is H.266, which is not supported", advice: "Export it as JPEG."))
    }

    @Test func `what macOS notes beside a file isn't taken for the file`() throws {
        let error = try refusal(
            "f", "open(args[0] + '/f', 'wb').write(bytes([0, 5, 22, 7, 0, 2, 0, 0]) + b'Mac OS X' + bytes(99))")
        let notes = AttachmentError.unrecognizedType(sniffed: "multipart/appledouble")
        #expect(error == notes)
        #expect(notes.ofFile(named: "._IMG_0042.HEIC", declared: "image/heic").message.contains("'._'"))
    }

    // MARK: BMP

    /// Masks of red, green, blue and alpha, bits a pixel and bytes of the header.
    @Test(
        arguments: [
            (32, 124, [0xff0000, 0xff00, 0xff, 0xff00_0000]), (32, 108, [0xff00_0000, 0xff0000, 0xff00, 0xff]),
            (32, 124, [0xff, 0xff00, 0xff0000, 0]), (32, 56, [0xff0000, 0xff00, 0xff, 0xff00_0000]),
            (32, 40, [0xff0000, 0xff00, 0xff, 0]), (32, 124, [0x3ff0_0000, 0xffc00, 0x3ff, 0xc000_0000]),
            (16, 40, [0xf800, 0x7e0, 0x1f, 0]), (16, 124, [0x7c00, 0x3e0, 0x1f, 0x8000]),
            (16, 40, [0x7c00, 0x3e0, 0x1f, 0]), (16, 124, [0xf00, 0xf0, 0xf, 0xf000]),
        ])
    func `a BMP of any masks shows what they say`(bits: Int, header: Int, masks: [Int]) throws {
        let file = directory.url.appending(path: "masks.bmp")
        try PictureJudge.run(
            """
            import struct
            bits, header, masks = int(args[1]), int(args[2]), [int(m) for m in args[3:7]]
            rng = np.random.default_rng(3); w, h = 37, 21
            shown = np.zeros((h, w, 4), int); words = np.zeros((h, w), np.uint64)
            for c, mask in enumerate(masks):
                if not mask: shown[..., c] = 255; continue
                low = (mask & -mask).bit_length() - 1; most = mask >> low
                v = rng.integers(0, most + 1, (h, w)); v[0, 0] = most
                words |= v.astype(np.uint64) << np.uint64(low)
                shown[..., c] = np.rint(v * 255 / most)
            row = (w * bits + 31) // 32 * 4
            body = b''.join((words[y].astype('<u4' if bits == 32 else '<u2').tobytes()).ljust(row, b'\\0') for y in reversed(range(h)))
            dib = struct.pack('<IiiHHIIiiII', header, w, h, 1, bits, 3, len(body), 2835, 2835, 0, 0)
            dib += struct.pack('<4I', *masks) if header >= 56 else struct.pack('<3I', *masks[:3])
            if header > 56: dib = dib.ljust(header, b'\\0')
            open(args[0], 'wb').write(b'BM' + struct.pack('<IHHI', 14 + len(dib) + len(body), 0, 0, 14 + len(dib)) + dib + body)
            Image.fromarray(shown.astype(np.uint8), 'RGBA').save(args[0] + '.png')
            """, [file.path, "\(bits)", "\(header)"] + masks.map(String.init))
        let rendered = try Rendered.of(file, in: directory.url, profile: PictureJudge.lossless())
        #expect(rendered.ending.losses.isEmpty)
        let answer = try PictureJudge.run(
            """
            # What full transparency hides is cleared.
            a, b = load(args[0]), load(args[1]); seen = b[..., 3] > 0
            say(np.abs(a - b)[..., 3].max(), np.abs(a - b)[seen].max())
            """, [rendered.path(.main), file.path + ".png"])
        #expect(answer == ["0 0"])
        // ImageMagick reads the usual ones.
        if header == 124, masks[3] == 0xff00_0000 || (bits == 16 && masks[3] == 0x8000) {
            let other = directory.url.appending(path: "other.png")
            try Tool.run("convert", [file.path, other.path])
            #expect(try PictureJudge.difference(rendered.path(.main), other.path).most <= 1)
        }
    }

    @Test func `alpha that hides all of a BMP is not meant, and masks that overlap are not taken`() throws {
        let script = """
            dib = struct.pack('<IiiHHIIiiII', 124, 2, 1, 1, 32, 3, 8, 0, 0, 0, 0) + struct.pack('<4I', 0xff0000, MASK, 0xff, 0xff000000)
            open(args[0] + '/f', 'wb').write(b'BM' + struct.pack('<IHHI', 146, 0, 0, 138) + dib.ljust(124, b'\\0')
                + bytes([10, 20, 30, 0, 40, 50, 60, 0]))
            """
        #expect(try refusal("f", script.replacing("MASK", with: "0xff00")) == nil)
        let rendered = try Rendered.of(
            directory.url.appending(path: "f"), in: directory.url, profile: PictureJudge.lossless())
        let shown = try PictureJudge.run("say(load(args[0]).tolist())", [rendered.path(.main)])
        #expect(shown == ["[[[30, 20, 10, 255], [60, 50, 40, 255]]]"])
        for mask in ["0x1ff00", "0xf0f00"] {
            #expect(try refusal("f", script.replacing("MASK", with: mask))?.code == .unsupportedFeature)
        }
    }

    @Test func `a BMP of which the file holds no row is cut off, however large it would be`() throws {
        let error = try refusal(
            "f.bmp",
            """
            open(args[0] + '/f.bmp', 'wb').write(b'BM' + struct.pack('<IHHI', 4096, 0, 0, 54) + struct.pack(
                '<IiiHHIIiiII', 40, 16000, 12000, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(3000))
            """)
        #expect(error == .unreadable(Finding(.endsBefore, .picture, named: "BMP picture")))
    }

    // MARK: What is left out

    @Test func `pages and gain maps that are left out are noted, and nothing is lost by it`() throws {
        try PictureJudge.run(
            """
            import struct
            pages = [Image.new('RGB', (64, 48), c) for c in ('red', 'green', 'blue')]
            pages[0].save(args[0] + '/pages.tiff', save_all=True, append_images=pages[1:])
            pages[0].save(args[0] + '/eyes.jpg', 'MPO', save_all=True, append_images=pages[1:2])
            eyes = bytearray(open(args[0] + '/eyes.jpg', 'rb').read())
            start = eyes.index(b'MPF\\0') + 4
            at = start + struct.unpack_from('<I', eyes, start + 4)[0]
            fields = (struct.unpack_from('<HHII', eyes, at + 2 + 12 * n) for n in range(eyes[at]))
            # The second is a large thumbnail of the first (CIPA DC-007, table 4).
            struct.pack_into('<I', eyes, start + next(v for tag, _, _, v in fields if tag == 0xb002) + 16, 0x010001)
            open(args[0] + '/preview.jpg', 'wb').write(eyes)
            entries = [(256, 64), (257, 48), (258, 32), (259, 1), (262, 2), (273, 8), (277, 3), (278, 48), (279, 64 * 48 * 12), (339, 3)]
            open(args[0] + '/floats.tiff', 'wb').write(
                b'II*\\0' + struct.pack('<I', 8 + 64 * 48 * 12) + np.linspace(0, 4, 64 * 48 * 3, dtype='<f4').tobytes()
                + struct.pack('<H', len(entries)) + b''.join(struct.pack('<HHII', t, 4, 1, v) for t, v in entries) + bytes(4))
            data = open(args[1] + '/jpeg/coffee.jpg', 'rb').read()
            xmp = b'http://ns.adobe.com/xap/1.0/\\0<x:xmpmeta xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/>'
            iso = b'urn:iso:std:iso:ts:21496:-1\\0' + bytes(4)
            apple = b'<rdf:li>urn:com:apple:photo:2020:aux:hdrgainmap</rdf:li>'
            def segment(kind, body): return bytes([0xff, kind]) + struct.pack('>H', len(body) + 2) + body
            open(args[0] + '/webcam.jpg', 'wb').write(data * 3)
            open(args[0] + '/moving.jpg', 'wb').write(data + open(args[1] + '/mp4/one-frame.mp4', 'rb').read())
            for name, more, tail in [('adobe', segment(0xe1, xmp), b''), ('iso', segment(0xe2, iso), b''),
                ('apple', segment(0xe2, b'MPF\\0' + bytes(60)), b'\\xff\\xd8' + segment(0xe1, apple)),
                ('none', segment(0xe2, b'MPF\\0' + bytes(60)), b'')]:
                open(f'{args[0]}/{name}.jpg', 'wb').write(data[:2] + more + data[2:] + tail)
            """, [directory.path, Repository.media.path])
        for (name, omissions) in [
            ("pages.tiff", [Finding(.oneTaken, .pages, missing: 2, of: 3)]), ("adobe.jpg", [.gainMap]),
            ("iso.jpg", [.gainMap]), ("apple.jpg", [.gainMap]), ("none.jpg", []),
            ("eyes.jpg", [Finding(.oneTaken, .pictures, missing: 1, of: 2)]), ("preview.jpg", []),
            ("webcam.jpg", [Finding(.oneTaken, .pictures)]),
            ("moving.jpg", [Finding(.leftOut, .motion, named: "a still")]), ("floats.tiff", []),
        ] {
            let rendered = try Rendered.of(directory.url.appending(path: name), in: directory.url)
            #expect(rendered.ending.omissions == omissions, "\(name)")
            #expect(rendered.ending.changes == (name == "floats.tiff" ? [Finding(.clipped)] : []))
            #expect(rendered.ending.losses.isEmpty)
        }
    }

    @Test func `integers of 32 bits are shown by their share of the most there is`() throws {
        try PictureJudge.run(
            """
            import struct
            w, h = 64, 32
            ramp = (np.arange(w * h, dtype=np.uint64) * (2 ** 32 - 1) // (w * h - 1)).astype('<u4').reshape(h, w)
            entries = [(256, 4, w), (257, 4, h), (258, 3, 32), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, h),
                (279, 4, w * h * 4), (339, 3, 1)]
            data = ramp.tobytes()
            open(args[0] + '/f.tiff', 'wb').write(b'II*\\0' + struct.pack('<I', 8 + len(data)) + data + struct.pack('<H', len(entries))
                + b''.join(struct.pack('<HHII', t, k, 1, v) for t, k, v in entries) + bytes(4))
            """, [directory.path])
        let source = directory.url.appending(path: "f.tiff")
        let rendered = try Rendered.of(source, in: directory.url, profile: PictureJudge.lossless())
        let expected = directory.url.appending(path: "expected.png")
        try Tool.run("convert", [source.path, "-depth", "8", expected.path])
        let difference = try PictureJudge.difference(rendered.path(.main), expected.path)
        #expect(difference.most <= 1, "\(difference)")
    }
}
