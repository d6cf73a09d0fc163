import CFFmpeg
import Glibc
import StillCodecs

/// Owns a decoder of one stream, single-threaded.
@safe struct Decoder: ~Copyable {
    let raw: UnsafeMutablePointer<AVCodecContext>

    /// - Parameters:
    ///   - maximumPixels: A larger frame is refused before its memory is taken.
    ///   - isRough: Edges of blocks are left as they are, for what is looked at from far away.
    ///   - configuration: The decoder's, where it isn't the stream's.
    ///   - timeBase: Of the packets, where it isn't the stream's.
    /// - Throws: `AVERROR_DECODER_NOT_FOUND` where no allowed decoder suits.
    init(
        for stream: UnsafeMutablePointer<AVStream>, maximumPixels: Int64, keyframesOnly: Bool = false,
        isRough: Bool = false, configuration: [UInt8]? = nil, timeBase: TimeBase? = nil
    ) throws(FFmpegFailure) {
        let parameters = unsafe stream.pointee.codecpar
        guard let parameters = unsafe parameters,
            let decoder = unsafe Decoders.decoder(for: parameters.pointee.codec_id)
        else { throw FFmpegFailure(satchel_averror_decoder_not_found) }
        guard let raw = unsafe avcodec_alloc_context3(decoder) else { throw .noMemory }
        do throws(FFmpegFailure) {
            try checked(unsafe avcodec_parameters_to_context(raw, parameters))
            unsafe raw.pointee.pkt_timebase = unsafe timeBase?.raw ?? stream.pointee.time_base
            if let configuration {
                unsafe try configure(&raw.pointee.extradata, &raw.pointee.extradata_size, configuration)
            }
            unsafe raw.pointee.thread_count = 1
            unsafe raw.pointee.max_pixels = maximumPixels
            if isRough { unsafe raw.pointee.skip_loop_filter = AVDISCARD_ALL }
            if keyframesOnly { unsafe raw.pointee.skip_frame = AVDISCARD_NONKEY }
            try checked(unsafe avcodec_open2(raw, decoder, nil))
        } catch {
            var raw: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
            unsafe avcodec_free_context(&raw)
            throw error
        }
        unsafe self.raw = unsafe raw
    }

    deinit {
        var raw: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
        unsafe avcodec_free_context(&raw)
    }

    /// Hands over compressed data.
    ///
    /// - Returns: False where the data is damaged; the next packet may be fine.
    @discardableResult
    func send(_ packet: borrowing Packet) throws(FFmpegFailure) -> Bool {
        let code = unsafe avcodec_send_packet(raw, packet.raw)
        if code == satchel_averror(ENOMEM) { throw .noMemory }
        return code >= 0
    }

    /// Says that no more data comes: what is still inside comes out.
    func drain() {
        unsafe _ = avcodec_send_packet(raw, nil)
    }

    /// Forgets what is inside, after a seek or a drain.
    func flush() {
        unsafe avcodec_flush_buffers(raw)
    }

    /// The next frame; false where more data is needed first or all is out.
    func receive(_ frame: borrowing Frame) throws(FFmpegFailure) -> Bool {
        var failures = 0
        return try receive(frame, failures: &failures)
    }

    /// The same, and counts the frames before it that could not be decoded.
    func receive(_ frame: borrowing Frame, failures: inout Int) throws(FFmpegFailure) -> Bool {
        frame.clear()
        for _ in 0...100 {
            let code = unsafe avcodec_receive_frame(raw, frame.raw)
            if code >= 0 { return true }
            if code == satchel_averror(ENOMEM) { throw .noMemory }
            if code == satchel_averror(EAGAIN) || code == satchel_averror_eof { return false }
            failures += 1
        }
        return false
    }

    /// What the configuration of a coding says of its colors; nil where it can't be read.
    static func colour(_ codec: AVCodecID, configuration: [UInt8]) -> CodedColour? {
        guard let container = unsafe avformat_alloc_context() else { return nil }
        defer { unsafe avformat_free_context(container) }
        guard let stream = unsafe avformat_new_stream(container, nil) else { return nil }
        unsafe stream.pointee.codecpar.pointee.codec_id = codec
        guard let decoder = try? unsafe Decoder(for: stream, maximumPixels: .max, configuration: configuration) else {
            return nil
        }
        let context = unsafe decoder.raw.pointee
        return unsafe CodedColour(
            primaries: Int(context.color_primaries.rawValue), transfer: Int(context.color_trc.rawValue))
    }
}
