import SatchelCore
import CVips

/// libvips' own scaling, of every format, depth and colour space, with alpha or without.
struct VipsDownscaler: StillDownscaler {
    var speed: Speed = .standard

    func decoded(
        _ decoding: StillDecoding, _ bytes: borrowing SourceBytes, _ header: borrowing Picture, isLenient: Bool,
        end: inout DataEnd?
    ) throws(VipsFailure) -> Picture {
        var loading = speed == .fast ? decoding.shrinkOnLoad : SourceBytes.Loading()
        loading.isLenient = isLenient
        return try decoding.scaled(bytes.load(decoding.format, loading), by: self)
    }

    /// By Lanczos 3. Transparent pixels lend their neighbours no colour. Rows are asked for in order, once.
    func scaled(_ picture: borrowing Picture, _ region: PixelRect, to size: PixelSize) throws(VipsFailure) -> Picture {
        let plain = try unsafe picture.derive { unsafe vips_image_decode($0, $1) }.withoutSpareBands()
        let cut = try plain.extracted(region)
        let isScalable = cut.format == VIPS_FORMAT_UCHAR || cut.format == VIPS_FORMAT_USHORT
        guard size != region.size || !isScalable else { return try cut.computed() }
        let form = satchel_scaling(
            width: Int32(size.width), height: Int32(size.height), gap: speed.gap,
            in_floats: cut.format != VIPS_FORMAT_UCHAR || speed.scalesInFloats(to: size) ? 1 : 0,
            most_alpha: cut.mostAlpha)
        return try unsafe cut.derive { unsafe satchel_scale($0, $1, form) }.computed()
    }
}

extension Speed {
    /// Whether 8-bit pictures without alpha are scaled in floats too.
    ///
    /// Bytes are rounded between columns and rows, which leaves them 54 to 56 dB from floats and costs 0.1 dB of a photograph as
    /// JPEG. Floats take seven times as long with libvips 8.14, and with 8.16, whose loops over bytes are vectors, twenty times:
    /// as long as decoding a PNG. What is small may be written without loss.
    func scalesInFloats(to size: PixelSize) -> Bool {
        switch self {
        case .best: true
        case .standard: size.area <= FineColours.mostPixels
        case .fast: false
        }
    }

    /// How many times larger than the result an average of whole pixels, which is the cheaper part, may leave a picture at
    /// least.
    ///
    /// Of detail at every scale the difference to no average is 0.0 dB without loss at 8, 0.7 at 4 and 10 at 2.
    var gap: Double {
        switch self {
        case .best, .standard: 8
        case .fast: 1.5
        }
    }
}

extension Picture {
    /// Without the bands beyond colour and alpha that some TIFFs carry.
    fileprivate func withoutSpareBands() throws(VipsFailure) -> Picture {
        let colours =
            switch interpretation {
            case VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_GREY16: 1
            case VIPS_INTERPRETATION_CMYK: 4
            case VIPS_INTERPRETATION_MULTIBAND: bands
            default: 3
            }
        guard bands > colours + 1 else { return shared() }
        return try unsafe derive { unsafe satchel_extract_bands($0, $1, 0, Int32(colours + 1)) }
    }
}
