import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// What is cut out is exactly what was asked for, in every orientation.
@Suite struct CropTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Every pixel says where it is; a photograph of odd sides says how it was scaled.
    private static let sources = Result {
        try SharedDirectory { directory in
            try PictureJudge.run(
                """
                os.chdir(args[0])
                def save(image, name):
                    image.save(name + '.png')
                    for orientation in range(1, 9):
                        image.save(f'{name}-{orientation}.tiff', tiffinfo={274: orientation}, compression='tiff_lzw')
                        image.save(f'{name}-{orientation}.jpg', quality=95, subsampling=0,
                            exif=b'Exif\\0\\0II*\\0\\x08\\0\\0\\0\\x01\\0\\x12\\x01\\x03\\0\\x01\\0\\0\\0' + bytes([orientation])
                            + b'\\0\\0\\0\\0\\0\\0\\0')
                y, x = np.mgrid[0:199, 0:301]
                save(Image.fromarray(np.stack([x & 255, y, (x >> 8) * 100], -1).astype(np.uint8)), 'places')
                save(Image.open(args[1]).convert('RGB').resize((597, 401), Image.LANCZOS), 'photo')
                """, [directory.path, Repository.media.appending(path: "jpeg/coffee.jpg").path])
        }
    }

    private func source(_ name: String) throws -> URL { try Self.sources.get().url.appending(path: name) }

    private func rendered(
        _ name: String, _ crop: Crop?, _ profile: Profile = PictureJudge.lossless(), clip: UnitRect? = nil
    ) throws -> Rendered {
        try Rendered.of(
            try source(name), in: directory.url, profile: profile,
            request: RenditionRequest(crop: crop, thumbnailClippingRect: clip))
    }

    static let rects = [
        UnitRect(x: 0, y: 0, width: 1, height: 1), UnitRect(x: 0, y: 0, width: 0.001, height: 0.001),
        UnitRect(x: 0.999, y: 0.999, width: 0.001, height: 0.001),
        UnitRect(x: 0.25, y: 0.125, width: 0.5, height: 0.75),
        UnitRect(x: 0.31, y: 0, width: 0.011, height: 1), UnitRect(x: 0, y: 0.62, width: 1, height: 0.017),
        UnitRect(x: 0.5, y: 0.5, width: 0.5, height: 0.5),
    ]

    @Test(arguments: 1...8)
    func `a rectangle is cut to the pixel, whatever the orientation`(orientation: Int) throws {
        let files = try Self.rects.map { try rendered("places-\(orientation).tiff", .rect($0)).path(.main) }
        let numbers = Self.rects.flatMap { [$0.x, $0.y, $0.width, $0.height] }.map { "\($0)" }
        let lines = try PictureJudge.run(
            """
            whole = upright(Image.open(args[0]), int(args[-1]))
            files, numbers = args[1:8], [float(x) for x in args[8:-1]]
            for i, file in enumerate(files):
                x, y, w, h = numbers[4 * i:4 * i + 4]
                def span(start, length, whole):
                    first = min(max(0, math.floor(start * whole + 0.5)), whole - 1)
                    return first, min(max(first + 1, math.floor((start + length) * whole + 0.5)), whole)
                (l, r), (t, b) = span(x, w, whole.width), span(y, h, whole.height)
                cut, ours = rgb(whole.crop((l, t, r, b))), rgb(Image.open(file))
                say('same' if cut.shape == ours.shape and (cut == ours).all() else f'{cut.shape} {ours.shape} {i}')
            """, [try source("places.png").path] + files + numbers + ["\(orientation)"])
        #expect(lines == [String](repeating: "same", count: Self.rects.count))
    }

    @Test(arguments: ["tiff", "jpg"])
    func `a rectangle is scaled as if it had been cut out before`(type: String) throws {
        // Of a JPEG, the decoder scales by 2 and 4, so that the rectangle's edges lie within pixels.
        let rect = UnitRect(x: 0.127, y: 0.231, width: 0.713, height: 0.519)
        for side in type == "tiff" ? [143, 31] : [143, 57] {
            let profile = PictureJudge.lossless(side: side)
            let files = try (1...8).map { try rendered("photo-\($0).\(type)", .rect(rect), profile).path(.main) }
            let lines = try PictureJudge.run(
                """
                for orientation in range(1, 9):
                    whole = upright(Image.open(args[0]), orientation)
                    ours = rgb(Image.open(args[orientation]))
                    def edge(part, whole): return math.floor(part * whole + 0.5)
                    cut = whole.crop((edge(0.127, whole.width), edge(0.231, whole.height),
                        edge(0.84, whole.width), edge(0.75, whole.height)))
                    say(psnr(lanczos(cut, (ours.shape[1], ours.shape[0])), ours))
                """, [try source(type == "tiff" ? "photo.png" : "photo-1.jpg").path] + files)
            let values = lines.compactMap(Double.init)
            #expect(values.count == 8)
            // A shift by a quarter of a pixel leaves under 30 dB of a photograph. At its rim, which is a good part of the
            // smallest, libvips repeats the last pixel, and Pillow weighs those that there are.
            #expect(values.allSatisfy { $0 > (type == "jpg" ? 36 : side > 100 ? 55 : 50) }, "\(side): \(values)")
        }
    }

    @Test(arguments: [(0.0, 0.0), (0.37, 0.5), (0.5, 0.21), (1.0, 1.0)])
    func `a square lies around the focal point, as far as the edges allow`(x: Double, y: Double) throws {
        let clip = UnitRect(x: 0.25, y: 0.25, width: 0.5, height: 0.5)
        for orientation in [1, 6] {
            let name = "photo-\(orientation).tiff"
            let made = try rendered(
                name, .focalPoint(x: x, y: y), PictureJudge.lossless(side: 128, fit: .crop), clip: clip)
            let lines = try PictureJudge.run(
                """
                whole = upright(Image.open(args[0]), int(args[4])); x, y = float(args[2]), float(args[3])
                scale = 128 / min(whole.size)
                size = tuple(math.floor(s * scale + 0.5) for s in whole.size)
                left, top = (min(max(0, math.floor(p * s - 64 + 0.5)), s - 128) for p, s in zip((x, y), size))
                expected = lanczos(whole, size)[top:top + 128, left:left + 128]
                say(psnr(expected, rgb(Image.open(args[1]))))
                l, t = max(0, (0.25 * size[0] - left) / 128), max(0, (0.25 * size[1] - top) / 128)
                r, b = min(1, (0.75 * size[0] - left) / 128), min(1, (0.75 * size[1] - top) / 128)
                say(l, t, r - l, b - t)
                """, [try source("photo.png").path, made.path(.main), "\(x)", "\(y)", "\(orientation)"])
            #expect(try #require(Double(lines[0])) > 55)
            let mapped = try #require(made.ending.thumbnailClippingRect)
            let expected = lines[1].split(separator: " ").compactMap { Double($0) }
            let actual = [mapped.x, mapped.y, mapped.width, mapped.height]
            #expect(zip(expected, actual).allSatisfy { abs($0 - $1) < 1e-9 } && expected.count == 4, "\(mapped)")
        }
    }

    @Test func `attention and the middle cut squares out of the scaled picture, no other pixels`() throws {
        let profile = PictureJudge.lossless(side: 120, fit: .crop)
        let clip = UnitRect(x: 0, y: 0, width: 1, height: 1)
        let centre = try rendered("photo-8.tiff", .centre, profile, clip: clip)
        let attention = try rendered("photo-8.tiff", .attention, profile, clip: clip)
        let lines = try PictureJudge.run(
            """
            whole = upright(Image.open(args[0]), 8)
            scale = 120 / min(whole.size)
            size = tuple(math.floor(s * scale + 0.5) for s in whole.size)
            expected = lanczos(whole, size)
            for file in args[1:]:
                ours = rgb(Image.open(file))
                found = [psnr(expected[top:top + 120, :120], ours) for top in range(size[1] - 119)]
                say(int(np.argmax(found)), max(found), size[1] - 120)
            """, [try source("photo.png").path, centre.path(.main), attention.path(.main)])
        let values = lines.map { $0.split(separator: " ").compactMap { Double($0) } }
        #expect(values.count == 2 && values.allSatisfy { $0[1] > 55 })
        #expect(abs(values[0][0] - values[0][2] / 2) <= 0.5)
        for made in [centre, attention] {
            #expect(made.ending.thumbnailClippingRect == UnitRect(x: 0, y: 0, width: 1, height: 1))
        }
    }

    @Test(arguments: [(2000, 3), (3, 2000), (1, 1500), (1500, 1), (70_000, 2)])
    func `a strip stays a strip of at least one pixel`(width: Int, height: Int) throws {
        let file = directory.url.appending(path: "strip.png")
        try PictureJudge.run(
            "Image.new('RGB', (int(args[1]), int(args[2])), (0x33, 0x66, 0x99)).save(args[0])",
            [file.path, "\(width)", "\(height)"])
        let made = try Rendered.of(file, in: directory.url, profile: PictureJudge.lossless(side: 256))
        let lines = try PictureJudge.run(
            "a = rgb(Image.open(args[0])); say(a.shape[1], a.shape[0], np.abs(a - [0x33, 0x66, 0x99]).max())",
            [made.path(.main)])
        let wide = max(1, Int((Double(width) * 256 / Double(max(width, height))).rounded()))
        let high = max(1, Int((Double(height) * 256 / Double(max(width, height))).rounded()))
        #expect(lines == ["\(wide) \(high) 0.0"])
    }
}
