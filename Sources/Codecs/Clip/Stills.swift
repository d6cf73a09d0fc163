import Attachments
import CFFmpeg

/// Finds the picture that stands for a video.
struct PosterPicker {
    var picture: PictureFacts
    /// The part, on the stream's clock, in seconds.
    var start: Double
    var end: Double
    var maximumPixels: Int64
    var effort: Effort

    /// The pixels of a poster's longest side are never more than this before it is scaled to its profile.
    static let longestSide = 2048
    /// How many pictures are looked at where the first ones are dull.
    private static let candidates = 6
    /// The part of the time that looking for a better one may take.
    private static let share = 0.2
    /// A liveliness that ends the search.
    private static let lively = 0.12

    /// A picture and when it is shown, on the stream's clock.
    struct Pick {
        var raster: Raster
        var time: Double
    }

    /// The picture that is shown at `time`, or else a lively one of the part.
    ///
    /// - Returns: Nil where not one picture of the part can be decoded.
    func pick(from demuxer: borrowing Demuxer, at time: Double?) throws(FFmpegFailure) -> Pick? {
        if let time {
            let wanted = max(start, min(time, end - picture.frame / 2))
            return try shown(at: wanted, in: demuxer)
        }
        var best: (pick: Pick, score: Double)?
        let count = effort == .full ? Self.candidates : 1
        // From the middle of equal shares of the part: the first picture is often black, and the last a farewell.
        for index in 0..<count {
            if best != nil, WorkTime.isPast(Self.share) { break }
            let wanted = start + (end - start) * (Double(index) + 0.5) / Double(count)
            guard let pick = try near(wanted, in: demuxer) else { continue }
            let score = Liveliness.of(pick.raster)
            if score > best?.score ?? -1 { best = (pick, score) }
            if score >= Self.lively { break }
        }
        if let best { return best.pick }
        return try shown(at: start, in: demuxer)
    }

    /// The keyframe before `time` where it lies in the part, which costs one picture; else the picture at `time`.
    private func near(_ time: Double, in demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Pick? {
        let packet = try Packet()
        guard try demuxer.seek(picture: picture, before: time, packet: packet) else { return nil }
        while try demuxer.read(packet) {
            guard packet.stream == picture.stream, packet.isKey, let found = packet.pts ?? packet.dts else { continue }
            let seconds = picture.timeBase.seconds(found)
            if seconds >= start - picture.frame / 4, seconds < end { return try shown(at: seconds, in: demuxer) }
            break
        }
        return try shown(at: time, in: demuxer)
    }

    /// The last picture that is shown at or before `time`, and the first after it where there is none.
    private func shown(at time: Double, in demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Pick? {
        guard let stream = unsafe demuxer.stream(picture.stream) else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let packet = try Packet()
        let frame = try Frame()
        let held = try Frame()
        guard try demuxer.seek(picture: picture, before: time + picture.frame / 4, packet: packet) else { return nil }
        let limit = picture.timeBase.ticks(time + picture.frame / 4)
        var isDrained = false
        while true {
            while try decoder.receive(frame) {
                guard let found = frame.timestamp else {
                    // The only picture may have no time.
                    if held.isEmpty { held.take(from: frame) }
                    continue
                }
                if found > limit, !held.isEmpty { return try pick(held) }
                held.take(from: frame)
                if found > limit { return try pick(held) }
            }
            if isDrained { break }
            if try demuxer.read(packet) {
                if packet.stream == picture.stream { try decoder.send(packet) }
            } else {
                decoder.drain()
                isDrained = true
            }
        }
        return held.isEmpty ? nil : try pick(held)
    }

    /// Upright, with square pixels.
    private func pick(_ frame: borrowing Frame) throws(FFmpegFailure) -> Pick {
        let time = frame.timestamp.map(picture.timeBase.seconds) ?? start
        let size = VideoPlan.size(of: picture.upright, longestSide: Self.longestSide)
        let stored =
            picture.turn.swapsSides ? PixelSize(width: size.height, height: size.width) : size
        let chain = try FilterChain(
            (picture.isInterlaced ? [.deinterlace] : []) + [.scale(width: stored.width, height: stored.height)]
                + [.rgb] + picture.turn.filters,
            like: frame, timeBase: picture.timeBase.raw)
        let output = try Frame()
        try chain.send(frame)
        chain.drain()
        guard try chain.receive(output) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        return Pick(raster: try output.raster(channels: 3), time: time)
    }
}

/// How much there is to see in a picture.
enum Liveliness {
    /// 0 for one even colour, up to 1: how far brightness spreads, less where it is all dark or all bright.
    static func of(_ raster: Raster) -> Double {
        let pixels = raster.width * raster.height
        // A few thousand samples tell as much as all.
        let step = max(1, pixels / 4096)
        var sum = 0.0
        var squares = 0.0
        var count = 0.0
        for pixel in stride(from: 0, to: pixels, by: step) {
            let offset = pixel * raster.channels
            let red = Double(raster.bytes[offset])
            let green = Double(raster.bytes[offset + 1])
            let blue = Double(raster.bytes[offset + 2])
            let brightness: Double = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
            sum += brightness
            squares += brightness * brightness
            count += 1
        }
        let mean = sum / count
        let spread = max(0, squares / count - mean * mean).squareRoot()
        return spread * 2 * (mean < 0.06 || mean > 0.97 ? 0.3 : 1)
    }
}

/// An audio file's cover art.
enum CoverArt {
    /// Nil where it can't be decoded or is larger than `maximumPixels`: the sound is what counts.
    static func raster(_ demuxer: borrowing Demuxer, stream index: Int, maximumPixels: Int64) throws(FFmpegFailure)
        -> Raster?
    {
        guard let stream = unsafe demuxer.stream(index), unsafe stream.pointee.attached_pic.size > 0 else { return nil }
        let decoder: Decoder
        do throws(FFmpegFailure) {
            decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        } catch {
            return nil
        }
        let packet = try Packet()
        let frame = try Frame()
        try checked(unsafe av_packet_ref(packet.raw, &stream.pointee.attached_pic))
        try decoder.send(packet)
        decoder.drain()
        guard try decoder.receive(frame), frame.width > 0, frame.height > 0 else { return nil }
        var converter = PixelConverter()
        let size = VideoPlan.size(
            of: PixelSize(width: frame.width, height: frame.height), longestSide: 2048)
        let pixels = try converter.rgba(of: frame, width: size.width, height: size.height)
        return Raster(width: size.width, height: size.height, channels: 4, bytes: pixels)
    }
}

extension Filter {
    static let rgb = Filter(name: "format", options: ["pix_fmts": "rgb24"])
}

extension Frame {
    /// The pixels of a packed frame with 8 bits a channel.
    func raster(channels: Int) throws(FFmpegFailure) -> Raster {
        let rowBytes = width * channels
        let stride = unsafe Int(raw.pointee.linesize.0)
        guard let pixels = unsafe raw.pointee.data.0, width > 0, height > 0, abs(stride) >= rowBytes else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        var bytes = [UInt8]()
        bytes.reserveCapacity(rowBytes * height)
        for row in 0..<height {
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: pixels + row * stride, count: rowBytes))
        }
        return Raster(width: width, height: height, channels: channels, bytes: bytes)
    }
}
