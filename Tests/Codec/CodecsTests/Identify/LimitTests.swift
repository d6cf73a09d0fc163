import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// The limits of the design's section 4: what is at one is taken, what is above it is refused by name, and a refusal
/// costs next to nothing.
@Suite struct LimitTests: ~Copyable {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Of any refusal by a header: buffers of libraries, and the tables of one file.
    private static let modestMemory: Int64 = 64 << 20

    private borrowing func identified(_ files: LyingFiles) async throws -> [Survived] {
        let report = directory.url.appending(path: "report")
        await #expect(processExitsWith: .success) {
            [
                folder = files.folder as URL, names = files.names as [String], report = report as URL
            ] in
            try Survived.run(folder, names: names, renders: false, report: report)
        }
        let (survived, diedOn) = try Survived.read(report)
        #expect(diedOn == nil)
        #expect(survived.map(\.name) == files.names)
        return survived
    }

    @Test func `what is at a limit is taken, and what is above it is refused with the count and the limit`()
        async throws
    {
        let files = try LyingFiles("limits", in: directory.url)
        #expect(files.names.count >= 40)
        for one in try await identified(files) {
            let allowed = files.outcomes[one.name] ?? []
            #expect(one.isOne(of: allowed), "\(one.name): \(one.outcome), not \(allowed)")
            for number in one.outcome.split(separator: " ").dropFirst() {
                #expect(one.message.contains(number), "\(one.name): \(one.message)")
            }
            #expect(one.memory < Self.modestMemory * Survived.slack, "\(one.name) took \(one.memory) bytes")
        }
    }

    @Test(arguments: [true, false])
    func `a picture may be as long as the limit of sides, and not a pixel longer`(isWide: Bool) throws {
        let limit = Limits().side
        for length in [limit, limit + 1, 1 << 20] {
            let file = directory.url.appending(path: "long.png")
            try PictureJudge.run(
                """
                import struct, zlib
                w, h = int(args[1]), int(args[2])
                def chunk(tag, body):
                    return struct.pack('>I', len(body)) + tag + body + struct.pack('>I', zlib.crc32(tag + body))
                rows = (b'\\0' + bytes(range(256)) * (w // 256) + bytes(w % 256)) if h == 1 else b'\\0\\x80' * h
                open(args[0], 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 0, 0, 0, 0))
                    + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
                """, [file.path, "\(isWide ? length : 1)", "\(isWide ? 1 : length)"])
            if length == limit {
                let rendered = try Rendered.of(file, in: directory.url)
                let size = try #require(rendered.report(.main)?.size)
                #expect(min(size.width, size.height) == 1)
            } else {
                #expect(throws: AttachmentError.sideTooLong(pixels: length, limit: limit)) {
                    _ = try Rendered.of(file, in: directory.url)
                }
            }
        }
    }

    /// What the largest cameras of phones give: 108 and 200 megapixels.
    @Test(arguments: Sweep.of([(12_000, 9_000), (16_320, 12_240)], every: 2))
    func `a still may have as many pixels as any phone's`(width: Int, height: Int) throws {
        let file = directory.url.appending(path: "large.jpg")
        try Tool.run(
            "vips",
            [
                "embed", Repository.media.appending(path: "jpeg/coffee.jpg").path, file.path + "[Q=50]", "0", "0",
                "\(width)", "\(height)", "--extend", "repeat",
            ])
        var limits = Limits()
        limits.imageBytes = 1_000_000_000
        let rendered = try Rendered.of(file, in: directory.url, limits: limits)
        #expect(rendered.probeResult.size == PixelSize(width: width, height: height))
        #expect(try rendered.judged(.main).hasPrefix("JPEG 1038 "))
    }

    @Test func `a still that needs more memory than was granted is refused before it is decoded, with what it needs`()
        throws
    {
        let file = directory.url.appending(path: "coefficients.jpg")
        try PictureJudge.run(
            """
            Image.new('RGB', (64, 64)).save(args[0], quality=90, progressive=True, subsampling=0)
            data = bytearray(open(args[0], 'rb').read()); at = data.index(b'\\xff\\xc2') + 5
            data[at:at + 4] = (16000).to_bytes(2, 'big') * 2
            open(args[0], 'wb').write(data)
            """, [file.path])
        // All coefficients, two bytes each, of three samples for each of 256 million pixels.
        let refusal = try Rendered.refusal(of: file, in: directory.url)
        #expect(refusal?.code == .tooExpensive)
        let words = try #require(
            refusal?.message.firstMatch(of: /more memory \(some (\d+) MiB\) than the limit of 1024 MiB/))
        #expect((1464...2000).contains(try #require(Int(words.1))))
    }

    @Test func `what a library finds too large to open is told by its pixels`() throws {
        let file = directory.url.appending(path: "large.heic")
        try PictureJudge.run(
            """
            data = bytearray(open(args[1], 'rb').read()); at = data.index(b'ispe') + 8
            data[at:at + 8] = (17000).to_bytes(4, 'big') * 2
            open(args[0], 'wb').write(data)
            """, [file.path, Repository.media.appending(path: "heic/rotated.heic").path])
        let refusal = try Rendered.refusal(of: file, in: directory.url)
        #expect(refusal?.code == .tooExpensive)
        // Newer versions of libheif have higher limits than ours.
        #expect(
            refusal?.message.contains(/more memory \((for 289000000 pixels|some \d+ MiB)\) than/) == true,
            "\(refusal?.message ?? "")")
    }

    @Test func `a bomb of any format is refused before its memory is spent`() async throws {
        let files = try LyingFiles("bombs", in: directory.url)
        #expect(files.names.count > 30)
        for one in try await identified(files) {
            let allowed = files.outcomes[one.name] ?? []
            #expect(one.isOne(of: allowed), "\(one.name): \(one.outcome), not \(allowed)")
            // FFmpeg's H.264 decoder refuses only after it has taken some: half a byte of each pixel that is announced.
            let isH264 = one.name.contains("sequence") || one.name.contains("stream")
            let most = isH264 ? 2 * Self.modestMemory : Self.modestMemory
            #expect(one.memory < most * Survived.slack, "\(one.name) took \(one.memory) bytes")
            #expect(one.seconds < Double(Survived.slack), "\(one.name) took \(one.seconds) s")
        }
    }

    @Test(arguments: [
        ("image.jpg", "jpeg/odd.jpg", Int64(50_000_000)), ("image.bmp", "bmp/24-bit.bmp", 50_000_000),
        ("image.png", "png/animated.png", 50_000_000), ("clip.mp4", "mp4/film.mp4", 1_000_000_000),
        ("clip.wav", "wav/voice.wav", 1_000_000_000),
    ])
    func `a file over its kind's limit of bytes is refused by its size alone`(
        name: String, sample: String, limit: Int64
    ) throws {
        let file = directory.url.appending(path: name)
        try FileManager.default.copyItem(at: Repository.media.appending(path: sample), to: file)
        // What is added takes no room on the disk.
        for (bytes, isTaken) in [(limit, true), (limit + 1, false)] {
            #expect(unsafe truncate(file.path, off_t(bytes)) == 0)
            let error = try withDescriptor(file) { descriptor -> AttachmentError? in
                Rendered.turn.lock()
                defer { Rendered.turn.unlock() }
                try Codec.everything.prepare()
                do {
                    _ = try Codec.everything.identify(descriptor, order: WorkOrder(profile: .archive))
                    return nil
                } catch let error as AttachmentError {
                    return error
                }
            }
            if isTaken {
                #expect(error?.code != .sourceTooLarge)
            } else {
                #expect(error == .sourceTooLarge(bytes: bytes, limit: limit))
                #expect(error?.message.contains("\(bytes)") == true && error?.message.contains("\(limit)") == true)
            }
        }
    }

    @Test func `the command line takes clips of four gigabytes`() {
        #expect(Limits.commandLine.clipBytes == 4_000_000_000)
        #expect(Limits.service.clipBytes == 1_000_000_000)
        #expect(Limits.commandLine.imageBytes == 50_000_000)
    }
}
