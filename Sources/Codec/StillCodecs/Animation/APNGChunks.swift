import SatchelCore

/// What a PNG's chunks say of an animation, read without decoding (PNG 3, 11.3.6).
///
/// Where they are erroneous the specification wants the default image shown as a still, as where they are absent.
struct APNGChunks: Hashable, Sendable {
    private(set) var size = PixelSize(width: 0, height: 0)
    /// Frames that the header announces.
    private(set) var announced = 0
    /// How often it plays; 0 for ever.
    private(set) var plays = 0
    /// Milliseconds of each frame that begins, in order.
    private(set) var delays: [Double] = []
    /// Frames of those, by their places, whose data is damaged.
    private(set) var damaged: Set<Int> = []
    /// The last frame's data is cut off.
    private(set) var isLastCut = false
    /// `true` if frames of 16 bits are blended by their alpha.
    private(set) var blendsDeeply = false
    private var isDeep = false
    private var hasAlpha = false
    /// The file ends before its end marker.
    private(set) var isUnmarked = true
    /// What is wrong with the chunks; nil where nothing is.
    private(set) var fault: Finding?

    /// Nil where nothing before the picture's data announces an animation.
    init?(_ bytes: [UInt8]) {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        guard bytes.starts(with: signature) else { return nil }
        var reader = Reader(bytes: bytes)
        var isAnimated = false
        var number = 0
        while let chunk = reader.next() {
            switch chunk.name {
            case "IHDR" where chunk.isWhole && chunk.body.count >= 8:
                size = PixelSize(width: reader.number(chunk.body, 0, 4), height: reader.number(chunk.body, 4, 4))
                guard chunk.body.count >= 10 else { break }
                isDeep = reader.number(chunk.body, 8, 1) == 16
                // Grey or RGB with alpha.
                hasAlpha = reader.number(chunk.body, 9, 1) & 4 != 0
            case "tRNS": hasAlpha = true
            case "acTL" where !isAnimated && delays.isEmpty:
                isAnimated = true
                guard chunk.isSound, chunk.body.count == 8 else {
                    fault = Self.fault("animation header")
                    break
                }
                announced = reader.number(chunk.body, 0, 4)
                plays = reader.number(chunk.body, 4, 4)
            case "IDAT":
                guard isAnimated else { return nil }
                if !delays.isEmpty { note(chunk) }
            case "fcTL" where isAnimated:
                if !chunk.isWhole { break }
                begin(chunk, &number, reader)
            case "fdAT" where isAnimated:
                if chunk.isWhole, chunk.body.count >= 4, reader.number(chunk.body, 0, 4) != number {
                    fault = fault ?? Self.fault("order of chunks")
                }
                number += 1
                note(chunk)
            case "IEND":
                isUnmarked = !chunk.isWhole
            default:
                break
            }
            if chunk.name == "IEND" { break }
        }
        guard isAnimated else { return nil }
        if announced == 0 { fault = fault ?? Self.fault("count of frames") }
        // A control and the shortest data, with what is around each chunk.
        if announced > bytes.count / 50 {
            fault = Finding(.announcesMore, .animation, of: Double(announced))
        } else if delays.count > announced {
            fault = fault ?? Self.fault("count of frames")
        }
    }

    private static func fault(_ name: String) -> Finding { Finding(.malformed, .animation, named: name) }

    /// Where an animation has no fault: the frames that are whole, of those that were announced.
    var whole: Int { delays.count - (isLastCut ? 1 : 0) }

    private mutating func begin(_ chunk: Reader.Chunk, _ number: inout Int, _ reader: Reader) {
        let body = chunk.body
        guard chunk.isSound, body.count == 26 else {
            fault = fault ?? Self.fault("frame \(delays.count + 1)")
            return
        }
        if reader.number(body, 0, 4) != number { fault = fault ?? Self.fault("order of chunks") }
        number += 1
        let (width, height) = (reader.number(body, 4, 4), reader.number(body, 8, 4))
        let (left, top) = (reader.number(body, 12, 4), reader.number(body, 16, 4))
        if width == 0 || height == 0 || left + width > size.width || top + height > size.height {
            fault = fault ?? Self.fault("frame \(delays.count + 1)")
        }
        // The first frame has nothing below it.
        if isDeep, hasAlpha, !delays.isEmpty, reader.number(body, 25, 1) == 1 { blendsDeeply = true }
        let denominator = reader.number(body, 22, 2)
        delays.append(Double(reader.number(body, 20, 2) * 1000) / Double(denominator == 0 ? 100 : denominator))
        // Until its data is there.
        isLastCut = true
    }

    /// Takes note of data of the frame that began last.
    private mutating func note(_ chunk: Reader.Chunk) {
        isLastCut = !chunk.isWhole
        if chunk.isWhole, !chunk.isSound { damaged.insert(delays.count - 1) }
    }

    private struct Reader {
        let bytes: [UInt8]
        private var position = 8

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        struct Chunk {
            var name: String
            var body: Range<Int>
            /// Its last byte is there.
            var isWhole: Bool
            /// Its checksum is that of its bytes; looked at where it concerns an animation.
            var isSound: Bool
        }

        /// The big-endian number of `count` bytes at `offset` of `body`.
        func number(_ body: Range<Int>, _ offset: Int, _ count: Int) -> Int {
            bytes[body.lowerBound + offset..<body.lowerBound + offset + count].bigEndian
        }

        mutating func next() -> Chunk? {
            guard position + 8 <= bytes.count else { return nil }
            let length = number(position..<position + 8, 0, 4)
            let name = String(decoding: bytes[position + 4..<position + 8], as: Unicode.ASCII.self)
            let start = position + 8
            let end = min(start + length, bytes.count)
            let isWhole = start + length + 4 <= bytes.count
            position = isWhole ? end + 4 : bytes.count
            var isSound = isWhole
            if isWhole, ["acTL", "fcTL", "fdAT", "IDAT"].contains(name) {
                isSound = Checksum.of(bytes.span.extracting(start - 4..<end)) == number(end..<end + 4, 0, 4)
            }
            return Chunk(name: name, body: start..<end, isWhole: isWhole, isSound: isSound)
        }
    }
}

/// The cyclic redundancy check of PNG's chunks (PNG 3, annex D).
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { value in
        (0..<8).reduce(UInt32(value)) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 }
    }

    static func of(_ bytes: Swift.Span<UInt8>) -> Int {
        let table = table.span
        var sum: UInt32 = 0xFFFF_FFFF
        for index in bytes.indices { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ bytes[index])] ^ sum >> 8 }
        return Int(sum ^ 0xFFFF_FFFF)
    }
}
