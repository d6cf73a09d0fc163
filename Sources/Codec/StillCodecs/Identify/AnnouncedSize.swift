import SatchelCore

/// The size that a file announces, where its decoder refuses to open it. For messages only: nothing is decoded by it.
enum AnnouncedSize {
    /// The pixels of a JPEG's frame, of a WebP, or of the largest picture of a HEIF; nil of other formats and where nothing is found.
    static func pixels(_ format: PictureFormat, _ bytes: UnsafeRawBufferPointer) -> Int64? {
        switch format {
        case .jpeg: unsafe jpeg(bytes)
        case .heif: unsafe heif(bytes)
        case .webp: unsafe webp(bytes)
        default: nil
        }
    }

    /// ITU-T T.81, B.2.2: length, precision, height and width follow the marker of a frame.
    private static func jpeg(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        var position = 2
        while position + 9 <= bytes.count, unsafe bytes[position] == 0xff {
            let marker = unsafe bytes[position + 1]
            let isFrame = marker & 0xf0 == 0xc0 && ![0xc4, 0xc8, 0xcc].contains(marker)
            if isFrame {
                return unsafe area(
                    bytes[position + 5..<position + 7].bigEndian, bytes[position + 7..<position + 9].bigEndian)
            }
            unsafe position += 2 + bytes[position + 2..<position + 4].bigEndian
        }
        return nil
    }

    /// RFC 9649, 2.5 to 2.7, and RFC 6386, 9.1: by the first chunk.
    private static func webp(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        guard bytes.count >= 30 else { return nil }
        func little(_ position: Int, _ count: Int) -> Int {
            unsafe bytes[position..<position + count].littleEndian
        }
        return switch unsafe String(decoding: bytes[12..<16], as: UTF8.self) {
        case "VP8X": area(little(24, 3) + 1, little(27, 3) + 1)
        case "VP8L": area(little(21, 4) & 0x3fff + 1, little(21, 4) >> 14 & 0x3fff + 1)
        case "VP8 ": area(little(26, 2) & 0x3fff, little(28, 2) & 0x3fff)
        default: nil
        }
    }

    /// ISO/IEC 23008-12, 6.5.3: a box `ispe` has its flags, the width and the height.
    private static func heif(_ bytes: UnsafeRawBufferPointer) -> Int64? {
        // Properties come before the data, within the first few kilobytes.
        let head = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(64 << 10))
        var (largest, position): (Int64?, Int) = (nil, 0)
        while let place = unsafe head.place(of: "ispe", from: position), place + 16 <= head.count {
            let sides = unsafe (head[place + 8..<place + 12].bigEndian, head[place + 12..<place + 16].bigEndian)
            largest = max(largest ?? 0, area(sides.0, sides.1))
            position = place + 4
        }
        return largest
    }

    private static func area(_ width: Int, _ height: Int) -> Int64 {
        let (area, overflow) = Int64(width).multipliedReportingOverflow(by: Int64(height))
        return overflow ? .max : area
    }
}
