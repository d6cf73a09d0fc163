import SatchelCore
import CFFmpeg
import StillCodecs

/// Finds the picture that stands for a video.
struct PosterPicker {
    var picture: PictureFacts
    /// The part, on the stream's clock, in seconds.
    var start: Double
    var end: Double
    var maximumPixels: Int64
    /// Of the picture that is wanted: upright, with square pixels.
    var size: PixelSize

    /// The pixels of a poster's longest side are never more than this before it is scaled to its profile.
    static let longestSide = 2048
    /// How many pictures are looked at.
    private static let candidates = 8
    /// With fewer keyframes than this the pictures between them are looked at too.
    private static let fewKeyframes = 3
    /// Pixels that are decoded at most in search of a picture: about a second's work.
    private static let decodedPixels = 120_000_000.0
    /// Seconds between a picture and those that tell whether it is one of a transition.
    static let step = 0.125
    /// How many of the best are examined for being in a transition.
    private static let examined = 3
    /// The part of the time that looking for a better one may take.
    private static let share = 0.2

    /// A picture and when it is shown, on the stream's clock.
    struct Pick {
        var raster: Raster
        var time: Double
        /// It is two fields, of two moments; its raster is not.
        var isInterlaced: Bool
        /// Why it was chosen, as a clause; nil where it was asked for.
        var reason: String?
    }

    /// The picture that is shown at `time`, or else the most interesting one of the part.
    ///
    /// - Returns: Nil where not one picture of the part can be decoded.
    func pick(from demuxer: borrowing Demuxer, at time: Double?) throws(FFmpegFailure) -> Pick? {
        if let time {
            let wanted = max(start, min(time, end - picture.leniency))
            return try shown(at: wanted, in: demuxer)
        }
        let affordable = max(1, Int(Self.decodedPixels / Double(max(1, picture.coded.area))))
        let keyframes = try keyframes(in: demuxer, atMost: min(Self.candidates, affordable))
        let hasMany = keyframes.count >= Self.fewKeyframes && affordable > 1
        if hasMany, let pick = try clearlyGoodKeyframe(keyframes, in: demuxer, affordable: affordable) { return pick }
        let choice =
            hasMany
            ? try chooseKeyframe(keyframes.map(\.time), in: demuxer, affordable: affordable)
            : try chooseInSequence(in: demuxer, affordable: affordable)
        if let choice, var pick = try shown(at: choice.time, in: demuxer) {
            pick.reason = choice.reason
            return pick
        }
        return try shown(at: start, in: demuxer)
    }

    /// The size to which a picture is scaled so that all of `stills` can be made from it.
    static func size(of upright: PixelSize, for stills: [StillPolicy], in policies: ImagePolicies) -> PixelSize {
        let most = upright.even(longestSide: longestSide)
        let sizes = stills.map { $0.framing.scaledSize(of: most) }
        guard policies.region(of: most).size == most, let largest = sizes.max(by: { $0.area < $1.area }),
            stills.map({ $0.framing.scaledSize(of: largest) }) == sizes
        else { return most }
        return largest
    }

    // MARK: Looking around

    /// A picture that can be decoded alone.
    struct Keyframe {
        /// On the stream's clock, in seconds.
        var time: Double
        var bytes: Int
    }

    /// The keyframes before the middles of equal shares of the part: the first picture is often black, and the last a
    /// farewell.
    private func keyframes(in demuxer: borrowing Demuxer, atMost count: Int) throws(FFmpegFailure) -> [Keyframe] {
        let packet = try Packet()
        var keyframes: [Keyframe] = []
        for index in 0..<count {
            let wanted = start + (end - start) * (Double(index) + 0.5) / Double(count)
            guard try demuxer.seek(picture: picture, before: wanted, packet: packet) else { continue }
            while try demuxer.read(packet) {
                guard packet.stream == picture.stream, packet.isKey, let found = packet.pts ?? packet.dts else {
                    continue
                }
                let seconds = picture.timeBase.seconds(found)
                let isNew = !keyframes.contains { $0.time == seconds }
                if seconds >= start - picture.leniency, seconds < end, isNew {
                    keyframes.append(Keyframe(time: seconds, bytes: packet.bytes))
                }
                break
            }
        }
        return keyframes.sorted { $0.time < $1.time }
    }

    private func chooseKeyframe(
        _ keyframes: [Double], in demuxer: borrowing Demuxer, affordable: Int
    ) throws(FFmpegFailure) -> (time: Double, reason: String)? {
        guard let stream = unsafe demuxer.stream(picture.stream) else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels, isRough: true)
        var candidates: [FrameStatistics] = []
        for time in keyframes {
            if let statistics = try self.candidates(at: [time], in: demuxer, by: decoder, affordable: affordable).first
            {
                candidates.append(statistics)
            }
            if WorkTime.isPast(Self.share) { break }
        }
        var choice = PosterChoice(candidates)
        // The best are looked at again, with what comes after them.
        for _ in 0..<Self.examined {
            guard let best = choice.best, !WorkTime.isPast(Self.share) else { break }
            let time = candidates[best].time
            let after = try self.candidates(
                at: [time, time + Self.step, time + 2 * Self.step], in: demuxer, by: decoder, affordable: affordable)
            guard after.count == 3, PosterChoice.isTransition(after[0], after[1], after[2]) else { break }
            choice.markTransition(best)
        }
        return choice.best.map { (candidates[$0].time, choice.reason($0)) }
    }

    /// Of one group of pictures, every few of them in turn.
    private func chooseInSequence(
        in demuxer: borrowing Demuxer, affordable: Int
    ) throws(FFmpegFailure) -> (time: Double, reason: String)? {
        let steps = min(96, max(1, Int((end - start) / Self.step)))
        let times = (0..<steps).map { start + (end - start) * (Double($0) + 0.5) / Double(steps) }
        guard let stream = unsafe demuxer.stream(picture.stream) else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let candidates = try self.candidates(at: times, in: demuxer, by: decoder, affordable: affordable)
        var choice = PosterChoice(candidates)
        for index in candidates.indices.dropFirst().dropLast()
        where PosterChoice.isTransition(candidates[index - 1], candidates[index], candidates[index + 1]) {
            choice.markTransition(index)
        }
        return choice.best.map { (candidates[$0].time, choice.reason($0)) }
    }

    /// The same, and nothing is kept.
    private func candidates(
        at times: [Double], in demuxer: borrowing Demuxer, by decoder: borrowing Decoder, affordable: Int
    ) throws(FFmpegFailure) -> [FrameStatistics] {
        try candidates(at: times, in: demuxer, by: decoder, affordable: affordable, keeping: Frame())
    }

    /// Looks at the pictures that are shown at `times`, which ascend, as far as `affordable` decoded pictures reach.
    ///
    /// - Parameter kept: The first of them.
    func candidates(
        at times: [Double], in demuxer: borrowing Demuxer, by decoder: borrowing Decoder, affordable: Int,
        keeping kept: borrowing Frame
    ) throws(FFmpegFailure) -> [FrameStatistics] {
        guard let first = times.first else { return [] }
        decoder.flush()
        let packet = try Packet()
        let frame = try Frame()
        guard try demuxer.seek(picture: picture, before: first + picture.leniency, packet: packet) else { return [] }
        var candidates: [FrameStatistics] = []
        var decoded = 0
        var isDrained = false
        let reader = try StatisticsReader(picture)
        while candidates.count < times.count {
            while candidates.count < times.count, try decoder.receive(frame) {
                decoded += 1
                let time = frame.timestamp.map(picture.timeBase.seconds) ?? first
                guard time >= times[candidates.count] - picture.frame / 2, time < end else { continue }
                if candidates.isEmpty { try kept.share(frame) }
                candidates.append(try reader.statistics(at: frame, time: time))
            }
            if isDrained || decoded >= affordable || WorkTime.isPast(Self.share) { break }
            if try demuxer.read(packet) {
                if packet.stream == picture.stream { try decoder.send(packet) }
            } else {
                decoder.drain()
                isDrained = true
            }
            // One picture is wanted, and it stands alone.
            if times.count == 1, !isDrained, packet.stream == picture.stream, packet.isKey,
                let found = packet.pts ?? packet.dts,
                picture.timeBase.seconds(found) >= first - picture.frame / 2
            {
                decoder.drain()
                isDrained = true
            }
        }
        return candidates
    }

    // MARK: One picture

    /// The last picture that is shown at or before `time`, and the first after it where there is none.
    private func shown(at time: Double, in demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Pick? {
        guard let stream = unsafe demuxer.stream(picture.stream) else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let packet = try Packet()
        let frame = try Frame()
        let held = try Frame()
        guard
            try demuxer.seek(
                picture: picture, shownAt: time + picture.leniency, packet: packet, maximumPixels: maximumPixels)
        else { return nil }
        let limit = picture.timeBase.ticks(time + picture.leniency)
        var isDrained = false
        while try demuxer.decode(picture.stream, by: decoder, frame, packet: packet, isDrained: &isDrained) {
            guard let found = frame.timestamp else {
                // The only picture may have no time.
                if held.isEmpty { held.take(from: frame) }
                continue
            }
            if found > limit, !held.isEmpty { return try pick(held) }
            held.take(from: frame)
            if found > limit { return try pick(held) }
        }
        return held.isEmpty ? nil : try pick(held)
    }

    /// Upright, with square pixels, in sRGB.
    func pick(_ frame: borrowing Frame, flags: String = Filter.carefully) throws(FFmpegFailure) -> Pick {
        let time = frame.timestamp.map(picture.timeBase.seconds) ?? start
        let stored = picture.turn.swapsSides ? size.swapped : size
        let isInterlaced = frame.isInterlaced && min(frame.width, frame.height) >= 4
        picture.colours.mark(frame)
        let chain = try FilterChain(
            (isInterlaced ? [.deinterlaceStill] : [])
                + picture.colours.stillFilters(to: stored, peak: PeakLight.nits(frame) ?? picture.peak, flags: flags)
                + picture.turn.filters,
            like: frame, timeBase: picture.timeBase.raw)
        let output = try Frame()
        try chain.send(frame)
        chain.drain()
        guard try chain.receive(output) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        return Pick(raster: try output.raster(channels: 3), time: time, isInterlaced: isInterlaced)
    }
}

/// Makes small grey pictures of frames, to compare them.
private struct StatisticsReader: ~Copyable {
    private let picture: PictureFacts
    private let output: Frame

    init(_ picture: PictureFacts) throws(FFmpegFailure) {
        self.picture = picture
        output = try Frame()
    }

    func statistics(at frame: borrowing Frame, time: Double) throws(FFmpegFailure) -> FrameStatistics {
        let size = picture.coded.even(longestSide: FrameStatistics.side)
        picture.colours.mark(frame)
        let chain = try FilterChain(
            [.sketch(width: size.width, height: size.height), .grey], like: frame, timeBase: picture.timeBase.raw)
        try chain.send(frame)
        chain.drain()
        guard try chain.receive(output) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        return FrameStatistics(
            time: time, width: output.width, height: output.height, luminance: try output.rows(bytes: 1))
    }
}

extension Filter {
    static let rgb = Filter(name: "format", options: ["pix_fmts": "rgb24"])
    static let grey = Filter(name: "format", options: ["pix_fmts": "gray"])
    /// For one picture without its neighbours.
    static let deinterlaceStill = Filter(name: "yadif", options: ["mode": "send_frame", "deint": "interlaced"])

    static func sketch(width: Int, height: Int) -> Filter {
        Filter(
            name: "scale",
            options: ["w": String(width), "h": String(height), "flags": "area", "out_range": "pc"])
    }
}

extension Frame {
    /// The pixels of a packed frame with 8 bits a channel.
    func raster(channels: Int) throws(FFmpegFailure) -> Raster {
        Raster(width: width, height: height, channels: channels, bytes: try rows(bytes: channels))
    }
}
