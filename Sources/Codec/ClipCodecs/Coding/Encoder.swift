import CFFmpeg
import Glibc
import StillCodecs

/// Owns an encoder, single-threaded, that signs nothing.
@safe struct Encoder: ~Copyable {
    let raw: UnsafeMutablePointer<AVCodecContext>

    /// How pictures are encoded.
    struct Pictures: Hashable, Sendable {
        var width: Int
        var height: Int
        var timeBase: TimeBase
        var frameRate: Double
        /// x264's constant rate factor.
        var rateFactor: Int
        /// Bits per second that are never exceeded over a second; nil for no bound.
        var maximumBitRate: Int?
        var preset: String
        /// Seconds that lie between two pictures at least; 0 keeps all.
        var spacing = 0.0
        /// Every picture stands alone, so that any can be left out.
        var isIndependent = false

        /// Whether quality is worth time.
        var isCareful: Bool { preset != "ultrafast" }
    }

    /// How samples are encoded.
    struct Samples: Hashable, Sendable {
        var codec: Codec
        var rate: Int
        var channels: Int
        /// Bits per second; of no meaning for PCM.
        var bitRate: Int

        enum Codec: String, Hashable, Sendable {
            case aac
            case pcm = "pcm_s16le"
        }
    }

    /// - Parameter colours: What goes in, and is said to be inside.
    init(_ pictures: Pictures, colours: Colours) throws(FFmpegFailure) {
        var options = Options()
        options["preset"] = pictures.preset
        options["profile"] = "high"
        options["crf"] = String(pictures.rateFactor)
        if pictures.isIndependent { options["tune"] = "zerolatency" }
        unsafe try self.init(named: "libx264", options: options) { raw in
            unsafe raw.pointee.width = Int32(pictures.width)
            unsafe raw.pointee.height = Int32(pictures.height)
            unsafe raw.pointee.pix_fmt = AV_PIX_FMT_YUV420P
            unsafe raw.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
            unsafe raw.pointee.time_base = pictures.timeBase.raw
            let rate = pictures.spacing > 0 ? min(pictures.frameRate, 1 / pictures.spacing) : pictures.frameRate
            unsafe raw.pointee.framerate = av_d2q(rate, 100_000)
            unsafe raw.pointee.gop_size = pictures.isIndependent ? 1 : Int32(max(12, min(250, (rate * 4).rounded())))
            unsafe raw.pointee.color_range = colours.rawRange
            unsafe raw.pointee.color_primaries = colours.primaries
            unsafe raw.pointee.color_trc = colours.transfer
            unsafe raw.pointee.colorspace = colours.matrix
            if let rate = pictures.maximumBitRate {
                unsafe raw.pointee.rc_max_rate = Int64(rate)
                unsafe raw.pointee.rc_buffer_size = Int32(clamping: rate)
            }
        }
    }

    init(_ samples: Samples) throws(FFmpegFailure) {
        unsafe try self.init(named: samples.codec.rawValue, options: Options()) { raw in
            unsafe raw.pointee.sample_rate = Int32(samples.rate)
            unsafe raw.pointee.ch_layout = samples.channels == 1 ? satchel_layout_mono() : satchel_layout_stereo()
            unsafe raw.pointee.sample_fmt = samples.codec == .aac ? AV_SAMPLE_FMT_FLTP : AV_SAMPLE_FMT_S16
            unsafe raw.pointee.time_base = AVRational(num: 1, den: Int32(samples.rate))
            unsafe raw.pointee.bit_rate = Int64(samples.bitRate)
        }
    }

    init(
        named name: String, options: consuming Options, _ configure: (UnsafeMutablePointer<AVCodecContext>) -> Void
    ) throws(FFmpegFailure) {
        guard let codec = unsafe avcodec_find_encoder_by_name(name) else {
            throw FFmpegFailure(satchel_averror(ENOSYS))
        }
        guard let raw = unsafe avcodec_alloc_context3(codec) else { throw .noMemory }
        unsafe configure(raw)
        unsafe raw.pointee.thread_count = 1
        unsafe raw.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_BITEXACT
        let code = unsafe avcodec_open2(raw, codec, &options.raw)
        guard code >= 0 else {
            var raw: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
            unsafe avcodec_free_context(&raw)
            throw FFmpegFailure(code)
        }
        unsafe self.raw = unsafe raw
    }

    deinit {
        var raw: UnsafeMutablePointer<AVCodecContext>? = unsafe raw
        unsafe avcodec_free_context(&raw)
    }

    /// Samples that each frame must have; 0 where any number does.
    var frameSamples: Int { unsafe Int(raw.pointee.frame_size) }

    var timeBase: AVRational { unsafe raw.pointee.time_base }

    /// What its decoder must know before the first packet; valid as long as the encoder lives.
    var configuration: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: raw.pointee.extradata, count: Int(raw.pointee.extradata_size))
    }

    func send(_ frame: borrowing Frame) throws(FFmpegFailure) {
        try checked(unsafe avcodec_send_frame(raw, frame.raw))
    }

    /// Says that no more frames come: what is still inside comes out.
    func drain() {
        unsafe _ = avcodec_send_frame(raw, nil)
    }

    /// The next packet; false where more frames are needed first or all is out.
    func receive(_ packet: borrowing Packet) throws(FFmpegFailure) -> Bool {
        packet.clear()
        // An encoder that is drained has a second of pictures to make.
        try FFmpegFailure.checkTime()
        let code = unsafe avcodec_receive_packet(raw, packet.raw)
        if code == satchel_averror(EAGAIN) || code == satchel_averror_eof { return false }
        try checked(code)
        return true
    }
}

/// The unit of a stream's times: `numerator / denominator` seconds.
struct TimeBase: Hashable, Sendable {
    var numerator: Int32
    var denominator: Int32

    init(_ numerator: Int32, _ denominator: Int32) {
        self.numerator = numerator
        self.denominator = denominator
    }

    init(_ raw: AVRational) {
        self.init(raw.num > 0 ? raw.num : 1, raw.den > 0 ? raw.den : 1)
    }

    var raw: AVRational { AVRational(num: numerator, den: denominator) }

    var seconds: Double { Double(numerator) / Double(denominator) }

    func seconds(_ ticks: Int64) -> Double { Double(ticks) * seconds }

    /// The nearest tick; what lies beyond the range of sane times becomes its bound.
    func ticks(_ seconds: Double) -> Int64 {
        let ticks = (seconds / self.seconds).rounded()
        return ticks.isNaN ? 0 : Int64(max(-Self.saneTicks, min(Self.saneTicks, ticks)))
    }

    /// Times beyond it are a damaged file's, and would overflow.
    static let saneTicks = 0x1p60

    /// A time, if there is one and it doesn't overflow when another is added to it.
    static func sane(_ ticks: Int64) -> Int64? { ticks.magnitude < UInt64(saneTicks) ? ticks : nil }
}
