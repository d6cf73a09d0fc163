import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

@Suite struct FrameReaderTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test(arguments: ["rgb24", "pal8", "bgra"])
    func `a BMP's pixels are those that ImageMagick reads`(format: String) throws {
        let source = directory.url.appending(path: "still.bmp")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=37x23", "-frames:v", "1", "-pix_fmt",
                format == "rgb24" ? "bgr24" : format,
            ],
            to: source)
        let expected = [UInt8](try Tool.run("convert", [source.path, "-depth", "8", "rgba:-"]))
        let pictures = try pictures(of: source, .bmp)
        #expect(pictures == [expected])
    }

    @Test func `an APNG's frames are those it was made of`() throws {
        let source = directory.url.appending(path: "moving.png")
        try Tool.ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc=size=40x30:rate=8:duration=1", "-plays", "3", "-pix_fmt", "rgba", "-f",
                "apng",
            ],
            to: source)
        let raw = [UInt8](
            try Tool.run(
                "ffmpeg",
                [
                    "-v", "error", "-f", "lavfi", "-i", "testsrc=size=40x30:rate=8:duration=1", "-pix_fmt", "rgba",
                    "-f", "rawvideo", "-",
                ]))
        let pictures = try pictures(of: source, .apng)
        #expect(pictures.flatMap { $0 } == raw)
        #expect(pictures.count == 8)
    }

    @Test func `a still PNG is no APNG, and a PNG no BMP`() throws {
        let source = directory.url.appending(path: "still.png")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "testsrc=size=16x16", "-frames:v", "1"], to: source)
        try withDescriptor(source) { descriptor in
            Rendered.turn.lock()
            defer { Rendered.turn.unlock() }
            let animation = try FrameReader.open(descriptor, format: .apng, limits: .service)
            let isAnimation = animation != nil
            #expect(!isAnimation)
            let bitmap = try FrameReader.open(descriptor, format: .bmp, limits: .service)
            let isBitmap = bitmap != nil
            #expect(!isBitmap)
        }
    }

    @Test func `a BMP that promises too many pixels is refused by its header`() throws {
        let source = directory.url.appending(path: "huge.bmp")
        try Tool.ffmpeg(["-f", "lavfi", "-i", "testsrc=size=16x16", "-frames:v", "1"], to: source)
        var data = try Data(contentsOf: source)
        data.replaceSubrange(18..<26, with: [0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00])
        try data.write(to: source)
        #expect(throws: AttachmentError.tooManyPixels(pixels: 65536 * 65536, limit: Limits.service.framePixels)) {
            try pictures(of: source, .bmp)
        }
    }

    @Test func `an APNG that ends early gives the frames it has`() throws {
        let source = directory.url.appending(path: "cut.png")
        try Tool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc=size=64x64:rate=8:duration=2", "-pix_fmt", "rgb24", "-f", "apng"], to: source
        )
        let data = try Data(contentsOf: source)
        try data.prefix(data.count / 2).write(to: source)
        let count = try pictures(of: source, .apng).count
        #expect(count > 3 && count < 16)
    }

    private borrowing func pictures(of url: URL, _ format: FrameReader.Format) throws -> [[UInt8]] {
        try withDescriptor(url) { descriptor in
            Rendered.turn.lock()
            defer { Rendered.turn.unlock() }
            guard let reader = try FrameReader.open(descriptor, format: format, limits: .service) else { return [] }
            var pictures: [[UInt8]] = []
            while let picture = try reader.next() { pictures.append(picture) }
            return pictures
        }
    }
}
