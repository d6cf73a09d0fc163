import SatchelCore
import Glibc
import GIF

/// A picture that suffers where its colours are kept at half their resolution: a small one (an icon, a badge), or one of
/// few colours (a drawing, a screen).
///
/// As JPEG it keeps them at full resolution. PNG without loss is tried beside that, and the smaller file is delivered:
/// neither is less faithful than 4:4:4 at the profile's quality. Over 264 drawn icons (8 × 8 to 256 × 256 pixels) PNG is
/// the smaller one for six of ten.
struct FineColours: Hashable, Sendable {
    /// Of a small picture.
    static let mostPixels: Int64 = 65_536

    /// Whether it has no colours that could suffer.
    var isGrey = false
    /// Whether they come at half their resolution, so that there is nothing to suffer.
    var areHalved = false
    /// Bytes that PNG without loss is expected to take, roughly.
    var lossless: Int64

    /// Whether PNG is worth trying where JPEG takes `bytes`.
    ///
    /// It was smaller than JPEG at up to 4.0 times the bytes (a slanting gradient, whose rows repeat), and of photographs
    /// and their thumbnails 4.6 times and more are expected.
    func isWorthTrying(besideJPEG bytes: Int64) -> Bool { Double(lossless) <= 4.5 * Double(bytes) }
}

extension FineColours {
    /// Looks at a computed opaque picture; nil where it is neither small nor of few colours.
    init?(_ picture: borrowing Picture, _ count: ColourCount) throws(VipsFailure) {
        guard picture.bands == 3, picture.size.area <= Self.mostPixels || count.colours != nil else { return nil }
        let filtered = try unsafe picture.withSamples { unsafe ColourCount.residuals($0, width: picture.width) }
        self.init(
            isGrey: count.isGrey,
            lossless: Int64((filtered.map(Self.entropy).min() ?? 0) * Double(picture.size.area * 3) / 8))
    }

    /// Bits a sample.
    private static func entropy(_ counts: [Int]) -> Double {
        let all = Double(max(1, counts.reduce(0, +)))
        return counts.reduce(0.0) { $1 == 0 ? $0 : $0 - Double($1) / all * log2(Double($1) / all) }
    }
}

extension Picture {
    /// How many colours a computed picture of 8 bits with 3 or 4 bands has.
    func colourCount() throws(VipsFailure) -> ColourCount {
        try unsafe withSamples { unsafe ColourCount($0, channels: bands) }
    }

    func withSamples<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws(VipsFailure) -> Result {
        let count = width * height * bands
        return try unsafe withPixels { unsafe body(UnsafeBufferPointer(start: $0, count: count)) }
    }
}
