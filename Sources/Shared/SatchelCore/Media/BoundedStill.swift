/// A way to write a still of which it is known how many bytes it takes at most, whatever the picture shows.
///
/// The bounds are arithmetic over the formats, for files without metadata and colour profile as `Codecs` has them
/// written. They are far above what pictures take: they size the last attempt at a cap, and say which caps nothing fits.
public enum BoundedStill: Hashable, Sendable {
    /// Baseline, three components, chroma at half the resolution, no restart markers: what libvips has libjpeg-turbo
    /// write below quality 90.
    case jpeg
    /// Three channels, or four with transparency.
    case png(channels: Int)
    /// At most 256 colours with transparency, one byte a pixel.
    case palettePNG
    /// Lossless WebP whose codes are all of 8 bits: three channels, or four with transparency.
    case plainWebP(channels: Int)

    public var type: MediaType {
        switch self {
        case .jpeg: .jpeg
        case .png, .palettePNG: .png
        case .plainWebP: .webp
        }
    }

    /// The ways to write a still as `type`; empty where there is none.
    ///
    /// - Parameter channels: 3, or 4 where it is transparent.
    public static func ways(of type: MediaType, channels: Int) -> [BoundedStill] {
        switch type {
        case .jpeg: channels == 3 ? [.jpeg] : []
        case .png: [.png(channels: channels), .palettePNG]
        case .webp: [.plainWebP(channels: channels)]
        default: []
        }
    }

    /// Bytes of a file with a picture of `size` at most; more pixels never take less.
    public func mostBytes(_ size: PixelSize) -> Int64 {
        let width = Int64(clamping: size.width)
        let height = Int64(clamping: size.height)
        return switch self {
        case .jpeg: Self.jpeg(width, height)
        case .png(let channels): Self.png(rowBytes: width * Int64(channels), height, paletteBytes: 0)
        case .palettePNG: Self.png(rowBytes: width, height, paletteBytes: 12 + 256 * 3 + 12 + 256)
        case .plainWebP(let channels): Self.plainWebP(pixels: size.area, channels: Int64(channels))
        }
    }

    /// Bytes of the smallest picture, one pixel, as `type` at most; nil where no still is written as `type`.
    public static func floor(of type: MediaType) -> Int64? {
        let pixel = PixelSize(width: 1, height: 1)
        return ways(of: type, channels: type == .jpeg ? 3 : 4).map { $0.mostBytes(pixel) }.min()
    }

    /// A coefficient has at most 11 bits (the difference of a first one) or 10 (any other of the 63; jchuff.h), each
    /// after a code of at most 16 (ITU-T T.81, annex C): 1,665 bits a block. A byte of ones is followed by a zero byte.
    ///
    /// Before them come SOI, APP0 (18), two DQT (69 each), SOF0 (19), two DHT of 12 and two of 162 symbols (21 and their
    /// symbols each), SOS (14); after them EOI.
    private static func jpeg(_ width: Int64, _ height: Int64) -> Int64 {
        let fixed: Int64 = 2 + 18 + 2 * 69 + 19 + 14 + 2
        // One colour: two symbols of at most 2 bits in each DC table, one of 1 bit in each AC table. Four blocks of luma,
        // the first with a difference, and two of chroma: (2 + 11 + 3 · 2 + 4) + 2 · (2 + 11 + 1) bits.
        if width == 1 && height == 1 { return fixed + 2 * (21 + 2) + 2 * (21 + 1) + 2 * 7 }
        let blocks = 6 * ((width + 15) / 16) * ((height + 15) / 16)
        let bits = blocks * (27 + 63 * 26)
        return fixed + 2 * (21 + 12) + 2 * (21 + 162) + 2 * ((bits + 7) / 8)
    }

    /// Signature, IHDR, pHYs, PLTE with tRNS, IDAT in chunks of 8,192 bytes (libpng's PNG_ZBUF_SIZE), IEND.
    private static func png(rowBytes: Int64, _ height: Int64, paletteBytes: Int64) -> Int64 {
        // A byte that names the filter stands before each row.
        let deflated = deflateBound((rowBytes + 1) * height)
        return 8 + 25 + 21 + paletteBytes + deflated + 12 * ((deflated + 8_191) / 8_192) + 12
    }

    /// zlib's own bound (`deflateBound`, 1.2.13): the tight one for its default window; up to 16,384 bytes libpng takes
    /// smaller windows. Never less for more.
    private static func deflateBound(_ bytes: Int64) -> Int64 {
        func loose(_ bytes: Int64) -> Int64 { bytes + (bytes + 7) >> 3 + (bytes + 63) >> 6 + 11 }
        guard bytes > 16_384 else { return loose(bytes) }
        return max(loose(16_384), bytes + bytes >> 12 + bytes >> 14 + bytes >> 25 + 13)
    }

    /// RIFF and chunk headers, then bits as `PlainWebP` writes them, which it does for any picture: it is no bound but the
    /// size.
    private static func plainWebP(pixels: Int64, channels: Int64) -> Int64 {
        let codes: Int64 = 306 + 2 * 298 + (channels == 4 ? 298 : 11) + 4
        let bits = 40 + 3 + codes + pixels * channels * 8
        return 20 + (bits + 15) / 16 * 2
    }
}
