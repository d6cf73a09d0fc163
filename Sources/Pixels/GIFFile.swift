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
    }

    package private(set) var width = 0
    package private(set) var height = 0
    package private(set) var palette: Range<Int>?
    /// At most as many as were to be kept.
    package private(set) var frames: [Frame] = []
    /// All images that have begun.
    package private(set) var frameCount = 0
    /// How often it plays; 0 for ever.
    package private(set) var plays = 1
    /// The file ends in the middle of a block.
    package private(set) var isTruncated = false

    /// - Parameters:
    ///   - bytes: The whole file, which begins with a GIF's signature.
    ///   - most: Frames that are kept; the rest is counted.
    package init(_ bytes: [UInt8], keeping most: Int) {
        var reader = Reader(bytes: bytes, position: 13)
        guard bytes.count >= 13 else {
            isTruncated = true
            return
        }
        width = reader.number(at: 6)
        height = reader.number(at: 8)
        palette = reader.palette(flags: bytes[10])
        var control = Control()
        while reader.position < bytes.count {
            let introducer = bytes[reader.position]
            switch introducer {
            case 0x21:
                readExtension(&reader, &control)
            case 0x2C:
                frameCount += 1
                guard reader.position + 10 < bytes.count else {
                    isTruncated = true
                    return
                }
                let frame = readFrame(&reader, control)
                if frames.count < most { frames.append(frame) }
                control = Control()
            default:
                // The trailer, or bytes that no player reads.
                fitScreen()
                return
            }
            guard reader.skipBlocks() else {
                isTruncated = true
                return
            }
        }
        // Without a trailer, but with whole blocks: players take it.
        isTruncated = reader.position > bytes.count
        fitScreen()
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

    private mutating func readExtension(_ reader: inout Reader, _ control: inout Control) {
        let start = reader.position
        let bytes = reader.bytes
        // Its label, then sub-blocks.
        reader.position += 2
        guard start + 8 <= bytes.count else { return }
        let length = bytes[start + 2]
        if bytes[start + 1] == 0xF9, length >= 4 {
            let flags = bytes[start + 3]
            let disposal = Int(flags >> 2 & 7)
            // Some encoders wrote 4 for 3.
            control.disposal = disposal == 4 ? 3 : disposal > 4 ? 0 : disposal
            control.delay = reader.number(at: start + 4)
            control.transparent = flags & 1 == 1 ? bytes[start + 6] : nil
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
            delay: control.delay, palette: palette, codeSize: codeSize, data: reader.position)
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

        /// Moves behind the empty sub-block that ends a block; false where the bytes end first.
        mutating func skipBlocks() -> Bool {
            while position < bytes.count {
                let length = Int(bytes[position])
                position += length + 1
                if length == 0 { return true }
            }
            return false
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

    /// Joins the blocks of a frame's data.
    package static func join(_ frame: Frame, in bytes: [UInt8], into data: inout [UInt8]) {
        data.removeAll(keepingCapacity: true)
        var position = frame.data
        while position < bytes.count {
            let length = Int(bytes[position])
            guard length > 0 else { return }
            let end = min(position + 1 + length, bytes.count)
            data += bytes[position + 1..<end]
            position = end
        }
    }
}
