import SatchelCore
import CFFmpeg

/// Owns a frame: a decoded picture, or samples.
@safe struct Frame: ~Copyable {
    let raw: UnsafeMutablePointer<AVFrame>

    init() throws(FFmpegFailure) {
        guard let raw = unsafe av_frame_alloc() else { throw .noMemory }
        unsafe self.raw = unsafe raw
    }

    deinit {
        var raw: UnsafeMutablePointer<AVFrame>? = unsafe raw
        unsafe av_frame_free(&raw)
    }

    func clear() { unsafe av_frame_unref(raw) }

    /// Takes over the contents of `other`, which is empty afterwards.
    func take(from other: borrowing Frame) {
        clear()
        unsafe av_frame_move_ref(raw, other.raw)
    }

    /// Takes the contents of `other`, which keeps them as well.
    func share(_ other: borrowing Frame) throws(FFmpegFailure) {
        clear()
        try checked(unsafe av_frame_ref(raw, other.raw))
    }

    /// With room for the pixels of a picture.
    static func picture(_ size: PixelSize, _ format: AVPixelFormat) throws(FFmpegFailure) -> Frame {
        let frame = try Frame()
        unsafe frame.raw.pointee.width = Int32(size.width)
        unsafe frame.raw.pointee.height = Int32(size.height)
        unsafe frame.raw.pointee.format = format.rawValue
        try checked(unsafe av_frame_get_buffer(frame.raw, 0))
        return frame
    }

    /// The first plane without gaps between its rows, with so many bytes a pixel.
    func rows(bytes pixel: Int) throws(FFmpegFailure) -> [UInt8] {
        let rowBytes = width * pixel
        let stride = unsafe Int(raw.pointee.linesize.0)
        guard let pixels = unsafe raw.pointee.data.0, width > 0, height > 0, abs(stride) >= rowBytes else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        var bytes = [UInt8]()
        bytes.reserveCapacity(rowBytes * height)
        for row in 0..<height {
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: pixels + row * stride, count: rowBytes))
        }
        return bytes
    }

    var isEmpty: Bool { unsafe raw.pointee.buf.0 == nil }
    var width: Int { unsafe Int(raw.pointee.width) }
    var height: Int { unsafe Int(raw.pointee.height) }
    var samples: Int { unsafe Int(raw.pointee.nb_samples) }
    var format: AVPixelFormat { unsafe AVPixelFormat(raw.pointee.format) }
    /// A decoder made a part of it up.
    var isDamaged: Bool {
        unsafe raw.pointee.decode_error_flags != 0 || raw.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0
    }
    /// Two fields, of two moments.
    var isInterlaced: Bool { unsafe satchel_is_interlaced(raw) != 0 }

    /// When it is shown, in the time base of its stream.
    var timestamp: Int64? {
        unsafe TimeBase.sane(raw.pointee.best_effort_timestamp) ?? TimeBase.sane(raw.pointee.pts)
    }

    /// Names the channels by their number where nothing does, as in PCM: a filter takes no nameless ones.
    func nameChannels() {
        let count = unsafe raw.pointee.ch_layout.nb_channels
        guard count > 0, unsafe raw.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC else { return }
        unsafe av_channel_layout_default(&raw.pointee.ch_layout, count)
    }

    /// What whoever made the frame set; unlike ``timestamp`` true of a frame that was filtered.
    var pts: Int64? { unsafe TimeBase.sane(raw.pointee.pts) }

    var duration: Int64 { unsafe max(0, TimeBase.sane(satchel_frame_duration(raw)) ?? 0) }
}
