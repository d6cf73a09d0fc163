/// The blocks of a GIF, read without decoding.
package struct GIFFile: Sendable {
    /// One image of the file, as its blocks describe it.
    package struct Frame: Hashable, Sendable {
        package var area: Rectangle
        package var isInterlaced: Bool
        /// What becomes of it when its time is over: 0, 1 it stays; 2 it is cleared; 3 what was there before comes back.
        package var disposal: Int
        /// The index that shows what was there.
        package var transparent: UInt8?
        /// Hundredths of a second.
        package var delay: Int
        /// Where its own palette lies in the file, and its colours; the file's is used where it has none.
        package var palette: Range<Int>?
        package var codeSize: Int
        /// Where the first block of its data lies, with its length before it.
        package var data: Int
        /// Where its data ends at the latest.
        package var end: Int
        /// The lengths of its blocks lead beyond the beginning of another frame: some of them are wrong.
        package var isBroken = false
    }

    /// How the file ends.
    package enum End: Hashable, Sendable {
        /// As it should.
        case marked
        /// With a whole block, but without the trailer: players take it.
        case unmarked
        /// In the middle of a block.
        case cut
        /// With so many bytes that no player reads, the trailer not before them.
        case unreadable(bytes: Int)
    }

    package private(set) var width = 0
    package private(set) var height = 0
    package private(set) var palette: Range<Int>?
    /// At most as many as were to be kept.
    package private(set) var frames: [Frame] = []
    /// All images whose blocks have begun.
    package private(set) var frameCount = 0
    /// Frames of which nothing is left but that they were there: at least so many.
    package private(set) var lost = 0
    /// How often it plays; 0 for ever.
    package private(set) var plays = 1
    package private(set) var end = End.marked
    /// `true` if another GIF follows it in the file.
    package private(set) var isFollowed = false

    /// - Parameters:
    ///   - bytes: The whole file, which begins with a GIF's signature.
    ///   - most: Frames that are kept; the rest is counted.
    package init(_ bytes: [UInt8], keeping most: Int) {
        var reader = Reader(bytes: bytes, position: 13)
        guard bytes.count >= 13 else {
            end = .cut
            return
        }
        width = reader.number(at: 6)
        height = reader.number(at: 8)
        palette = reader.palette(flags: bytes[10])
        end = readBlocks(&reader, keeping: most)
        fitScreen()
    }

    private mutating func readBlocks(_ reader: inout Reader, keeping most: Int) -> End {
        let bytes = reader.bytes
        // What was said of the image that is to follow.
        var control: Control?
        // Whether the block that was read last is the last of ``frames``.
        var isFrameBefore = false
        // Pixels that may be decoded to find out what is missing.
        var budget = 50_000_000
        while reader.position < bytes.count {
            var walk = Reader.Walk.lost
            let introducer = bytes[reader.position]
            switch introducer {
            case 0x21:
                readExtension(&reader, &control)
                walk = reader.skipBlocks()
            case 0x2C:
                frameCount += 1
                guard reader.position + 10 < bytes.count else {
                    lost += 1
                    return .cut
                }
                var frame = readFrame(&reader, control ?? Control())
                control = nil
                walk = reader.skipBlocks()
                frame.end = max(frame.data, min(reader.position, bytes.count))
                frame.isBroken = walk == .stray
                if frames.count < most { frames.append(frame) }
                if walk == .stray { walk = .whole }
            // An image that was announced and doesn't follow is missing; what follows instead is no trailer.
            case 0x3B where control == nil || reader.position + 10 >= bytes.count:
                isFollowed = bytes[(reader.position + 1)...].drop { $0 == 0 }.starts(with: "GIF8".utf8)
                return .marked
            default:
                // Nothing makes sense here; where a frame begins later, what lies between is lost.
                if let next = reader.nextFrame(in: reader.position..<bytes.count) {
                    reader.position = next
                    // What makes no sense may be the rest of the frame before it.
                    walk = isFrameBefore && !isLastWhole(in: bytes, &budget) ? .whole : .stray
                    if walk == .whole { frames[frames.count - 1].isBroken = true }
                }
            }
            isFrameBefore = walk == .whole && introducer == 0x2C && !frames.isEmpty && frames.count == frameCount
            switch walk {
            case .whole:
                continue
            case .stray:
                lost += 1
                control = nil
            case .cut:
                if control != nil { lost += 1 }
                return .cut
            case .lost:
                let rest = bytes.count - reader.position
                // An image was announced, or the rest ends as a file of images does.
                if control != nil || rest > 10 && bytes.last == 0x3B { lost += 1 }
                return .unreadable(bytes: rest)
            }
        }
        if control != nil { lost += 1 }
        return reader.position > bytes.count ? .cut : .unmarked
    }

    private func isLastWhole(in bytes: [UInt8], _ budget: inout Int) -> Bool {
        guard let last = frames.last, last.area.width * last.area.height <= budget else { return false }
        budget -= last.area.width * last.area.height
        return Self.isWhole(last, in: bytes)
    }

    /// Whether all of a frame's pixels can be had; they are decoded for that.
    package static func isWhole(_ frame: Frame, in bytes: [UInt8]) -> Bool {
        var data: [UInt8] = []
        join(frame, in: bytes, into: &data)
        var indices = [UInt8](repeating: 0, count: frame.area.width * frame.area.height)
        var pixels = indices.mutableSpan
        var decoder = LZWDecoder()
        return decoder.decode(data.span, codeSize: frame.codeSize, into: &pixels) == .complete
    }

    /// A screen without area is as large as its first frame, as browsers have it.
    private mutating func fitScreen() {
        guard width == 0 || height == 0, let first = frames.first else { return }
        width = first.area.left + first.area.width
        height = first.area.top + first.area.height
    }

    private struct Control {
        var disposal = 0
        var transparent: UInt8?
        var delay = 0
    }

    private mutating func readExtension(_ reader: inout Reader, _ control: inout Control?) {
        let start = reader.position
        let bytes = reader.bytes
        // Its label, then sub-blocks.
        reader.position += 2
        guard start + 8 <= bytes.count else {
            if start + 1 < bytes.count, bytes[start + 1] == 0xF9 { control = Control() }
            return
        }
        let length = bytes[start + 2]
        if bytes[start + 1] == 0xF9, length >= 4 {
            let flags = bytes[start + 3]
            let disposal = Int(flags >> 2 & 7)
            control = Control(
                // Some encoders wrote 4 for 3.
                disposal: disposal == 4 ? 3 : disposal > 4 ? 0 : disposal,
                transparent: flags & 1 == 1 ? bytes[start + 6] : nil, delay: reader.number(at: start + 4))
        } else if bytes[start + 1] == 0x01 {
            // Text, which no player shows, has its own.
            control = nil
        } else if bytes[start + 1] == 0xFF, length == 11, start + 19 <= bytes.count {
            let name = bytes[start + 3..<start + 14]
            guard name.elementsEqual("NETSCAPE2.0".utf8) || name.elementsEqual("ANIMEXTS1.0".utf8),
                bytes[start + 14] >= 3, bytes[start + 15] & 7 == 1
            else { return }
            let repeats = reader.number(at: start + 16)
            plays = repeats == 0 ? 0 : repeats + 1
        }
    }

    private func readFrame(_ reader: inout Reader, _ control: Control) -> Frame {
        let start = reader.position
        let flags = reader.bytes[start + 9]
        reader.position += 10
        let palette = reader.palette(flags: flags)
        let codeSize = reader.position < reader.bytes.count ? Int(reader.bytes[reader.position]) : 0
        reader.position += 1
        return Frame(
            area: Rectangle(
                left: reader.number(at: start + 1), top: reader.number(at: start + 3),
                width: reader.number(at: start + 5), height: reader.number(at: start + 7)),
            isInterlaced: flags & 0x40 != 0, disposal: control.disposal, transparent: control.transparent,
            delay: control.delay, palette: palette, codeSize: codeSize, data: reader.position, end: reader.position)
    }

    private struct Reader {
        let bytes: [UInt8]
        var position: Int

        func number(at offset: Int) -> Int { Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 }

        /// Where a palette lies that begins here, by the flags of its block; moves behind it.
        mutating func palette(flags: UInt8) -> Range<Int>? {
            guard flags & 0x80 != 0 else { return nil }
            let start = position
            position += 3 << (Int(flags & 7) + 1)
            return start..<position
        }

        enum Walk {
            /// Behind the empty sub-block that ends a block.
            case whole
            /// At the beginning of another frame, which lengths led beyond: some of them are wrong.
            case stray
            /// The bytes end first.
            case cut
            /// Nothing that can be read.
            case lost
        }

        /// Moves over sub-blocks, and no further than the next frame.
        mutating func skipBlocks() -> Walk {
            while position < bytes.count {
                let length = Int(bytes[position])
                let next = position + length + 1
                if let stray = nextFrame(in: position..<min(next + 8, bytes.count)) {
                    position = stray
                    return .stray
                }
                position = next
                if length == 0 { return .whole }
            }
            return .cut
        }

        /// Where in `range` the next frame begins, by the nine bytes of a graphic control that an image follows: among
        /// compressed pixels they come about by chance once in 2^48 places.
        func nextFrame(in range: Range<Int>) -> Int? {
            var at = range.lowerBound
            let end = range.upperBound - 8
            while at < end {
                if bytes[at] == 0x21, bytes[at + 1] == 0xF9, bytes[at + 2] == 4, bytes[at + 7] == 0,
                    bytes[at + 8] == 0x2C
                {
                    return at
                }
                at += 1
            }
            return nil
        }
    }

    // MARK: What the blocks hold

    /// The colours of a palette of the file, opaque; two, black and white, where a file has none.
    package func colours(_ palette: Range<Int>?, in bytes: [UInt8]) -> [UInt32] {
        guard let palette, palette.upperBound <= bytes.count else { return [0xFF00_0000, 0xFFFF_FFFF] }
        return stride(from: palette.lowerBound, to: palette.upperBound, by: 3).map { at in
            UInt32(bytes[at]) | UInt32(bytes[at + 1]) << 8 | UInt32(bytes[at + 2]) << 16 | 0xFF00_0000
        }
    }

    package static func join(_ frame: Frame, in bytes: [UInt8], into data: inout [UInt8]) {
        data.removeAll(keepingCapacity: true)
        var position = frame.data
        while position < frame.end {
            let length = Int(bytes[position])
            guard length > 0 else { return }
            let end = min(position + 1 + length, frame.end)
            data += bytes[position + 1..<end]
            position = end
        }
    }
}
