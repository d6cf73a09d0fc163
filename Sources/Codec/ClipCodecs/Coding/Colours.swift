import SatchelCore
import CFFmpeg
import StillCodecs

/// What the numbers of a video's pixels mean: which light they stand for.
///
/// A value without input or output. What a source doesn't say is guessed as players do, by what it does say and by the
/// size of its pictures: the rules are mpv's (`mp_csp_guess_colorspace` and `mp_csp_guess_primaries`).
struct Colours: Hashable, Sendable {
    var matrix: AVColorSpace
    var primaries: AVColorPrimaries
    var transfer: AVColorTransferCharacteristic
    /// Black is 0 and white is the greatest number; otherwise 16 and 235 of 255.
    var isFullRange: Bool
    /// What was not said, and guessed.
    var guesses: [String] = []

    /// Tone mapping is needed before a screen of standard range shows it.
    var isHDR: Bool { Self.rangeName(transfer) != nil }

    /// Broadcasts say HLG beside the pictures, and this where receivers of the standard range look (ITU-T H.265, D.2.38).
    var mayBeHLG: Bool { [AVCOL_TRC_BT2020_10, AVCOL_TRC_BT2020_12].contains(transfer) }

    /// `PQ`, `HLG`; nil for the standard range.
    var rangeName: String? { Self.rangeName(transfer) }

    private static func rangeName(_ transfer: AVColorTransferCharacteristic) -> String? {
        switch transfer {
        case AVCOL_TRC_SMPTE2084: "PQ"
        case AVCOL_TRC_ARIB_STD_B67: "HLG"
        default: nil
        }
    }

    /// More colours than sRGB has: what takes its numbers for sRGB's shows them pale.
    private var isWide: Bool {
        [AVCOL_PRI_BT2020, AVCOL_PRI_SMPTE431, AVCOL_PRI_SMPTE432].contains(primaries)
    }

    /// A matrix that only zimg converts.
    private var isUnusual: Bool { Self.unusual.contains(matrix) }

    static let unusual: Set = [
        AVCOL_SPC_FCC, AVCOL_SPC_SMPTE240M, AVCOL_SPC_YCGCO, AVCOL_SPC_BT2020_CL, AVCOL_SPC_ICTCP,
    ]

    static let bt709 = Colours(
        matrix: AVCOL_SPC_BT709, primaries: AVCOL_PRI_BT709, transfer: AVCOL_TRC_BT709, isFullRange: false)

    /// What H.264 is tagged with when it is made of these: the standard range's numbers stay what they are, and others
    /// are converted to BT.709.
    func encoded(size: PixelSize) -> Colours {
        if isHDR { return .bt709 }
        var colours = self
        colours.isFullRange = false
        colours.guesses = []
        if matrix == AVCOL_SPC_RGB {
            colours.matrix = Self.isHighDefinition(size) ? AVCOL_SPC_BT709 : AVCOL_SPC_SMPTE170M
        }
        if isUnusual { colours.matrix = AVCOL_SPC_BT709 }
        return colours
    }

    /// As large as what is made with BT.709 in mind.
    private static func isHighDefinition(_ size: PixelSize) -> Bool { size.width >= 1280 || size.height > 576 }
}

extension Colours {
    /// - Parameters:
    ///   - primaries: A code point of ITU-T H.273, as FFmpeg's enumerations are, and so are `transfer` and `matrix`; 2 is
    ///     for what isn't said.
    ///   - isFullRange: Nil for what isn't said.
    ///   - isRGB: Of the pixels' format.
    ///   - size: As stored.
    init(primaries: UInt32, transfer: UInt32, matrix: UInt32, isFullRange: Bool?, isRGB: Bool, size: PixelSize) {
        var guesses: [String] = []
        let stated = Self.primaries(primaries)
        if (1...18).contains(transfer), ![2, 3].contains(transfer) {
            self.transfer = AVColorTransferCharacteristic(transfer)
        } else {
            self.transfer = AVCOL_TRC_BT709
            guesses.append("transfer")
        }
        let isHDR = Self.rangeName(self.transfer) != nil

        switch AVColorSpace(matrix) {
        case _ where isRGB: self.matrix = AVCOL_SPC_RGB
        case let said where Self.unusual.contains(said) || Self.usual.contains(said): self.matrix = said
        default:
            if isHDR || stated == AVCOL_PRI_BT2020 {
                self.matrix = AVCOL_SPC_BT2020_NCL
            } else if Self.isHighDefinition(size) {
                self.matrix = AVCOL_SPC_BT709
            } else {
                self.matrix = size.height == 576 ? AVCOL_SPC_BT470BG : AVCOL_SPC_SMPTE170M
            }
            guesses.append("matrix")
        }

        if let stated {
            self.primaries = stated
        } else {
            let isStandardDefinition = [AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M].contains(self.matrix)
            switch size.height {
            case _ where isHDR || self.matrix == AVCOL_SPC_BT2020_NCL: self.primaries = AVCOL_PRI_BT2020
            case 576 where isStandardDefinition: self.primaries = AVCOL_PRI_BT470BG
            case 480...488 where isStandardDefinition: self.primaries = AVCOL_PRI_SMPTE170M
            default: self.primaries = AVCOL_PRI_BT709
            }
            guesses.append("primaries")
        }
        self.isFullRange = isRGB || isFullRange == true
        self.guesses = guesses
    }

    private static let usual: Set = [AVCOL_SPC_BT709, AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT2020_NCL]

    /// Nil for what isn't said, or no standard has.
    private static func primaries(_ code: UInt32) -> AVColorPrimaries? {
        switch code {
        // The same by two names.
        case 7: AVCOL_PRI_SMPTE170M
        case 1, 4...6, 8...12, 22: AVColorPrimaries(code)
        default: nil
        }
    }

    /// What a stream's container and decoder say.
    init(_ parameters: UnsafePointer<AVCodecParameters>, size: PixelSize) {
        let format = unsafe AVPixelFormat(parameters.pointee.format)
        let flags = unsafe av_pix_fmt_desc_get(format).map { unsafe $0.pointee.flags } ?? 0
        let isFullRange: Bool? =
            switch unsafe parameters.pointee.color_range {
            case AVCOL_RANGE_JPEG: true
            case AVCOL_RANGE_MPEG: false
            default: Self.jpegFormats.contains(format.rawValue) ? true : nil
            }
        unsafe self.init(
            primaries: parameters.pointee.color_primaries.rawValue, transfer: parameters.pointee.color_trc.rawValue,
            matrix: parameters.pointee.color_space.rawValue, isFullRange: isFullRange,
            isRGB: flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0, size: size)
    }

    /// Whose names say that they have the full range.
    private static let jpegFormats: Set<Int32> = [
        AV_PIX_FMT_YUVJ420P.rawValue, AV_PIX_FMT_YUVJ422P.rawValue, AV_PIX_FMT_YUVJ444P.rawValue,
        AV_PIX_FMT_YUVJ440P.rawValue, AV_PIX_FMT_YUVJ411P.rawValue,
    ]
}

// MARK: As FFmpeg writes it

extension Colours {
    var rawRange: AVColorRange { isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }

    /// Says on `frame` what its numbers mean, so that every filter takes them so.
    func mark(_ frame: borrowing Frame) {
        unsafe frame.raw.pointee.colorspace = matrix
        unsafe frame.raw.pointee.color_primaries = primaries
        unsafe frame.raw.pointee.color_trc = transfer
        unsafe frame.raw.pointee.color_range = rawRange
    }
}

// MARK: As filters convert it

extension Colours {
    /// 10 bits or more where there are any, in planes: what zimg takes. Of odd sides it takes no planes of fewer colors.
    private static func precise(_ size: PixelSize) -> Filter {
        let hasEvenSides = size.width % 2 == 0 && size.height % 2 == 0
        let formats = ["", "10le", "12le"].flatMap { depth in
            (hasEvenSides ? ["yuv420p", "yuv422p", "yuv444p"] : ["yuv444p"]).map { $0 + depth }
        }
        return Filter(name: "format", options: ["pix_fmts": formats.joined(separator: "|")])
    }

    /// Nits of a white page in HDR (ITU-R BT.2408), which is 1 in the linear light that is mapped.
    static let white = 203.0
    /// The brightest light of a source that doesn't say it: what most are mastered for.
    static let usualPeak = 1000.0

    /// Brings pictures to `size`, as stored, in what H.264 is tagged with: ``encoded(size:)``.
    ///
    /// - Parameters:
    ///   - peak: Nits of the brightest light; of HDR only.
    ///   - isExact: Whether half the time may be spent on HLG's exact curves.
    func filters(to size: PixelSize, peak: Double, isExact: Bool) -> [Filter] {
        if isHDR {
            return [.scale(width: size.width, height: size.height)]
                + toneMapping(size, peak: peak, isExact: isExact) + [.planar420]
        }
        if isUnusual {
            return [
                .scale(width: size.width, height: size.height), Self.precise(size),
                .convert(["m": "bt709", "r": "tv"]),
            ]
                + [.planar420]
        }
        let isHighDefinition = encoded(size: size).matrix == AVCOL_SPC_BT709
        let target = matrix == AVCOL_SPC_RGB ? (isHighDefinition ? "bt709" : "smpte170m") : nil
        return [.scale(width: size.width, height: size.height, matrix: target), .planar420]
    }

    /// Brings pictures to `size`, as stored, in sRGB.
    ///
    /// Of the two sets of primaries of standard definition the numbers are kept: the difference is below what is seen, and
    /// they are often only guessed.
    ///
    /// - Parameter flags: Of swscale.
    func stillFilters(to size: PixelSize, peak: Double, flags: String = Filter.carefully) -> [Filter] {
        let scale = Filter.scale(width: size.width, height: size.height, flags: flags)
        if isHDR { return [scale] + toneMapping(size, peak: peak, isExact: true) + [.rgb] }
        if isUnusual || (isWide && matrix != AVCOL_SPC_RGB) {
            return [scale, Self.precise(size), .convert(["m": "bt709", "p": "bt709"]), .rgb]
        }
        return [.scale(width: size.width, height: size.height, range: nil, flags: flags), .rgb]
    }

    /// To linear light with BT.709's primaries, brightness pressed into the standard range with its hue kept, and back.
    ///
    /// The curve is John Hable's successor in FFmpeg, `mobius`: what is darker than 30 % of a white page stays as it is,
    /// a white page comes out at about 85 % of the range, and the brightest light at its end.
    private func toneMapping(_ size: PixelSize, peak: Double, isExact: Bool) -> [Filter] {
        let brightest = max(2, min(10_000, peak) / Self.white)
        return [
            Self.precise(size),
            // Without its exact curves zimg takes HLG's system curve of each channel for the one of their luminance.
            .convert([
                "t": "linear", "p": "bt709", "npl": String(Self.white),
                "agamma": transfer == AVCOL_TRC_ARIB_STD_B67 && isExact ? "0" : "1",
            ]),
            Filter(name: "format", options: ["pix_fmts": "gbrpf32le"]),
            Filter(name: "tonemap", options: ["tonemap": "mobius", "desat": "0", "peak": String(brightest)]),
            .convert(["t": "bt709", "m": "bt709", "r": "tv"]),
        ]
    }
}

extension Filter {
    /// zimg's conversions, which know every curve and matrix.
    fileprivate static func convert(_ options: [String: String]) -> Filter { Filter(name: "zscale", options: options) }
}

/// The brightest light of an HDR source, by what it says beside its pictures.
enum PeakLight {
    /// Nits, as the container says; nil where nothing sane is said.
    static func nits(_ stream: UnsafeMutablePointer<AVStream>) -> Double? {
        unsafe nits(AV_PKT_DATA_CONTENT_LIGHT_LEVEL, AV_PKT_DATA_MASTERING_DISPLAY_METADATA) { kind in
            var bytes = 0
            let data = unsafe satchel_stream_side_data(stream, kind, &bytes)
            return unsafe UnsafeRawBufferPointer(start: data, count: bytes)
        }
    }

    /// Nits, as the pictures say; nil where nothing sane is said.
    static func nits(_ frame: borrowing Frame) -> Double? {
        let raw = unsafe frame.raw
        return unsafe nits(AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA) { kind in
            let found = unsafe av_frame_get_side_data(raw, kind)
            return unsafe UnsafeRawBufferPointer(start: found?.pointee.data, count: found?.pointee.size ?? 0)
        }
    }

    private static func nits<Kind>(
        _ level: Kind, _ display: Kind, _ data: (Kind) -> UnsafeRawBufferPointer
    ) -> Double? {
        let (level, display) = unsafe (data(level), data(display))
        if level.count >= MemoryLayout<AVContentLightMetadata>.size,
            let nits = unsafe sane(Double(level.loadUnaligned(as: AVContentLightMetadata.self).MaxCLL))
        {
            return nits
        }
        guard display.count >= MemoryLayout<AVMasteringDisplayMetadata>.size else { return nil }
        let metadata = unsafe display.loadUnaligned(as: AVMasteringDisplayMetadata.self)
        return metadata.has_luminance == 0 ? nil : sane(av_q2d(metadata.max_luminance))
    }

    private static func sane(_ nits: Double) -> Double? { nits >= 100 && nits <= 10_000 ? nits : nil }
}
