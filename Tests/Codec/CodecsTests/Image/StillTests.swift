import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct StillTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func sample(_ path: String) -> URL { Repository.media.appending(path: path) }

    /// Makes a file with ImageMagick, an independent encoder.
    private func made(_ name: String, _ arguments: [String]) throws -> URL {
        let file = directory.url.appending(path: name)
        try Tool.run("convert", arguments + [file.path])
        return file
    }

    /// How alike two pictures are in sRGB, in decibels.
    private func likeness(_ file: String, _ other: String) throws -> Double {
        // ImageMagick 6 and 7 count decibels differently.
        let lines = try PictureJudge.run(
            """
            def shown(path):
                image = Image.open(path); profile = image.info.get('icc_profile')
                return rgb(ImageCms.profileToProfile(image, io.BytesIO(profile), ImageCms.createProfile('sRGB'),
                    renderingIntent=1) if profile else image)
            say(psnr(shown(args[0]), shown(args[1])))
            """, [file, other])
        return try #require(lines.first.flatMap { Double($0) })
    }

    /// A scratch file with ImageMagick's idea of a sample.
    private func expected(_ source: URL, _ arguments: [String]) throws -> String {
        let file = directory.url.appending(path: "expected-\(UUID().uuidString).png")
        try Tool.run("convert", [source.path + "[0]"] + arguments + [file.path])
        return file.path
    }

    @Test(arguments: 1...8)
    func `every orientation comes out upright`(orientation: Int) throws {
        let source = sample("jpeg/orientation-\(orientation).jpg")
        let rendered = try Rendered.of(source, in: directory.url)
        #expect(try rendered.judged(.main) == "JPEG 300 200|")
        let upright = try expected(source, ["-auto-orient"])
        #expect(try likeness(rendered.path(.main), upright) > 33)
        let note = rendered.probeResult.note
        #expect(note.contains("upright after") == (orientation != 1))
        if orientation == 6 { #expect(note == "JPEG, 300×200, upright after rotation by 90°") }
    }

    @Test(arguments: [
        "jpeg/progressive.jpg", "jpeg/444.jpg", "jpeg/grey.jpg", "png/16-bit-rgb.png", "png/16-bit-grey.png",
        "png/1-bit.png", "png/palette.png", "png/interlaced.png", "bmp/24-bit.bmp", "bmp/palette.bmp", "bmp/rle.bmp",
        "bmp/top-down.bmp", "tiff/16-bit.tiff", "tiff/lzw.tiff", "tiff/tiled.tiff", "tiff/multi-page.tiff",
        "gif/still.gif", "webp/cat.webp", "heic/10-bit.heic", "avif/rotated.avif",
    ])
    func `a picture looks as another decoder shows it`(path: String) throws {
        let rendered = try Rendered.of(sample(path), in: directory.url)
        let shown = try expected(sample(path), ["-auto-orient", "-colorspace", "sRGB", "-depth", "8", "-alpha", "off"])
        // The GIF is a test pattern of saturated edges, which JPEG blurs.
        #expect(try likeness(rendered.path(.main), shown) > (path == "gif/still.gif" ? 20 : 28))
    }

    @Test(arguments: [("jpeg/display-p3.jpg", 31.0), ("jpeg/adobe-rgb.jpg", 31.0), ("tiff/orientation-6.tiff", 31.0)])
    func `colours come out as those of the same picture in sRGB`(path: String, least: Double) throws {
        let rendered = try Rendered.of(sample(path), in: directory.url)
        let size = try #require(rendered.report(.main)?.size)
        let original = try expected(sample("jpeg/coffee.jpg"), ["-resize", "\(size.width)x\(size.height)!"])
        #expect(try likeness(rendered.path(.main), original) > least)
        #expect(try Tool.text("identify", ["-format", "%[colorspace] %z", rendered.path(.main)]) == "sRGB 8")
    }

    @Test func `CMYK becomes sRGB`() throws {
        let rendered = try Rendered.of(sample("jpeg/cmyk.jpg"), in: directory.url)
        #expect(try Tool.text("identify", ["-format", "%[colorspace] %m", rendered.path(.main)]) == "sRGB JPEG")
        let original = try expected(sample("jpeg/coffee.jpg"), ["-resize", "300x200!"])
        // Without a profile there is no one true conversion; an inverted one would be under 8.
        #expect(try likeness(rendered.path(.main), original) > 14)
    }

    @Test(arguments: [0, 5])
    func `what the only frame of a GIF does not cover is transparent, as browsers show it`(background: Int) throws {
        let file = directory.url.appending(path: "part.gif")
        try PictureJudge.run(
            """
            # A screen of 40 × 30 with a palette of 8 colours, and a frame of 10 × 8 at 12, 6 without transparency.
            import struct
            palette = bytes(v for i in range(8) for v in (i * 30, 255 - i * 30, 40))
            codes, bits, at = 0, 0, 0
            for pixel in [8] + sum(([p, 8] for p in [3] * 80), []) + [9]:
                codes |= pixel << at; at += 4
            data = codes.to_bytes((at + 7) // 8, 'little')
            open(args[0], 'wb').write(b'GIF89a' + struct.pack('<HHBBB', 40, 30, 0x82, int(args[1]), 0) + palette
                + b',' + struct.pack('<HHHHB', 12, 6, 10, 8, 0) + bytes([3, len(data)]) + data + b'\\0;')
            """, [file.path, "\(background)"])
        let rendered = try Rendered.of(file, in: directory.url, profile: PictureJudge.lossless())
        let answer = try PictureJudge.run(
            """
            pixels = load(args[0])
            inside = np.zeros(pixels.shape[:2], bool); inside[6:14, 12:22] = True
            say(pixels.shape[1], pixels.shape[0], (pixels[inside] == (90, 165, 40, 255)).all(), pixels[~inside][:, 3].max())
            """, [try rendered.path(.main)])
        #expect(answer == ["40 30 True 0"])
    }

    @Test func `transparency stays, and lends its hidden colour to no edge`() throws {
        // A white disc over hidden green: an edge that mixed with the hidden colour would be green.
        let source = try made(
            "disc.png",
            [
                "-size", "1200x1200", "xc:#00ff0000", "-fill", "white", "-draw", "circle 600,600 600,100", "-define",
                "png:color-type=6",
            ])
        let rendered = try Rendered.of(source, in: directory.url)
        #expect(try rendered.judged(.main) == "PNG 1038 1038|")
        let pixels = [UInt8](try Tool.run("convert", [rendered.path(.main), "-depth", "8", "rgba:-"]))
        let coloured = stride(from: 0, to: pixels.count, by: 4).filter { at in
            pixels[at + 3] > 4 && pixels[at..<at + 3].contains { $0 < 250 }
        }
        #expect(coloured.isEmpty)
        #expect(pixels[3] == 0)
    }

    @Test func `a picture whose alpha is opaque becomes JPEG`() throws {
        let source = try made(
            "opaque.png",
            [
                Repository.media.appending(path: "jpeg/coffee.jpg").path, "-resize", "300x200!", "-alpha", "on",
                "-define", "png:color-type=6",
            ])
        #expect(try Rendered.of(source, in: directory.url).judged(.main) == "JPEG 300 200|")
    }

    @Test func `transparency is laid over the background where no type has it`() throws {
        let source = try made("clear.png", ["-size", "64x64", "xc:#ff000000", "-define", "png:color-type=6"])
        var profile = Profile.notification
        profile.image?.types = [.jpeg]
        profile.image?.background = "#0000ff"
        let rendered = try Rendered.of(source, in: directory.url, profile: profile)
        #expect(try rendered.judged(.main) == "JPEG 64 64|")
        let colour = try Tool.text(
            "convert",
            [rendered.path(.main), "-resize", "1x1!", "-format", "%[fx:int(255*b)] %[fx:int(255*r)]", "info:"])
        #expect(colour == "254 0" || colour == "255 0")
        #expect(rendered.report(.main)?.note.contains(", transparency laid over #0000ff; ") == true)
    }

    @Test func `a profile that allows WebP gets transparency as WebP`() throws {
        let rendered = try Rendered.of(sample("png/alpha.png"), in: directory.url, profile: .message)
        #expect(rendered.report(.main)?.type == .webp)
        #expect(try rendered.judged(.main) == "WEBP 300 200|")
    }

    @Test func `twelve megapixels become 1038 and 256 pixels`() throws {
        let source = sample("jpeg/earth-12-megapixels.jpg")
        let rendered = try Rendered.of(source, in: directory.url)
        #expect(try rendered.judged(.main) == "JPEG 1038 779|")
        #expect(try rendered.judged(.thumbnail) == "JPEG 256 256|")
        let small = try expected(source, ["-auto-orient", "-filter", "Lanczos", "-resize", "1038x779!"])
        #expect(try likeness(rendered.path(.main), small) > 33)
    }

    @Test func `a panorama's square thumbnail comes from the source, not from the narrow main rendition`() throws {
        let rendered = try Rendered.of(sample("jpeg/panorama.jpg"), in: directory.url)
        #expect(try rendered.judged(.main) == "JPEG 1038 21|")
        #expect(try rendered.judged(.thumbnail) == "JPEG 80 80|")
    }

    // MARK: Crops

    /// Four quarters: red, green; blue, white.
    private func quarters() throws -> URL {
        try made(
            "quarters.png",
            [
                "-size", "400x300", "xc:red", "xc:#00ff00", "+append", "(", "-size", "400x300", "xc:blue", "xc:white",
                "+append", ")", "-append",
            ])
    }

    private func colour(_ file: String) throws -> String {
        try Tool.text(
            "convert",
            [
                file, "-gravity", "center", "-crop", "1x1+0+0", "-depth", "8", "-format",
                "%[fx:r>0.5]%[fx:g>0.5]%[fx:b>0.5]", "info:",
            ])
    }

    @Test(arguments: [
        (UnitRect(x: 0, y: 0, width: 0.5, height: 0.5), "100"),
        (UnitRect(x: 0.5, y: 0, width: 0.5, height: 0.5), "010"),
        (UnitRect(x: 0, y: 0.5, width: 0.5, height: 0.5), "001"),
        (UnitRect(x: 0.5, y: 0.5, width: 0.5, height: 0.5), "111"),
    ])
    func `a rectangle is cut out of the source before anything else`(rect: UnitRect, colours: String) throws {
        let request = RenditionRequest(
            crop: .rect(rect), thumbnailClippingRect: UnitRect(x: rect.x + 0.25, y: rect.y, width: 0.25, height: 0.25))
        let rendered = try Rendered.of(try quarters(), in: directory.url, request: request)
        #expect(try rendered.judged(.main) == "PNG 400 300|")
        #expect(try colour(try rendered.path(.main)) == colours)
        #expect(try colour(try rendered.path(.thumbnail)) == colours)
        #expect(rendered.ending.thumbnailClippingRect == UnitRect(x: 0.5, y: 0, width: 0.5, height: 0.5))
    }

    @Test(arguments: [(0.1, "100"), (0.9, "010")])
    func `a square is taken as near to the focal point as the edges allow`(x: Double, colours: String) throws {
        let source = try made("wide.png", ["-size", "400x200", "xc:red", "xc:#00ff00", "+append"])
        let request = RenditionRequest(crop: .focalPoint(x: x, y: 0.5))
        let rendered = try Rendered.of(source, in: directory.url, profile: .avatar, request: request)
        #expect(try rendered.judged(.main) == "PNG 200 200|")
        #expect(try colour(try rendered.path(.main)) == colours)
    }

    @Test func `attention finds what stands out`() throws {
        // One saturated, detailed patch at the far right of a grey field.
        let source = try made(
            "patch.png",
            [
                "-size", "1200x300", "xc:grey50", "-colorspace", "sRGB", "(", "-size", "160x160", "plasma:red-yellow",
                ")", "-geometry", "+1000+70", "-composite",
            ])
        let rendered = try Rendered.of(source, in: directory.url, profile: .avatar)
        let saturation = try PictureJudge.run(
            "say(np.asarray(Image.open(args[0]).convert('RGB').convert('HSV'))[..., 1].mean() / 255)",
            [rendered.path(.main)])
        #expect(try #require(saturation.first.flatMap { Double($0) }) > 0.05)
    }

    // MARK: Bytes

    @Test func `an aim is met by quality, and the note says so`() throws {
        let source = try made("noise.png", ["-size", "900x900", "xc:grey", "-seed", "1", "+noise", "Random"])
        var profile = Profile.notification
        profile.image?.aim = 300_000
        let rendered = try Rendered.of(source, in: directory.url, profile: profile)
        let report = try #require(rendered.report(.main))
        #expect(report.bytes > 300_000)
        #expect(
            report.note.contains("over the aim of 300000 bytes because quality 50 is the profile's lowest;"),
            "\(report.note)")
        #expect(report.note.hasPrefix("JPEG quality 50, \(report.encodes) encodes, "))
        profile.image?.aim = 450_000
        let met = try #require(try Rendered.of(source, in: directory.url, profile: profile).report(.main))
        #expect(met.bytes <= 450_000)
        #expect(met.note.contains(" at 82 were over the aim of 450000;"), "\(met.note)")
        let easy = try Rendered.of(sample("jpeg/coffee.jpg"), in: directory.url)
        #expect(
            easy.report(.main)?.note
                == "kept: JPEG coded anew without loss, under the aim of 500000 bytes; 600×400 as it is, not over 1038")
    }

    @Test func `what cannot be made small enough at its fixed resolution is refused with its cap`() throws {
        let source = try made("noise.png", ["-size", "900x900", "xc:grey", "-seed", "1", "+noise", "Random"])
        var profile = Profile.archive
        profile.image?.cap = 2_000
        let error = try Rendered.refusal(of: source, in: directory.url, profile: profile)
        guard case .capUnreachable("main", _, 2_000, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    // MARK: Private

    @Test(arguments: [
        "jpeg/private.jpg", "jpeg/motion-photo.jpg", "heic/coffee-gps.heic", "png/private.png", "webp/private.webp",
        "gif/private.gif",
    ])
    func `no metadata and nothing behind the end survives`(path: String) throws {
        let source = sample(path)
        #expect(try Data(contentsOf: source).range(of: Data("SATCHEL-CANARY".utf8)) != nil)
        for profile in [Profile.notification, .message, .archive] {
            let rendered = try Rendered.of(source, in: directory.url, profile: profile)
            for role in rendered.probeResult.planned {
                let file = try #require(rendered.files[role])
                #expect(try Data(contentsOf: file).range(of: Data("SATCHEL-CANARY".utf8)) == nil)
                let groups = try Tool.text("exiftool", ["-j", "-G0", "-a", file.path])
                for group in ["EXIF:", "XMP:", "IPTC:", "MakerNotes:", "ICC_Profile:", "Photoshop:", "Trailer"] {
                    #expect(!groups.contains(group), "\(groups)")
                }
            }
        }
    }

    // MARK: Refusals

    @Test func `limits are checked before pixels`() throws {
        var limits = Limits()
        limits.stillPixels = 59_999
        #expect(
            try Rendered.refusal(of: sample("jpeg/orientation-1.jpg"), in: directory.url, limits: limits)
                == .tooManyPixels(pixels: 60_000, limit: 59_999))
        limits = Limits()
        limits.imageBytes = 1000
        let error = try Rendered.refusal(of: sample("jpeg/coffee.jpg"), in: directory.url, limits: limits)
        #expect(error?.code == .sourceTooLarge)
    }

    @Test func `a kind that the profile doesn't take is refused`() throws {
        var profile = Profile.notification
        profile.image = nil
        #expect(
            try Rendered.refusal(of: sample("jpeg/coffee.jpg"), in: directory.url, profile: profile)
                == .unacceptedKind(kind: .image, profile: "notification"))
    }

    @Test(arguments: ["trouble/empty.jpg", "trouble/document.pdf", "trouble/binary.dat"])
    func `what is no accepted picture is not recognised`(path: String) throws {
        let error = try Rendered.refusal(of: sample(path), in: directory.url)
        #expect(error?.code == .unrecognizedType)
    }

    @Test(
        arguments: [0.3, 0.6, 0.9],
        [
            "jpeg/coffee.jpg", "png/coffee.png", "webp/cat.webp", "heic/coffee-gps.heic", "avif/coffee.avif",
            "jxl/coffee.jxl", "tiff/lzw.tiff", "gif/film.gif", "bmp/24-bit.bmp",
        ])
    func `a file that ends early is corrupt, not grey`(part: Double, path: String) throws {
        let whole = try Data(contentsOf: sample(path))
        let file = directory.url.appending(path: "cut")
        try whole.prefix(Int(Double(whole.count) * part)).write(to: file)
        let error = try Rendered.refusal(of: file, in: directory.url)
        // Bare JPEG XL doesn't say how long it is.
        #expect(error?.code == (path.hasSuffix("jxl") ? .undecodable : .corrupt), "\(String(describing: error))")
    }
}
