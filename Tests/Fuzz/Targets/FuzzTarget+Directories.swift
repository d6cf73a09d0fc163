import SatchelCore

@testable import StillCodecs

extension FuzzTarget {
    /// What is looked at in stills before or beside their decoders: directories of TIFF, profiles of ICC, the chunks of PNG
    /// and WebP, the segments of JPEG.
    static let directories = FuzzTarget("directories") { bytes in
        unsafe bytes.withUnsafeBytes { file in
            _ = unsafe TIFFDirectory.all(in: file)
            _ = unsafe TIFFDirectory.isBehindEnd(of: file)
            precondition(unsafe TIFFDirectory.dataEnd(in: file) ?? 0 >= 0)
            unsafe try? TIFFSamples.check(file)
            precondition((1...5).contains(unsafe MultiPicture.count(in: file) ?? 1))
            for format in [PictureFormat.jpeg, .webp] {
                _ = unsafe AnnouncedSize.pixels(format, file)
                _ = unsafe GainMap.isIn(file, format)
            }
            _ = unsafe ColourProfile.isStandard(file)
            _ = unsafe ColourProfile.isDisplayP3(file)
            if file.count >= 8 { _ = unsafe PNGChunks.hasEnd(file) }
        }
        try? UnsupportedPicture.check(head: bytes)
        if bytes.count >= 8 {
            var texts = bytes
            unsafe texts.withUnsafeMutableBytes { unsafe PNGChunks.dropTexts(in: $0) }
            var hidden = bytes
            unsafe hidden.withUnsafeMutableBytes { unsafe PNGChunks.clearHidden(in: $0) }
        }
        guard bytes.count >= 12 else { return }
        var (pictures, end, behind, alpha) = (bytes, bytes, bytes, bytes)
        let kept = unsafe pictures.withUnsafeMutableBytes { unsafe WebPChunks.keepPictures(in: $0) }
        precondition((12...bytes.count).contains(kept))
        _ = unsafe end.withUnsafeMutableBytes { unsafe WebPChunks.endWithFile($0) }
        unsafe behind.withUnsafeMutableBytes { unsafe WebPChunks.endBehindFile($0) }
        _ = unsafe alpha.withUnsafeMutableBytes { unsafe WebPChunks.dropAlpha(from: $0) }
    }
}
