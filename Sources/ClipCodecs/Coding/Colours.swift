import Attachments
import CFFmpeg
import StillCodecs

/// What the numbers of a video's pixels mean: which light they stand for.
///
/// A value without input or output. What a source doesn't say is guessed as players do, by what it does say and by the
/// size of its pictures: the rules are mpv's (`mp_csp_guess_colorspace` and `mp_csp_guess_primaries`).
struct Colours: Hashable, Sendable {
    enum Matrix: Hashable, Sendable {
        case rgb
        case bt709
        case bt601With525Lines
        case bt601With625Lines
        case bt2020
        /// One that only zimg converts: FFmpeg's number.
        case other(UInt32)
    }

    enum Primaries: Hashable, Sendable {
        case bt709
        case bt601With525Lines
        case bt601With625Lines
        case bt2020
        /// Display P3's and, with another white, digital cinema's.
        case p3
        case p3Cinema
        case other(UInt32)
    }

    enum Transfer: Hashable, Sendable {
        /// Any curve for screens of about 100 nits: FFmpeg's number.
        case standard(UInt32)
        /// SMPTE ST 2084: up to 10,000 nits.
        case pq
        /// ARIB STD-B67.
        case hlg
    }

    var matrix: Matrix
    var primaries: Primaries
    var transfer: Transfer
    /// Black is 0 and white is the greatest number; otherwise 16 and 235 of 255.
    var isFullRange: Bool
    /// What was not said, and guessed.
    var guesses: [String] = []

    /// Tone mapping is needed before a screen of standard range shows it.
    var isHDR: Bool { transfer == .pq || transfer == .hlg }

    /// `PQ`, `HLG`; nil for the standard range.
    var rangeName: String? {
        switch transfer {
        case .pq: "PQ"
        case .hlg: "HLG"
        case .standard: nil
        }
    }

    /// More colours than sRGB has: what takes its numbers for sRGB's shows them pale.
    var isWide: Bool {
        switch primaries {
        case .bt2020, .p3, .p3Cinema: true
        default: false
        }
    }

    static let bt709 = Colours(
        matrix: .bt709, primaries: .bt709, transfer: .standard(AVCOL_TRC_BT709.rawValue), isFullRange: false)

    /// What H.264 is tagged with when it is made of these: the standard range's numbers stay what they are, and others
    /// are converted to BT.709.
    func encoded(size: PixelSize) -> Colours {
        if isHDR { return .bt709 }
        var colours = self
        colours.isFullRange = false
        colours.guesses = []
        switch matrix {
        case .rgb: colours.matrix = Self.isHighDefinition(size) ? .bt709 : .bt601With525Lines
        case .other: colours.matrix = .bt709
        default: break
        }
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
        let statedPrimaries = Self.primaries(primaries)
        switch transfer {
        case 16: self.transfer = .pq
        case 18: self.transfer = .hlg
        case 1, 4...15, 17: self.transfer = .standard(transfer)
        default:
            self.transfer = .standard(Self.bt709Curve)
            guesses.append("transfer")
        }
        let isHDR = self.transfer == .pq || self.transfer == .hlg

        switch matrix {
        case _ where isRGB: self.matrix = .rgb
        case 1: self.matrix = .bt709
        case 5: self.matrix = .bt601With625Lines
        case 6: self.matrix = .bt601With525Lines
        case 9: self.matrix = .bt2020
        case 4, 7, 8, 10, 14: self.matrix = .other(matrix)
        default:
            if isHDR || statedPrimaries == .bt2020 {
                self.matrix = .bt2020
            } else if Self.isHighDefinition(size) {
                self.matrix = .bt709
            } else {
                self.matrix = size.height == 576 ? .bt601With625Lines : .bt601With525Lines
            }
            guesses.append("matrix")
        }

        if let statedPrimaries {
            self.primaries = statedPrimaries
        } else {
            switch self.matrix {
            case _ where isHDR: self.primaries = .bt2020
            case .bt2020: self.primaries = .bt2020
            case .bt709, .rgb, .other: self.primaries = .bt709
            case .bt601With525Lines, .bt601With625Lines:
                switch size.height {
                case 576: self.primaries = .bt601With625Lines
                case 480...488: self.primaries = .bt601With525Lines
                default: self.primaries = .bt709
                }
            }
            guesses.append("primaries")
        }
        self.isFullRange = isRGB || isFullRange == true
        self.guesses = guesses
    }

    private static let bt709Curve: UInt32 = 1

    private static func primaries(_ code: UInt32) -> Primaries? {
        switch code {
        case 1: .bt709
        case 5: .bt601With625Lines
        case 6, 7: .bt601With525Lines
        case 9: .bt2020
        case 11: .p3Cinema
        case 12: .p3
        case 4, 8, 10, 22: .other(code)
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
    var rawMatrix: AVColorSpace {
        switch matrix {
        case .rgb: AVCOL_SPC_RGB
        case .bt709: AVCOL_SPC_BT709
        case .bt601With525Lines: AVCOL_SPC_SMPTE170M
        case .bt601With625Lines: AVCOL_SPC_BT470BG
        case .bt2020: AVCOL_SPC_BT2020_NCL
        case .other(let raw): AVColorSpace(raw)
        }
    }

    var rawPrimaries: AVColorPrimaries {
        switch primaries {
        case .bt709: AVCOL_PRI_BT709
        case .bt601With525Lines: AVCOL_PRI_SMPTE170M
        case .bt601With625Lines: AVCOL_PRI_BT470BG
        case .bt2020: AVCOL_PRI_BT2020
        case .p3: AVCOL_PRI_SMPTE432
        case .p3Cinema: AVCOL_PRI_SMPTE431
        case .other(let raw): AVColorPrimaries(raw)
        }
    }

    var rawTransfer: AVColorTransferCharacteristic {
        switch transfer {
        case .pq: AVCOL_TRC_SMPTE2084
        case .hlg: AVCOL_TRC_ARIB_STD_B67
        case .standard(let raw): AVColorTransferCharacteristic(raw)
        }
    }

    var rawRange: AVColorRange { isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }

    /// Says on `frame` what its numbers mean, so that every filter takes them so.
    func mark(_ frame: borrowing Frame) {
        unsafe frame.raw.pointee.colorspace = rawMatrix
        unsafe frame.raw.pointee.color_primaries = rawPrimaries
        unsafe frame.raw.pointee.color_trc = rawTransfer
        unsafe frame.raw.pointee.color_range = rawRange
    }
}

// MARK: As filters convert it

extension Colours {
    /// 10 bits or more where there are any, in planes: what zimg takes.
    private static let precise = Filter(
        name: "format",
        options: [
            "pix_fmts":
                "yuv420p|yuv422p|yuv444p|yuv420p10le|yuv422p10le|yuv444p10le|yuv420p12le|yuv422p12le|yuv444p12le"
        ])

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
            return [.scale(width: size.width, height: size.height)] + toneMapping(peak: peak, isExact: isExact)
                + [.planar420]
        }
        switch matrix {
        case .other:
            return [.scale(width: size.width, height: size.height), Self.precise, .convert(["m": "bt709", "r": "tv"])]
                + [.planar420]
        case .rgb:
            let target = encoded(size: size).matrix == .bt709 ? "bt709" : "smpte170m"
            return [.scale(width: size.width, height: size.height, matrix: target), .planar420]
        default: return [.scale(width: size.width, height: size.height), .planar420]
        }
    }

    /// Brings pictures to `size`, as stored, in sRGB.
    ///
    /// Of the two sets of primaries of standard definition the numbers are kept: the difference is below what is seen, and
    /// they are often only guessed.
    ///
    /// - Parameter flags: Of swscale.
    func stillFilters(to size: PixelSize, peak: Double, flags: String = Filter.carefully) -> [Filter] {
        let scale = Filter.scale(width: size.width, height: size.height, flags: flags)
        if isHDR { return [scale] + toneMapping(peak: peak, isExact: true) + [.rgb] }
        if case .other = matrix { return [scale, Self.precise, .convert(["m": "bt709", "p": "bt709"]), .rgb] }
        if isWide, matrix != .rgb { return [scale, Self.precise, .convert(["m": "bt709", "p": "bt709"]), .rgb] }
        return [.scale(width: size.width, height: size.height, range: nil, flags: flags), .rgb]
    }

    /// To linear light with BT.709's primaries, brightness pressed into the standard range with its hue kept, and back.
    ///
    /// The curve is John Hable's successor in FFmpeg, `mobius`: what is darker than 30 % of a white page stays as it is,
    /// a white page comes out at about 85 % of the range, and the brightest light at its end.
    private func toneMapping(peak: Double, isExact: Bool) -> [Filter] {
        let brightest = max(2, min(10_000, peak) / Self.white)
        return [
            Self.precise,
            // Without its exact curves zimg takes HLG's system curve of each channel for the one of their luminance.
            .convert([
                "t": "linear", "p": "bt709", "npl": String(Self.white),
                "agamma": transfer == .hlg && isExact ? "0" : "1",
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
        var bytes = 0
        let level = unsafe satchel_stream_side_data(stream, AV_PKT_DATA_CONTENT_LIGHT_LEVEL, &bytes)
        if let nits = unsafe nits(level: level, bytes) { return nits }
        let display = unsafe satchel_stream_side_data(stream, AV_PKT_DATA_MASTERING_DISPLAY_METADATA, &bytes)
        return unsafe nits(display: display, bytes)
    }

    /// Nits, as the pictures say; nil where nothing sane is said.
    static func nits(_ frame: borrowing Frame) -> Double? {
        if let level = unsafe av_frame_get_side_data(frame.raw, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL),
            let nits = unsafe nits(level: level.pointee.data, Int(level.pointee.size))
        {
            return nits
        }
        guard let display = unsafe av_frame_get_side_data(frame.raw, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA) else {
            return nil
        }
        return unsafe nits(display: display.pointee.data, Int(display.pointee.size))
    }

    private static func nits(level data: UnsafeMutablePointer<UInt8>?, _ bytes: Int) -> Double? {
        guard let data = unsafe data, bytes >= MemoryLayout<AVContentLightMetadata>.size else { return nil }
        return unsafe data.withMemoryRebound(to: AVContentLightMetadata.self, capacity: 1) {
            unsafe sane(Double($0.pointee.MaxCLL))
        }
    }

    private static func nits(display data: UnsafeMutablePointer<UInt8>?, _ bytes: Int) -> Double? {
        guard let data = unsafe data, bytes >= MemoryLayout<AVMasteringDisplayMetadata>.size else { return nil }
        return unsafe data.withMemoryRebound(to: AVMasteringDisplayMetadata.self, capacity: 1) {
            unsafe $0.pointee.has_luminance == 0 ? nil : sane(av_q2d($0.pointee.max_luminance))
        }
    }

    private static func sane(_ nits: Double) -> Double? { nits >= 100 && nits <= 10_000 ? nits : nil }
}
