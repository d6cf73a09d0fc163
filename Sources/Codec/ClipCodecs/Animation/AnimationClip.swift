import SatchelCore
import CFFmpeg
import GIF
import StillCodecs

/// Writes an animation as H.264 in MP4: silent, over white, the index first. It plays once: MP4 has no word for loops.
struct AnimationClip {
    var facts: AnimationFacts
    var attempt: AnimationAttempt
    /// x264's at the best level.
    private let rateFactor: Int

    init(_ task: AnimationTask) {
        facts = task.facts
        attempt = task.attempt
        rateFactor = task.order.profile.video?.rateFactor ?? VideoPolicy.defaults.rateFactor
    }

    /// Milliseconds, as animations have their delays.
    private static let timeBase = TimeBase(1, 1000)

    func write(_ frames: ScaledFrames, to descriptor: Int32) throws(AttachmentError) -> Encoded {
        do throws(FFmpegFailure) {
            _ = try FFmpegFailure.of { () throws(AttachmentError) in try AnimationFile(descriptor) }
            let bytes = try encode(frames, to: descriptor)
            try check(descriptor, bytes: bytes)
            return Encoded(bytes: bytes, note: "H.264 at rate factor \(factor), transparency laid over white")
        } catch {
            throw error.verdict
        }
    }

    /// Compares what was written with what was to be.
    private func check(_ descriptor: Int32, bytes: Int64) throws(FFmpegFailure) {
        let delays = attempt.delays(facts.delays)
        let tracks = try ReadBack.tracks(of: descriptor, type: .mp4, bytes: bytes, size: attempt.size)
        let seconds = Double(delays.reduce(0, +)) / 1000
        guard tracks.count == 1, tracks[0].packets == delays.count, abs(tracks[0].end - seconds) < 0.01 else {
            throw ReadBack.failure(.mp4, "has \(tracks) in the place of \(delays.count) frames in \(seconds) s")
        }
    }

    private var factor: Int { min(45, rateFactor + [0, 5, 10, 18][min(attempt.level, 3)]) }

    private func encode(_ frames: ScaledFrames, to descriptor: Int32) throws(FFmpegFailure) -> Int64 {
        let delays = attempt.delays(facts.delays)
        let seconds = Double(delays.reduce(0, +)) / 1000
        let encoder = try Self.encoder(
            Encoder.Pictures(
                width: attempt.size.width, height: attempt.size.height, timeBase: Self.timeBase,
                frameRate: min(max(Double(delays.count) / max(seconds, 0.001), 0.1), 100), rateFactor: factor,
                maximumBitRate: nil, preset: attempt.isHasty ? "ultrafast" : "veryfast"))
        let muxer = try Muxer(type: .mp4, descriptor: descriptor)
        let track = try muxer.add(encoder)
        try muxer.start()
        let packet = try Packet()
        let picture = try PlanarFrame(attempt.size)
        var durations: [Int64: Int64] = [:]
        var time: Int64 = 0
        for delay in delays {
            try FFmpegFailure.of { () throws(AttachmentError) in try frames.advance() }
            let planar = try picture.converted(PixelBytes.overWhite(frames.pixels))
            unsafe planar.raw.pointee.pts = time
            durations[time] = Int64(delay)
            time += Int64(delay)
            try encoder.send(planar)
            try write(encoder, packet, &durations, to: track, of: muxer)
        }
        encoder.drain()
        try write(encoder, packet, &durations, to: track, of: muxer)
        return try muxer.finish()
    }

    private func write(
        _ encoder: borrowing Encoder, _ packet: borrowing Packet, _ durations: inout [Int64: Int64], to track: Int,
        of muxer: borrowing Muxer
    ) throws(FFmpegFailure) {
        while try encoder.receive(packet) {
            if let time = packet.pts, let duration = durations.removeValue(forKey: time) {
                unsafe packet.raw.pointee.duration = duration
            }
            // x264 signs its first picture.
            try packet.dropSupplements(framing: .startCodes)
            packet.dropSideData()
            try muxer.write(packet, to: track, timeBase: Self.timeBase.raw)
        }
    }

    /// An encoder whose pictures say that they are in BT.709's colours.
    private static func encoder(_ pictures: Encoder.Pictures) throws(FFmpegFailure) -> Encoder {
        let colours = Colours(
            matrix: AVCOL_SPC_BT709, primaries: AVCOL_PRI_BT709, transfer: AVCOL_TRC_IEC61966_2_1, isFullRange: false)
        return try Encoder(pictures, colours: colours)
    }
}

/// Turns pixels into planes of brightness and colour, by BT.709.
@safe private struct PlanarFrame: ~Copyable {
    private let size: PixelSize
    private let converter: OpaquePointer

    init(_ size: PixelSize) throws(FFmpegFailure) {
        self.size = size
        let converter = unsafe sws_getContext(
            Int32(size.width), Int32(size.height), AV_PIX_FMT_RGBA, Int32(size.width), Int32(size.height),
            AV_PIX_FMT_YUV420P, SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP, nil, nil, nil)
        guard let converter = unsafe converter else { throw .noMemory }
        unsafe self.converter = unsafe converter
        let matrix = unsafe sws_getCoefficients(SWS_CS_ITU709)
        unsafe _ = sws_setColorspaceDetails(converter, matrix, 1, matrix, 0, 0, 1 << 16, 1 << 16)
    }

    deinit {
        unsafe sws_freeContext(converter)
    }

    func converted(_ pixels: [UInt32]) throws(FFmpegFailure) -> Frame {
        let source = try Frame.picture(size, AV_PIX_FMT_RGBA)
        unsafe source.raw.pointee.color_range = AVCOL_RANGE_JPEG
        let target = try Frame.picture(size, AV_PIX_FMT_YUV420P)
        unsafe target.raw.pointee.color_range = AVCOL_RANGE_MPEG
        guard let start = unsafe source.raw.pointee.data.0 else { throw .noMemory }
        let stride = unsafe Int(source.raw.pointee.linesize.0)
        unsafe pixels.withUnsafeBytes { bytes in
            for row in 0..<size.height {
                let line = unsafe UnsafeRawBufferPointer(
                    rebasing: bytes[row * size.width * 4..<(row + 1) * size.width * 4])
                unsafe UnsafeMutableRawBufferPointer(start: start + row * stride, count: line.count)
                    .copyMemory(from: line)
            }
        }
        try checked(unsafe sws_scale_frame(converter, target.raw, source.raw))
        return target
    }
}
