import SatchelCore
import CFFmpeg
import StillCodecs

/// Owns a converter of frames to 8-bit RGBA, made anew when the frames' shape changes.
@safe struct PixelConverter: ~Copyable {
    private var raw: OpaquePointer?

    init() {}

    deinit {
        unsafe sws_freeContext(raw)
    }

    /// The pixels of `frame` as RGBA, row after row without gaps, at `width` by `height`.
    mutating func rgba(of frame: borrowing Frame, width: Int, height: Int) throws(FFmpegFailure) -> [UInt8] {
        let scales = width != frame.width || height != frame.height
        unsafe raw = unsafe sws_getCachedContext(
            raw, Int32(frame.width), Int32(frame.height), frame.format, Int32(width), Int32(height),
            AV_PIX_FMT_RGBA, (scales ? SWS_AREA : SWS_BILINEAR) | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT,
            nil, nil, nil)
        guard let converter = unsafe raw else { throw .noMemory }
        unsafe applyColours(of: frame, to: converter)

        // FFmpeg's own buffer: swscale may write beyond the width of a row, up to the alignment.
        let target = try Frame.picture(PixelSize(width: width, height: height), AV_PIX_FMT_RGBA)
        try checked(unsafe sws_scale_frame(converter, target.raw, frame.raw))
        return try target.rows(bytes: 4)
    }

    /// The frame's own matrix and range; SD and HD differ where it doesn't say.
    private func applyColours(of frame: borrowing Frame, to converter: OpaquePointer) {
        let matrix: Int32
        switch unsafe frame.raw.pointee.colorspace {
        case AVCOL_SPC_BT709: matrix = SWS_CS_ITU709
        case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: matrix = SWS_CS_BT2020
        case AVCOL_SPC_UNSPECIFIED where frame.height >= 720: matrix = SWS_CS_ITU709
        default: matrix = SWS_CS_ITU601
        }
        let isFull = unsafe frame.raw.pointee.color_range == AVCOL_RANGE_JPEG
        unsafe _ = sws_setColorspaceDetails(
            converter, sws_getCoefficients(matrix), isFull ? 1 : 0, sws_getCoefficients(SWS_CS_DEFAULT), 1, 0,
            1 << 16, 1 << 16)
    }
}
