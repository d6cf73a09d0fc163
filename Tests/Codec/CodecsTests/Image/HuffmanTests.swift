import CJPEG
import Foundation
import HuffmanFuzz
import TestSupport
import Testing

/// Our decoder of Huffman codes against libjpeg's, in whose place it is put.
@Suite struct HuffmanTests {
    init() {
        #expect(satchel_jpeg_use_own_huffman() == 1)
    }

    /// What comes of a file: the rows of all planes as far as there are, and why there are no more.
    private struct Decoded: Equatable {
        var rows: [[UInt8]] = []
        var result: Int32 = -1
        var message = ""
    }

    private func decode(_ bytes: [UInt8], shrink: Int32, plainly: Bool) throws -> Decoded {
        try unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress,
                let reader = unsafe satchel_jpeg_open(start, bytes.count, shrink, { 0 })
            else { throw CancellationError() }
            defer { unsafe satchel_jpeg_close(reader) }
            if plainly { unsafe satchel_jpeg_decode_plainly(reader) }
            var decoded = Decoded()
            decoded.result = unsafe satchel_jpeg_read_header(reader)
            var planes = [satchel_jpeg_plane](repeating: satchel_jpeg_plane(), count: 3)
            if decoded.result == 1 { decoded.result = unsafe satchel_jpeg_start(reader, 0, &planes) }
            var row: Int32 = 0
            while decoded.result == 0, row < planes[0].height {
                var (light, blue, red) = (
                    [UInt8](repeating: 0, count: planes[0].stride * Int(planes[0].rows)),
                    [UInt8](repeating: 0, count: planes[1].stride * Int(planes[1].rows)),
                    [UInt8](repeating: 0, count: planes[2].stride * Int(planes[2].rows))
                )
                decoded.result = unsafe satchel_jpeg_read(reader, &light, &blue, &red)
                if decoded.result == 0 { decoded.rows += [light, blue, red] }
                row += planes[0].rows
            }
            if decoded.result < 0 { decoded.message = unsafe String(cString: satchel_jpeg_message(reader)) }
            return decoded
        }
    }

    /// Light and shade, and noise, whose codes are of every length and have many bytes of 255; with the usual tables and with
    /// such as are made for them, with and without restarts, in every sampling that a camera has.
    private static let sources = Result {
        let directory = try TemporaryDirectory()
        let names = try PictureJudge.run(
            """
            noise = np.random.default_rng(7).integers(0, 256, (75, 139, 3)).astype(np.uint8)
            y, x = np.mgrid[0:131, 0:203]
            calm = np.dstack([128 + 90 * np.sin(x / 9) * np.cos(y / 14), y, x]).clip(0, 255).astype(np.uint8)
            count = 0
            for name, picture in [('noise', noise), ('calm', calm)]:
                Image.fromarray(picture).save(args[0] + '/' + name + '.ppm')
                for subsampling in ['off', 'on']:
                    for form in [[], ['--optimize-coding'], ['--restart-interval', '1'], ['--restart-interval', '5']]:
                        for quality in ['100', '60', '5']:
                            count += 1
                            subprocess.run(['vips', 'jpegsave', f'{args[0]}/{name}.ppm', f'{args[0]}/{count}.jpg', '--Q',
                                quality, '--subsample-mode', subsampling, *form], check=True)
                            say(f'{count}.jpg')
            """, [directory.path])
        return try names.map { [UInt8](try Data(contentsOf: directory.url.appending(path: $0))) }
    }

    @Test func `whole files come out the same to the bit`() throws {
        let sources = try Self.sources.get()
        #expect(sources.count == 48)
        for (index, source) in sources.enumerated() {
            for shrink: Int32 in [1, 2, 4, 8] {
                let ours = try decode(source, shrink: shrink, plainly: false)
                #expect(ours.result == 0 && !ours.rows.isEmpty)
                #expect(try decode(source, shrink: shrink, plainly: true) == ours, "\(index + 1).jpg at 1/\(shrink)")
            }
        }
    }

    @Test func `damaged files come out, or fail, the same to the bit`() throws {
        var random = SeededGenerator()
        var failures = 0
        for (index, source) in try Self.sources.get().enumerated() {
            for _ in 0..<25 {
                var damaged = source
                let edits = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    // Of the header less, which mostly decides alone.
                    let first = Int.random(in: 0..<4, using: &random) == 0 ? 2 : source.count / 4
                    return Edit(
                        kind: .random(in: 0..<6, using: &random), share: .random(in: 0..<1, using: &random), from: first
                    )
                }
                for edit in edits { edit.apply(to: &damaged) }
                let shrink: Int32 = [1, 2, 8].randomElement(using: &random) ?? 1
                let plain = try decode(damaged, shrink: shrink, plainly: true)
                if plain.result < 0 { failures += 1 }
                #expect(try decode(damaged, shrink: shrink, plainly: false) == plain, "\(index + 1).jpg: \(edits)")
            }
        }
        #expect((1..<1100).contains(failures), "\(failures) of 1,200 fail")
    }

    private func difference(_ file: [UInt8]) -> String? {
        guard let text = unsafe huffman_difference(file, file.count) else { return nil }
        return unsafe String(cString: text)
    }

    /// Bytes behind the last row that a reader tells of; nil where it fails.
    private func leftOver(_ bytes: [UInt8], plainly: Bool) throws -> Int? {
        try unsafe bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress, let reader = unsafe satchel_jpeg_open(start, bytes.count, 8, { 0 })
            else { throw CancellationError() }
            defer { unsafe satchel_jpeg_close(reader) }
            if plainly { unsafe satchel_jpeg_decode_plainly(reader) }
            var planes = [satchel_jpeg_plane](repeating: satchel_jpeg_plane(), count: 3)
            guard unsafe satchel_jpeg_read_header(reader) == 1, unsafe satchel_jpeg_start(reader, 0, &planes) == 0
            else { return nil }
            for _ in stride(from: 0, to: planes[0].height, by: Int(planes[0].rows)) {
                let rows = planes.map { [UInt8](repeating: 0, count: $0.stride * Int($0.rows)) }
                var (light, blue, red) = (rows[0], rows[1], rows[2])
                guard unsafe satchel_jpeg_read(reader, &light, &blue, &red) == 0 else { return nil }
            }
            guard unsafe satchel_jpeg_has_end(reader) == 1 else { return nil }
            return unsafe satchel_jpeg_left_over(reader)
        }
    }

    /// What may lie between the last row's data and the end marker.
    private struct Remains {
        var bytes: [UInt8]
        /// Of data, without what is stuffed; 0 of padding.
        var count: Int

        /// Nothing, and such as lies within what libjpeg reads ahead, within our window, and beyond it.
        static let all: [Remains] = {
            var all = [Remains(bytes: [], count: 0)]
            for count in [1, 2, 3, 7, 8, 9, 200, 2487, 2600, 32_768, 33_000, 70_000] {
                let stuffed = (0..<count).flatMap { _ in [0xff, 0] as [UInt8] }
                let last = [UInt8](repeating: 0, count: count - 1) + [0x55]
                all += [
                    Remains(bytes: [UInt8](repeating: 0x55, count: count), count: count),
                    Remains(bytes: [UInt8](repeating: 0, count: count), count: 0), Remains(bytes: stuffed, count: 0),
                    Remains(bytes: stuffed + [0x55], count: count + 1), Remains(bytes: last, count: count),
                    Remains(bytes: last.reversed(), count: count),
                ]
            }
            return all
        }()
    }

    @Test func `what is left over behind the last row is counted to the byte, and as libjpeg counts it`() throws {
        for source in Sweep.of(try Self.sources.get(), every: 8, from: 3) {
            #expect(source.suffix(2) == [0xff, 0xd9])
            for remains in Remains.all {
                let bytes = remains.bytes
                let file = Array(source.dropLast(2) + bytes + [0xff, 0xd9])
                let about = "\(bytes.count) bytes like \(bytes.prefix(4))… behind \(source.count)"
                #expect(try leftOver(file, plainly: false) == remains.count, "\(about)")
                // It has read up to seven bytes ahead, and counts what is stuffed.
                let plain = try #require(try leftOver(file, plainly: true), "\(about)")
                let isNear = remains.count > 0 && plain <= bytes.count && plain + 14 >= bytes.count
                #expect(plain == 0 || isNear, "\(about): \(plain)")
                #expect(difference(file) == nil, "\(about)")
            }
        }
    }

    @Test func `bytes of 255 of which only the last one is stuffed are no end of what is left over`() throws {
        for source in Sweep.of(try Self.sources.get(), every: 8, from: 5) {
            for zeros in [0, 3000, 40_000] {
                let rest = [UInt8](repeating: 0, count: zeros) + [0xff, 0xff, 0xff, 0, 0x55, 0x55]
                let file = Array(source.dropLast(2) + rest + [0xff, 0xd9])
                #expect(difference(file) == nil, "\(zeros) before them")
                let told = try leftOver(file, plainly: false)
                // libjpeg goes on where the file seems to end soon, and counts all four.
                #expect(try told == zeros + 3 || told == leftOver(file, plainly: true), "\(told ?? -1)")
            }
        }
    }

    /// One damage.
    private struct Edit {
        var kind: Int
        /// Where, from 0 to 1 of what lies behind `from`.
        var share: Double
        var from: Int

        func apply(to bytes: inout [UInt8]) {
            guard bytes.count > from + 8 else { return }
            let place = from + Int(share * Double(bytes.count - from - 4))
            switch kind {
            case 0: bytes[place] ^= 0x10
            case 1: bytes[place] = 0xff
            case 2: bytes.replaceSubrange(place..<place + 2, with: [0xff, 0xd0 + UInt8(place % 10)])
            case 3: bytes.removeSubrange(place...)
            case 4: bytes.remove(at: place)
            default: bytes[place] = UInt8(truncatingIfNeeded: place &* 31)
            }
        }
    }
}
