import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

/// Owns a container that is being written: no metadata, no chapters, the index first.
@safe struct Muxer: ~Copyable {
    private let raw: UnsafeMutablePointer<AVFormatContext>
    private let io: DescriptorIO
    private let isIndexFirst: Bool
    private let lastPicture = LastPicture()

    /// - Parameter type: One with a ``FileFormat/muxer``.
    init(type: MediaType, descriptor: Int32) throws(FFmpegFailure) {
        let io = try DescriptorIO(writing: descriptor)
        var raw: UnsafeMutablePointer<AVFormatContext>?
        try checked(unsafe avformat_alloc_output_context2(&raw, nil, type.format.muxer, nil))
        guard let raw = unsafe raw else { throw .noMemory }
        unsafe raw.pointee.pb = unsafe io.context
        unsafe raw.pointee.opaque = unsafe UnsafeMutableRawPointer(io.state)
        unsafe raw.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
        // Whole buffers are written, not each packet.
        unsafe raw.pointee.flush_packets = 0
        // Moving the index reopens the file by name: there is none, so it gets the same descriptor.
        unsafe raw.pointee.io_open = { context, result, _, flags, _ in
            guard let context = unsafe context, let result = unsafe result, flags & AVIO_FLAG_WRITE == 0,
                let state = unsafe context.pointee.opaque?.assumingMemoryBound(to: DescriptorIO.State.self),
                let reader = unsafe DescriptorIO.reader(of: state.pointee.descriptor, 0..<state.pointee.bytes)
            else { return satchel_averror(EPERM) }
            unsafe result.pointee = unsafe reader
            return 0
        }
        unsafe raw.pointee.io_close2 = { _, reader in
            if let reader = unsafe reader { unsafe DescriptorIO.free(reader) }
            return 0
        }
        unsafe self.raw = unsafe raw
        self.io = io
        isIndexFirst = type.format.container?.hasSampleTable == true
    }

    deinit {
        unsafe avformat_free_context(raw)
    }

    /// A stream whose packets are those of `source`.
    ///
    /// - Parameters:
    ///   - turning: Its display matrix.
    ///   - configuration: The decoder's, where it isn't the source's without what it doesn't need.
    ///   - priming: Samples of an MP3 that a decoder gives before the first that is heard.
    func addCopy(
        of source: UnsafeMutablePointer<AVStream>, turning matrix: [Int32]? = nil, configuration: [UInt8]? = nil,
        priming: Int? = nil
    ) throws(FFmpegFailure) -> Int {
        guard let stream = unsafe avformat_new_stream(raw, nil) else { throw .noMemory }
        try checked(unsafe avcodec_parameters_copy(stream.pointee.codecpar, source.pointee.codecpar))
        unsafe stream.pointee.codecpar.pointee.codec_tag = 0
        if let copied = unsafe stream.pointee.codecpar {
            let own = unsafe Array(ClipCodecs.configuration(of: copied))
            let told = unsafe configuration ?? DecoderConfiguration.clean(own, of: copied.pointee.codec_id)
            if told != own { unsafe try configure(&copied.pointee.extradata, &copied.pointee.extradata_size, told) }
        }
        if let priming { unsafe stream.pointee.codecpar.pointee.initial_padding = Int32(clamping: priming) }
        unsafe stream.pointee.time_base = unsafe source.pointee.time_base
        unsafe stream.pointee.sample_aspect_ratio = unsafe source.pointee.sample_aspect_ratio
        unsafe stream.pointee.avg_frame_rate = unsafe source.pointee.avg_frame_rate
        if let matrix {
            let bytes = MemoryLayout<Int32>.size * 9
            guard matrix.count == 9,
                let data = unsafe satchel_new_stream_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, bytes)
            else { throw .noMemory }
            unsafe data.withMemoryRebound(to: Int32.self, capacity: matrix.count) { target in
                for (index, value) in matrix.enumerated() { unsafe target[index] = value }
            }
        }
        return unsafe Int(stream.pointee.index)
    }

    /// A stream whose packets `encoder` makes.
    func add(_ encoder: borrowing Encoder) throws(FFmpegFailure) -> Int {
        guard let stream = unsafe avformat_new_stream(raw, nil) else { throw .noMemory }
        try checked(unsafe avcodec_parameters_from_context(stream.pointee.codecpar, encoder.raw))
        unsafe stream.pointee.time_base = unsafe encoder.raw.pointee.time_base
        unsafe stream.pointee.avg_frame_rate = unsafe encoder.raw.pointee.framerate
        return unsafe Int(stream.pointee.index)
    }

    /// Writes what comes before the packets.
    ///
    /// - Parameter samples: How many packets there will be, where that is known: then a place is kept for the index, and no
    ///   packet has to be moved to make one. Where the place turns out too small, ``finish()`` fails with `EINVAL`.
    func start(samples: Int? = nil) throws(FFmpegFailure) {
        var options = Options()
        if isIndexFirst {
            if let samples {
                options["moov_size"] = String(indexBound(samples: Int64(samples), each: ContainerSize.usualSample))
            }
            if samples == nil { options["movflags"] = "+faststart" }
        }
        options["id3v2_version"] = "0"
        try write(unsafe avformat_write_header(raw, &options.raw))
    }

    /// The most bytes that the file has if no other packet is written.
    var bound: Int64 {
        let packets = unsafe io.state.pointee.packetBytes
        guard isIndexFirst else { return packets + max(ContainerSize.mp3, ContainerSize.wave) }
        return unsafe packets + indexBound(samples: io.state.pointee.packets)
    }

    /// The most bytes that there are beside so many packets of an MP4.
    private func indexBound(samples: Int64, each sample: Int64 = ContainerSize.sample) -> Int64 {
        let tracks = unsafe Int(raw.pointee.nb_streams)
        var configuration: Int64 = 0
        for index in 0..<tracks {
            if let parameters = unsafe raw.pointee.streams[index]?.pointee.codecpar {
                configuration += unsafe Int64(parameters.pointee.extradata_size)
            }
        }
        return samples * sample
            + ContainerSize.movie(tracks: tracks, configuration: configuration)
    }

    /// Writes `packet`, whose times are in `timeBase`, and takes its contents over.
    func write(_ packet: borrowing Packet, to stream: Int, timeBase: AVRational) throws(FFmpegFailure) {
        guard let target = unsafe raw.pointee.streams[stream] else { throw FFmpegFailure(satchel_averror(EINVAL)) }
        unsafe packet.raw.pointee.stream_index = Int32(stream)
        unsafe packet.raw.pointee.pos = -1
        unsafe io.state.pointee.packetBytes += Int64(packet.bytes)
        unsafe io.state.pointee.packets += 1
        unsafe av_packet_rescale_ts(packet.raw, timeBase, target.pointee.time_base)
        guard unsafe target.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_VIDEO else {
            return try write(unsafe av_interleaved_write_frame(raw, packet.raw))
        }
        if let before = try lastPicture.exchange(packet) {
            try write(unsafe av_interleaved_write_frame(raw, before.packet.raw))
        }
    }

    /// Writes what comes after the packets.
    ///
    /// - Returns: The file's bytes.
    func finish() throws(FFmpegFailure) -> Int64 {
        if let last = lastPicture.take() {
            try write(unsafe av_interleaved_write_frame(raw, last.packet.raw))
        }
        try write(unsafe av_write_trailer(raw))
        unsafe avio_flush(io.context)
        try write(0)
        if isIndexFirst { try cleanIndex() }
        return unsafe io.state.pointee.bytes
    }

    /// Makes free space of the empty list of tags that FFmpeg writes.
    private func cleanIndex() throws(FFmpegFailure) {
        let bytes = unsafe io.state.pointee.bytes
        guard let movie = FileBoxes.of(bytes, { io.bytes($0, at: $1) }, { $0.first("moov", in: $0.whole) }),
            case let start = movie.lowerBound - 8, let index = io.bytes(Int(movie.upperBound - start), at: start)
        else { throw FFmpegFailure(satchel_averror_invaliddata) }
        for box in IndexCleaner.unwanted(in: index) {
            let free = Array("free".utf8) + [UInt8](repeating: 0, count: box.count - 4)
            try io.overwrite(free, at: start + Int64(box.lowerBound))
        }
    }

    private func write(_ code: Int32) throws(FFmpegFailure) {
        if io.failure != 0 { throw FFmpegFailure(satchel_averror(io.failure), isWriting: true) }
        try checked(code)
    }
}

/// Holds the picture that was written last, whose times decide how long its track is.
///
/// An MP4's track is as long as its decoding times reach. At a variable rate they stay behind by as long as the pictures
/// before the last ones are shown: a player would end there.
private final class LastPicture {
    private var held: HeldPacket?
    /// By how much the first picture is shown after it is decoded.
    private var delay: Int64?
    private var end = Int64.min

    /// Takes `packet` over, and gives back the one before.
    func exchange(_ packet: borrowing Packet) throws(FFmpegFailure) -> HeldPacket? {
        if let pts = packet.pts, let dts = packet.dts {
            delay = delay ?? pts - dts
            end = max(end, pts + packet.duration)
        }
        let before = held
        held = try HeldPacket(taking: packet)
        return before
    }

    /// The last one, which is decoded when it is shown where it would end too early otherwise.
    func take() -> HeldPacket? {
        defer { held = nil }
        guard let held, let pts = held.packet.pts, let dts = held.packet.dts, let delay,
            dts + held.packet.duration < end - 2 * delay, pts < end
        else { return held }
        unsafe held.packet.raw.pointee.dts = pts
        unsafe held.packet.raw.pointee.duration = end - pts
        return held
    }
}
