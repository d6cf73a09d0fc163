package import SatchelCore

/// What the first bytes of a BMP or an APNG say, so that limits are checked before a decoder sees it.
package struct StillHeader {
    package var size: PixelSize

    package static func bmp(_ descriptor: Int32) -> StillHeader? {
        guard let bytes = allBytes(descriptor, count: 26, from: 0), bytes.starts(with: [0x42, 0x4d]) else { return nil }
        let isCore = little(bytes, at: 14, count: 4) == 12
        let width: Int
        let height: Int
        if isCore {
            width = Int(little(bytes, at: 18, count: 2))
            height = Int(little(bytes, at: 20, count: 2))
        } else {
            width = Int(Int32(bitPattern: little(bytes, at: 18, count: 4)))
            // A negative height: the rows come from the top.
            height = abs(Int(Int32(bitPattern: little(bytes, at: 22, count: 4))))
        }
        guard width > 0, height > 0 else { return nil }
        return StillHeader(size: PixelSize(width: width, height: height))
    }

    package static func apng(_ descriptor: Int32, bytes fileBytes: Int64) -> StillHeader? {
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        guard let start = allBytes(descriptor, count: 24, from: 0), start.starts(with: signature) else { return nil }
        let size = PixelSize(width: Int(big(start, at: 16)), height: Int(big(start, at: 20)))
        guard size.width > 0, size.height > 0 else { return nil }
        var position: Int64 = 8
        // acTL comes before the first IDAT, or it isn't an animation.
        for _ in 0..<1000 {
            guard let chunk = allBytes(descriptor, count: 16, from: position) else { return nil }
            let name = String(decoding: chunk[4..<8], as: UTF8.self)
            if name == "IDAT" { return nil }
            if name == "acTL" {
                return big(chunk, at: 8) > 0 ? StillHeader(size: size) : nil
            }
            position += Int64(big(chunk, at: 0)) + 12
            guard position < fileBytes else { return nil }
        }
        return nil
    }

    private static func little(_ bytes: [UInt8], at offset: Int, count: Int) -> UInt32 {
        bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func big(_ bytes: [UInt8], at offset: Int) -> UInt32 {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
