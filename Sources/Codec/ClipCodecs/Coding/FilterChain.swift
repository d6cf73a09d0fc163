import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

/// One filter of a chain, from a fixed list; never text from outside.
struct Filter: Hashable, Sendable {
    var name: String
    var options: [String: String] = [:]

    /// - Parameters:
    ///   - range: What comes out; nil for what suits the format.
    ///   - matrix: Of what comes out where RGB comes in.
    ///   - flags: Of swscale.
    static func scale(
        width: Int, height: Int, range: String? = "tv", matrix: String? = nil, flags: String = carefully
    ) -> Filter {
        var options = ["w": String(width), "h": String(height), "flags": flags]
        options["out_range"] = range
        options["out_color_matrix"] = matrix
        return Filter(name: "scale", options: options)
    }

    /// swscale's flags for what is looked at.
    static let carefully = "bicubic+accurate_rnd+full_chroma_int"
    /// And for what only tells of colours and shapes.
    static let roughly = "area"

    static let planar420 = Filter(name: "format", options: ["pix_fmts": "yuv420p"])
    static let squarePixels = Filter(name: "setsar", options: ["sar": "1"])
    /// Frames that say they are interlaced become progressive, one of two fields; the others pass.
    ///
    /// One picture comes out for each that goes in: where a source mistakes which field is the first, the picture is of
    /// the other field, and nothing moves to and fro.
    static let deinterlace = Filter(name: "bwdif", options: ["mode": "send_frame", "deint": "interlaced"])
    /// Black around the middle of a picture of that size.
    static func bars(around size: PixelSize) -> Filter {
        Filter(
            name: "pad",
            options: ["w": String(size.width), "h": String(size.height), "x": "(ow-iw)/2", "y": "(oh-ih)/2"])
    }
    static let flipHorizontally = Filter(name: "hflip")
    static let flipVertically = Filter(name: "vflip")
    static func transpose(_ direction: String) -> Filter { Filter(name: "transpose", options: ["dir": direction]) }

    /// What lies outside the first `seconds` is cut off, to the sample.
    static func within(seconds: Double) -> Filter {
        // FFmpeg reads no exponents.
        Filter(name: "atrim", options: ["start": "0", "end": "\(Int64((min(seconds, 1e12) * 1e6).rounded()))us"])
    }

    /// Gaps, and what is missing since the sample `first`, become silence, so that sound stays with its picture.
    ///
    /// Where channels are mixed, no sum is louder than the loudest that there is: nothing is clipped.
    static func resample(rate: Int, channels: Int, from first: Int64) -> Filter {
        Filter(
            name: "aresample",
            options: [
                "sample_rate": String(rate), "async": "1", "min_hard_comp": "0.02", "first_pts": String(first),
                "ochl": channels == 1 ? "mono" : "stereo", "rematrix_maxval": "1",
            ])
    }

    static func samples(_ format: String, rate: Int, channels: Int) -> Filter {
        Filter(
            name: "aformat",
            options: [
                "sample_fmts": format, "sample_rates": String(rate),
                "channel_layouts": channels == 1 ? "mono" : "stereo",
            ])
    }
}

extension Filter {
    /// All that chains are made of.
    static let names = [
        "buffer", "buffersink", "abuffer", "abuffersink", "scale", "zscale", "tonemap", "format", "bwdif", "yadif",
        "transpose", "hflip", "vflip", "pad", "setsar", "atrim", "aresample", "aformat",
    ]
}

/// Owns a graph of filters in a row, made for one shape of frames, single-threaded.
@safe struct FilterChain: ~Copyable {
    private let graph: UnsafeMutablePointer<AVFilterGraph>
    private let source: UnsafeMutablePointer<AVFilterContext>
    private let sink: UnsafeMutablePointer<AVFilterContext>
    private let shape: Shape

    /// What frames of one chain have in common.
    struct Shape: Hashable {
        var width: Int32
        var height: Int32
        var format: Int32
        var rate: Int32
        var channels: Int32

        init(_ frame: borrowing Frame) {
            width = unsafe frame.raw.pointee.width
            height = unsafe frame.raw.pointee.height
            format = unsafe frame.raw.pointee.format
            rate = unsafe frame.raw.pointee.sample_rate
            channels = unsafe frame.raw.pointee.ch_layout.nb_channels
        }
    }

    /// - Parameters:
    ///   - frame: The first that goes in.
    ///   - frameSamples: Samples that each frame of sound has when it comes out; 0 for any number.
    init(
        _ filters: [Filter], like frame: borrowing Frame, timeBase: AVRational, frameSamples: Int = 0
    ) throws(FFmpegFailure) {
        guard let graph = unsafe avfilter_graph_alloc() else { throw .noMemory }
        unsafe graph.pointee.nb_threads = 1
        do throws(FFmpegFailure) {
            let isSound = frame.samples > 0
            let source = unsafe try Self.add(isSound ? "abuffer" : "buffer", to: graph)
            unsafe try Self.describe(frame, timeBase: timeBase, to: source)
            try checked(unsafe avfilter_init_dict(source, nil))
            var last = unsafe source
            for filter in filters {
                let next = unsafe try Self.add(filter.name, to: graph)
                var options = Options()
                for (key, value) in filter.options { options[key] = value }
                try checked(unsafe avfilter_init_dict(next, &options.raw))
                try checked(unsafe avfilter_link(last, 0, next, 0))
                unsafe last = unsafe next
            }
            let sink = unsafe try Self.add(isSound ? "abuffersink" : "buffersink", to: graph)
            try checked(unsafe avfilter_init_dict(sink, nil))
            try checked(unsafe avfilter_link(last, 0, sink, 0))
            try checked(unsafe avfilter_graph_config(graph, nil))
            if frameSamples > 0 { unsafe av_buffersink_set_frame_size(sink, UInt32(frameSamples)) }
            unsafe self.source = unsafe source
            unsafe self.sink = unsafe sink
        } catch {
            var graph: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
            unsafe avfilter_graph_free(&graph)
            throw error
        }
        unsafe self.graph = unsafe graph
        shape = Shape(frame)
    }

    deinit {
        var graph: UnsafeMutablePointer<AVFilterGraph>? = unsafe graph
        unsafe avfilter_graph_free(&graph)
    }

    /// Whether `frame` has the shape that the chain was made for.
    func suits(_ frame: borrowing Frame) -> Bool { Shape(frame) == shape }

    /// Hands a frame in, and takes its contents over.
    func send(_ frame: borrowing Frame) throws(FFmpegFailure) {
        try checked(unsafe av_buffersrc_add_frame_flags(source, frame.raw, Int32(AV_BUFFERSRC_FLAG_PUSH)))
    }

    /// Says that no more frames come.
    func drain() {
        unsafe _ = av_buffersrc_add_frame_flags(source, nil, Int32(AV_BUFFERSRC_FLAG_PUSH))
    }

    /// The next frame, its times in ``timeBase``; false where more must go in first or all is out.
    func receive(_ frame: borrowing Frame) throws(FFmpegFailure) -> Bool {
        frame.clear()
        let code = unsafe av_buffersink_get_frame(sink, frame.raw)
        if code == satchel_averror(EAGAIN) || code == satchel_averror_eof { return false }
        try checked(code)
        return true
    }

    /// Of the frames that come out.
    var timeBase: AVRational { unsafe av_buffersink_get_time_base(sink) }

    private static func add(
        _ name: String, to graph: UnsafeMutablePointer<AVFilterGraph>
    ) throws(FFmpegFailure) -> UnsafeMutablePointer<AVFilterContext> {
        guard let filter = unsafe avfilter_get_by_name(name) else { throw FFmpegFailure(satchel_averror(ENOSYS)) }
        guard let context = unsafe avfilter_graph_alloc_filter(graph, filter, nil) else { throw .noMemory }
        return unsafe context
    }

    private static func describe(
        _ frame: borrowing Frame, timeBase: AVRational, to source: UnsafeMutablePointer<AVFilterContext>
    ) throws(FFmpegFailure) {
        guard let parameters = unsafe av_buffersrc_parameters_alloc() else { throw .noMemory }
        defer { unsafe av_free(parameters) }
        let raw = unsafe frame.raw
        unsafe parameters.pointee.format = unsafe raw.pointee.format
        unsafe parameters.pointee.time_base = timeBase
        unsafe parameters.pointee.width = unsafe raw.pointee.width
        unsafe parameters.pointee.height = unsafe raw.pointee.height
        unsafe parameters.pointee.sample_aspect_ratio = unsafe raw.pointee.sample_aspect_ratio
        unsafe parameters.pointee.sample_rate = unsafe raw.pointee.sample_rate
        unsafe satchel_describe_colours(parameters, raw)
        if unsafe raw.pointee.ch_layout.nb_channels > 0 {
            try checked(unsafe av_channel_layout_copy(&parameters.pointee.ch_layout, &raw.pointee.ch_layout))
        }
        defer { unsafe av_channel_layout_uninit(&parameters.pointee.ch_layout) }
        try checked(unsafe av_buffersrc_parameters_set(source, parameters))
    }
}
