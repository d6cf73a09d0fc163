package import SatchelCore

/// The size that the first bytes of a BMP or an APNG say, so that limits are checked before a decoder sees it.
package enum StillHeader {
    package static func bmp(_ descriptor: Int32) -> PixelSize? {
        guard let bytes = allBytes(descriptor, count: 26, from: 0), bytes.starts(with: [0x42, 0x4d]) else { return nil }
        let isCore = bytes[14..<18].littleEndian == 12
        let width: Int
        let height: Int
        if isCore {
            width = bytes[18..<20].littleEndian
            height = bytes[20..<22].littleEndian
        } else {
            width = Int(Int32(truncatingIfNeeded: bytes[18..<22].littleEndian))
            // A negative height: the rows come from the top.
            height = abs(Int(Int32(truncatingIfNeeded: bytes[22..<26].littleEndian)))
        }
        guard width > 0, height > 0 else { return nil }
        return PixelSize(width: width, height: height)
    }

    package static func apng(_ descriptor: Int32, bytes fileBytes: Int64) -> PixelSize? {
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        guard let start = allBytes(descriptor, count: 24, from: 0), start.starts(with: signature) else { return nil }
        let size = PixelSize(width: start[16..<20].bigEndian, height: start[20..<24].bigEndian)
        guard size.width > 0, size.height > 0 else { return nil }
        var position: Int64 = 8
        // acTL comes before the first IDAT, or it isn't an animation.
        for _ in 0..<1000 {
            guard let chunk = allBytes(descriptor, count: 16, from: position) else { return nil }
            let name = String(decoding: chunk[4..<8], as: UTF8.self)
            if name == "IDAT" { return nil }
            if name == "acTL" { return chunk[8..<12].bigEndian > 0 ? size : nil }
            position += Int64(chunk[0..<4].bigEndian) + 12
            guard position < fileBytes else { return nil }
        }
        return nil
    }
}
