import SatchelCore
import StillCodecs

extension ImageCandidate {
    /// A BMP; checks limits, and decodes no pixel.
    func bmp() throws(AttachmentError) -> StillSource {
        var limits = limits
        // A BMP is a still, so the limit of stills holds for its one frame.
        limits.framePixels = limits.stillPixels
        guard sniffed.head.starts(with: Array("BM".utf8)) else { throw .unsupported(.bareBMP) }
        let bytes = try fileBytes(descriptor)
        guard bytes <= limits.imageBytes else { throw .sourceTooLarge(bytes: bytes, limit: limits.imageBytes) }
        let size: PixelSize
        var hasAlpha = true
        let decoder: any RasterDecoder
        if let file = try BitmapFile(descriptor) {
            size = file.size
            hasAlpha = file.hasAlpha
            try limits.check(size, most: limits.stillPixels)
            guard try file.missingRows() < size.height else { throw VipsFailure.cut("BMP") }
            decoder = file
        } else {
            guard let reader = try FrameReader.open(descriptor, format: .bmp, limits: limits) else {
                throw .unreadable(Finding(.notDecoded, .picture, named: "BMP"))
            }
            size = reader.size
            decoder = PackedBitmap(descriptor: descriptor, limits: limits)
        }
        let facts = StillFacts(
            type: .bmp, sniffedType: sniffed.type, size: size, hasAlpha: hasAlpha, bytes: Int(bytes))
        return StillSource(facts, decoder: decoder)
    }
}

extension BitmapFile: RasterDecoder {
    func decode(damaged: WhenDamaged, faults: inout Diagnosis) throws(AttachmentError) -> Raster {
        let missing = try missingRows()
        guard missing < size.height else { throw VipsFailure.cut("BMP") }
        let cut = Finding(.endsBefore, .rows, missing: missing, of: size.height)
        if let loss = try cut.loss(when: damaged) { faults.losses.append(loss) }
        return try Raster(width: size.width, height: size.height, channels: 4, bytes: decode())
    }
}

/// A BMP that FFmpeg decodes.
private struct PackedBitmap: RasterDecoder {
    var descriptor: Int32
    var limits: Limits

    func decode(damaged: WhenDamaged, faults: inout Diagnosis) throws(AttachmentError) -> Raster {
        guard let reader = try FrameReader.open(descriptor, format: .bmp, limits: limits),
            let pixels = try reader.next()
        else { throw VipsFailure.cut("BMP") }
        return Raster(width: reader.size.width, height: reader.size.height, channels: 4, bytes: pixels)
    }
}
