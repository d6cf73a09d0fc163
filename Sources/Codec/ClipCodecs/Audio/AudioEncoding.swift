import SatchelCore
import CFFmpeg
import StillCodecs

/// Brings the sound of a part into a container, decoded and encoded anew.
struct AudioEncoding: ~Copyable {
    private let facts: AudioFacts
    private let settings: Encoder.Samples
    private var decoder: Decoder
    private let following: FollowingParts?
    private var part = 0
    private let encoder: Encoder
    private let frame: Frame
    private let filtered: Frame
    private let cut: Frame
    private let packet: Packet
    private var chain: FilterChain?
    /// Cuts what one or several chains give into the encoder's frames: only the last frame may be shorter.
    private var cutter: FilterChain?
    private let track: Int
    /// What the stream's clock shows at the output's beginning, in seconds.
    private let zero: Double
    private let duration: Double
    private var clock: AudioClock
    /// Samples encoded so far.
    private(set) var samples: Int64 = 0
    private let mostSamples: Int64
    /// What packets may take; one that it doesn't reach for becomes silence.
    private var budget: AudioBudget?

    /// Decoders need what lies shortly before the first sound that is heard.
    private static let preroll = 0.25

    init(
        _ facts: AudioFacts, of demuxer: borrowing Demuxer, as settings: Encoder.Samples, into muxer: borrowing Muxer,
        zero: Double, duration: Double, budget: AudioBudget? = nil
    ) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(facts.stream) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: 1)
        let encoder = try Encoder(settings)
        let frame = try Frame()
        let filtered = try Frame()
        let cut = try Frame()
        let packet = try Packet()
        track = try muxer.add(encoder)
        self.decoder = decoder
        following = demuxer.following
        self.encoder = encoder
        self.frame = frame
        self.filtered = filtered
        self.cut = cut
        self.packet = packet
        self.facts = facts
        clock = AudioClock(facts)
        self.settings = settings
        self.zero = zero
        self.duration = duration
        self.budget = budget
        mostSamples = AudioPlan.mostSamples(settings, seconds: duration)
    }

    /// When the last sound so far ends, in seconds of the output.
    var seconds: Double { Double(samples) / Double(settings.rate) }

    /// Takes in a packet of the source.
    ///
    /// - Returns: Whether it lies after the part.
    mutating func accept(_ source: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        if facts.dropJunk(from: source) > 0, source.bytes == 0 { return false }
        if let time = source.pts ?? source.dts {
            let seconds = facts.timeBase.seconds(time) - zero
            if seconds - facts.delay > duration { return true }
            if seconds < -Self.preroll - 0.1 { return false }
        }
        if let following, following.index != part, let stream = unsafe following.source(of: facts.stream) {
            part = following.index
            decoder.drain()
            try takeFrames(into: muxer)
            decoder = try unsafe Decoder(for: stream, maximumPixels: 1, timeBase: facts.timeBase)
        }
        try decoder.send(source)
        try takeFrames(into: muxer)
        return false
    }

    /// Writes what is still inside.
    mutating func finish(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        decoder.drain()
        try takeFrames(into: muxer)
        chain?.drain()
        try encodeFiltered(into: muxer)
        cutter?.drain()
        try encodeCut(into: muxer)
        encoder.drain()
        try writeEncoded(into: muxer)
    }

    private mutating func takeFrames(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        while try decoder.receive(frame) {
            guard frame.samples > 0 else { continue }
            frame.nameChannels()
            let time = clock.time(of: frame)
            unsafe frame.raw.pointee.pts = time - facts.timeBase.ticks(zero)
            if chain?.suits(frame) != true {
                chain?.drain()
                try encodeFiltered(into: muxer)
                chain = try FilterChain(
                    [
                        .within(seconds: duration),
                        // In samples of what goes in.
                        .resample(
                            rate: settings.rate, channels: settings.channels,
                            from: Int64(seconds * Double(unsafe frame.raw.pointee.sample_rate))),
                        .samples(
                            settings.codec == .aac ? "fltp" : "s16", rate: settings.rate, channels: settings.channels),
                    ], like: frame, timeBase: facts.timeBase.raw)
            }
            try chain?.send(frame)
            try encodeFiltered(into: muxer)
        }
    }

    private mutating func encodeFiltered(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        while try chain?.receive(filtered) == true {
            // What a resampler made up at the end is not part of it.
            let left = mostSamples - samples
            guard left > 0 else { continue }
            if Int64(filtered.samples) > left { unsafe filtered.raw.pointee.nb_samples = Int32(clamping: left) }
            unsafe filtered.raw.pointee.pts = samples
            samples += Int64(filtered.samples)
            if cutter == nil {
                cutter = try FilterChain(
                    [], like: filtered, timeBase: encoder.timeBase, frameSamples: encoder.frameSamples)
            }
            try cutter?.send(filtered)
            try encodeCut(into: muxer)
        }
    }

    private mutating func encodeCut(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        while try cutter?.receive(cut) == true {
            try encoder.send(cut)
            try writeEncoded(into: muxer)
        }
    }

    private mutating func writeEncoded(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        while try encoder.receive(packet) {
            let time = Double(packet.pts ?? 0) / Double(settings.rate)
            if let silence = budget?.silence, budget?.keeps(packet.bytes, at: time) == false {
                try packet.fill(with: silence)
            }
            try muxer.write(packet, to: track, timeBase: encoder.timeBase)
        }
    }
}

/// Tells when a frame of sound is heard, also where it doesn't say so: after the one before.
struct AudioClock {
    /// Seconds.
    private static let near = 0.5

    let timeBase: TimeBase
    private let delay: Int64
    private let rate: Int
    private var next: Int64?

    init(_ facts: AudioFacts) {
        timeBase = facts.timeBase
        delay = facts.timeBase.ticks(facts.delay)
        rate = facts.rate
    }

    mutating func time(of frame: borrowing Frame) -> Int64 {
        var time = frame.timestamp.map { $0 - delay } ?? next ?? 0
        let own = unsafe Int(max(1, frame.raw.pointee.sample_rate))
        // A parser counts the frames between two times by the stream's rate, also where theirs is another.
        if own != rate, let next, time < next, next - time < timeBase.ticks(Self.near) { time = next }
        next = time + timeBase.ticks(Double(frame.samples) / Double(own))
        return time
    }
}

/// Brings the sound of a part into a container as it is.
struct AudioCopy: ~Copyable {
    private let facts: AudioFacts
    private let track: Int
    private let zero: Double
    private let duration: Double
    /// The part begins where the source does: what primes its decoder comes along.
    private let isFromStart: Bool
    private let damage: AudioDamage
    /// Frames of MP3 that are not yet free of what they hold beside their sound.
    private var ancillary = MP3Ancillary()
    private var waiting: [HeldPacket] = []
    /// The packet before the first that belongs to the part: its decoder needs it, and what it tells is not heard.
    private let primer: Packet
    /// When the first and the last sound are heard, in seconds of the output.
    private(set) var heard: ClosedRange<Double>?

    init(
        _ facts: AudioFacts, of demuxer: borrowing Demuxer, into muxer: borrowing Muxer, zero: Double, duration: Double,
        isFromStart: Bool, damage: AudioDamage = AudioDamage()
    ) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(facts.stream) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let primer = try Packet()
        var priming: Int?
        if facts.codec == .mp3, isFromStart, demuxer.format == .mp3, unsafe stream.pointee.start_time > 0 {
            // FFmpeg's demuxer puts the beginning behind what LAME's tag says the encoder and the decoder add.
            let seconds = unsafe facts.timeBase.seconds(stream.pointee.start_time)
            priming = Int((min(seconds, 1) * Double(facts.rate)).rounded())
        }
        track = try unsafe muxer.addCopy(of: stream, priming: priming)
        self.primer = primer
        self.facts = facts
        self.zero = zero
        self.duration = duration
        self.isFromStart = isFromStart
        self.damage = damage
    }

    /// Whether a packet belongs to the part: the greater half of it lies within.
    static func belongs(
        at seconds: Double, lasting length: Double, duration: Double, isFromStart: Bool, isHidden: Bool
    ) -> Bool {
        let middle = seconds + length / 2
        guard middle <= duration else { return false }
        return isFromStart ? seconds > -0.2 : middle >= 0 && !isHidden
    }

    /// Writes a packet of the source where it belongs to the part.
    ///
    /// - Returns: Whether it lies after the part.
    mutating func accept(_ packet: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        _ = facts.dropJunk(from: packet)
        guard let time = packet.pts ?? packet.dts, let bytes = facts.frameBytes(packet) else { return false }
        // Nothing is copied but frames.
        packet.keep(0..<bytes)
        let seconds = facts.timeBase.seconds(time) - zero
        let length = facts.timeBase.seconds(packet.duration)
        guard
            Self.belongs(
                at: seconds, lasting: length, duration: duration, isFromStart: isFromStart, isHidden: packet.isDiscarded
            )
        else {
            if heard == nil, facts.codec == .aac, !isFromStart, !packet.isCorrupt, seconds < 0 {
                primer.take(from: packet)
            }
            return seconds > duration
        }
        if damage.leavesOut(packet) { return false }
        if heard == nil, let time = primer.pts ?? primer.dts, primer.bytes > 0 {
            let gap = seconds - (facts.timeBase.seconds(time) - zero) - length
            if abs(gap) < length / 2 { try write(primer, into: muxer) }
            primer.clear()
        }
        heard = min(heard?.lowerBound ?? .infinity, seconds)...max(heard?.upperBound ?? -.infinity, seconds + length)
        // Of an MP3 the side data is the count of samples that pad the end.
        guard facts.codec == .mp3 else {
            try write(packet, into: muxer)
            return false
        }
        packet.shift(by: facts.timeBase.ticks(zero))
        waiting.append(try HeldPacket(taking: packet))
        try write(ancillary.add(waiting.last.map { unsafe Array($0.packet.contents) } ?? []), into: muxer)
        return false
    }

    private func write(_ packet: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) {
        packet.shift(by: facts.timeBase.ticks(zero))
        packet.dropSideData()
        if facts.codec == .aac { try packet.clearAACElements() }
        try muxer.write(packet, to: track, timeBase: facts.timeBase.raw)
    }

    /// Writes what is still held.
    mutating func finish(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        try write(ancillary.finish(), into: muxer)
    }

    private mutating func write(_ frames: [[UInt8]], into muxer: borrowing Muxer) throws(FFmpegFailure) {
        for (held, frame) in zip(waiting, frames) {
            try held.packet.overwrite(with: frame)
            try muxer.write(held.packet, to: track, timeBase: facts.timeBase.raw)
        }
        waiting.removeFirst(frames.count)
    }
}

/// What a decoder could not make sound of in a part.
struct AudioDamage: Hashable, Sendable {
    /// Damaged packets with good ones after them.
    private(set) var inside = 0
    /// Damaged packets after the last good one, such as one that the end of the file cuts off.
    private(set) var atEnd = 0
    /// Of all damaged packets, ...
    private(set) var seconds = 0.0
    /// ... and of them those that the clock passes over, as if nothing were there.
    private(set) var unplayed = 0.0
    /// Seconds of the longest frame among them.
    private(set) var frame = 0.0
    /// When the first of those at the end is heard, on the stream's clock.
    private var end: Int64?

    var isEmpty: Bool { inside == 0 && atEnd == 0 }

    /// Takes note of the next packet.
    ///
    /// - Parameters:
    ///   - length: Seconds of it that are missed.
    ///   - more: The same of what lies in it besides, which has no time of its own.
    mutating func add(time: Int64?, isDamaged: Bool, lasting length: Double = 0, besides more: Double = 0) {
        if isDamaged {
            seconds += length + more
            frame = max(frame, length)
            unplayed += more
            if atEnd == 0 { end = time }
            atEnd += 1
        } else {
            inside += atEnd
            atEnd = 0
            end = nil
        }
    }

    /// Whether a copy does without `packet`.
    func leavesOut(_ packet: borrowing Packet) -> Bool {
        if packet.isCorrupt { return true }
        guard let end, let time = packet.pts ?? packet.dts else { return false }
        return time >= end
    }
}

extension Packet {
    /// Forgets what the source's container said beside the data.
    func dropSideData() {
        unsafe av_packet_free_side_data(raw)
    }
}
