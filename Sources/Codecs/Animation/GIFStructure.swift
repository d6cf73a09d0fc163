/// The blocks of a GIF, walked without decoding: libvips shows what there is of a file that ends early, and counts at
/// most some 4,097 frames, and says neither.
struct GIFStructure: Hashable, Sendable {
    /// Image blocks that have begun.
    private(set) var frames = 0
    /// The file ends in the middle of a block.
    private(set) var isTruncated = false

    /// - Parameter bytes: The whole file, which begins with a GIF's signature.
    init(_ bytes: UnsafeRawBufferPointer) {
        var position = 13
        guard bytes.count >= position else {
            isTruncated = true
            return
        }
        position += Self.paletteBytes(unsafe bytes[10])
        while position < bytes.count {
            let introducer = unsafe bytes[position]
            switch introducer {
            case 0x21:
                // An extension: its label, then sub-blocks.
                position += 2
            case 0x2C:
                frames += 1
                guard position + 10 < bytes.count else {
                    isTruncated = true
                    return
                }
                // The image's place and size, its palette, and the code size.
                position += unsafe 11 + Self.paletteBytes(bytes[position + 9])
            default:
                // The trailer, or bytes that no player reads.
                return
            }
            guard unsafe Self.skipBlocks(bytes, &position) else {
                isTruncated = true
                return
            }
        }
        // Without a trailer, but with whole blocks: players take it.
        isTruncated = position > bytes.count
    }

    private static func paletteBytes(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1)
    }

    /// Moves behind the empty sub-block that ends a block; false where the bytes end first.
    private static func skipBlocks(_ bytes: UnsafeRawBufferPointer, _ position: inout Int) -> Bool {
        while position < bytes.count {
            let length = unsafe Int(bytes[position])
            position += length + 1
            if length == 0 { return true }
        }
        return false
    }
}
