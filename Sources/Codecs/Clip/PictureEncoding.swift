import CFFmpeg

/// Brings the pictures of a part into a container, decoded, filtered and encoded anew; each keeps its own time.
struct PictureEncoding: ~Copyable {
    private let facts: PictureFacts
    private let filters: [Filter]
    private let decoder: Decoder
    private let encoder: Encoder
    private let frame: Frame
    private let held: Frame
    private let filtered: Frame
    private let packet: Packet
    private var chain: FilterChain?
    private let track: Int
    private let timeBase: TimeBase

    /// On the stream's clock.
    private let zero: Int64
    private let end: Int64
    /// How much too early a picture may be and still count as the one that is shown at the start.
    private let tolerance: Int64

    private var isDraining = false
    private var heldTime: Int64 = 0
    private var lastTime: Int64 = -1
    /// Of pictures that are in the encoder, by their time.
    private var durations: [Int64: Int64] = [:]
    private(set) var pictures = 0
    /// When the last picture ends, in seconds of the output.
    private(set) var seconds = 0.0
    private(set) var damagedPackets = 0

    init(
        _ facts: PictureFacts, of demuxer: borrowing Demuxer, as settings: Encoder.Pictures,
        into muxer: borrowing Muxer, zero: Double, duration: Double, maximumPixels: Int64
    ) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(facts.stream), let parameters = unsafe stream.pointee.codecpar else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let encoder = try unsafe Encoder(settings, colours: parameters)
        let frame = try Frame()
        let held = try Frame()
        let filtered = try Frame()
        let packet = try Packet()
        track = try muxer.add(encoder)
        self.decoder = decoder
        self.encoder = encoder
        self.frame = frame
        self.held = held
        self.filtered = filtered
        self.packet = packet
        self.facts = facts
        self.zero = facts.timeBase.ticks(zero)
        end = facts.timeBase.ticks(zero + duration)
        tolerance = facts.timeBase.ticks(facts.frame / 4)
        timeBase = settings.timeBase
        // Scaled before it is turned: fewer pixels to turn.
        let size =
            facts.turn.swapsSides
            ? (width: settings.height, height: settings.width) : (width: settings.width, height: settings.height)
        filters =
            (facts.isInterlaced ? [.deinterlace] : []) + [.scale(width: size.width, height: size.height), .planar420]
            + facts.turn.filters + [.squarePixels]
    }

    /// Takes in a packet of the source.
    ///
    /// - Returns: Whether all pictures of the part are out.
    mutating func accept(_ source: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        if try !decoder.send(source) { damagedPackets += 1 }
        return try takeFrames(into: muxer)
    }

    /// Writes what is still inside.
    mutating func finish(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        decoder.drain()
        isDraining = true
        _ = try takeFrames(into: muxer)
        if !held.isEmpty {
            let natural = max(held.duration, facts.timeBase.ticks(facts.frame))
            try encodeHeld(until: min(end, heldTime + natural) == end ? end : heldTime + natural, into: muxer)
        }
        chain?.drain()
        try encodeFiltered(into: muxer)
        encoder.drain()
        try writeEncoded(into: muxer)
    }

    /// A picture waits for the next one: only then is it known how long it is shown, and whether it is the one that
    /// is shown at the start.
    private mutating func takeFrames(into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        while try decoder.receive(frame) {
            guard let time = frame.timestamp ?? expected else { continue }
            if time >= end - tolerance {
                if !held.isEmpty { try encodeHeld(until: end, into: muxer) }
                return true
            }
            if !held.isEmpty && time > zero + tolerance { try encodeHeld(until: time, into: muxer) }
            heldTime = time
            held.take(from: frame)
        }
        return false
    }

    /// Where a picture without a time belongs, such as the last of those that no container gives times: after the one
    /// before it; the only one, at the start.
    private var expected: Int64? {
        if held.isEmpty { return isDraining && pictures == 0 ? zero : nil }
        return heldTime + max(held.duration, facts.timeBase.ticks(facts.frame))
    }

    private mutating func encodeHeld(until next: Int64, into muxer: borrowing Muxer) throws(FFmpegFailure) {
        defer { held.clear() }
        let source = facts.timeBase
        let start = max(0, heldTime - zero)
        guard next - zero > start else { return }
        let time = timeBase.ticks(source.seconds(start))
        guard time > lastTime else { return }
        lastTime = time
        durations[time] = max(1, timeBase.ticks(source.seconds(next - zero)) - time)
        seconds = source.seconds(next - zero)
        unsafe held.raw.pointee.pts = start
        unsafe held.raw.pointee.pict_type = AV_PICTURE_TYPE_NONE
        if chain?.suits(held) != true {
            chain?.drain()
            try encodeFiltered(into: muxer)
            chain = try FilterChain(filters, like: held, timeBase: source.raw)
        }
        try chain?.send(held)
        try encodeFiltered(into: muxer)
    }

    private mutating func encodeFiltered(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        while try chain?.receive(filtered) == true {
            let base = chain?.timeBase ?? timeBase.raw
            let time = filtered.pts ?? 0
            unsafe filtered.raw.pointee.pts = timeBase.ticks(TimeBase(base).seconds(time))
            unsafe filtered.raw.pointee.pict_type = AV_PICTURE_TYPE_NONE
            try encoder.send(filtered)
            pictures += 1
            try writeEncoded(into: muxer)
        }
    }

    private mutating func writeEncoded(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        while try encoder.receive(packet) {
            if let time = packet.pts, let duration = durations.removeValue(forKey: time) {
                unsafe packet.raw.pointee.duration = duration
            }
            // x264 signs its first picture.
            try packet.dropSupplements(framing: .startCodes)
            packet.dropSideData()
            try muxer.write(packet, to: track, timeBase: timeBase.raw)
        }
    }
}
