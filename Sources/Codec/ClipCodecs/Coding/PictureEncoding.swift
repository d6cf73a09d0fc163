import SatchelCore
import CFFmpeg
import StillCodecs

/// Brings the pictures of a part into a container, decoded, filtered and encoded anew; each keeps its own time.
struct PictureEncoding: ~Copyable {
    private let facts: PictureFacts
    /// The pictures that are encoded, before they are turned.
    private let stored: PixelSize
    private let isExact: Bool
    private var decoder: Decoder
    private let maximumPixels: Int64
    private let following: FollowingParts?
    private var part = 0
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
    /// Seconds from `zero` to `end`, which a coarse clock doesn't say.
    private let duration: Double
    /// How much too early a picture may be and still count as the one that is shown at the start.
    private let tolerance: Int64

    /// Whether any picture so far says that it is two fields.
    private var isInterlaced: Bool
    /// Ticks that lie between two pictures at least.
    private let spacing: Int64
    /// What pictures that stand alone may take; one that it doesn't reach for is left out.
    private var budget: ByteBudget?
    /// With a budget: the last picture, until it is known how long it is shown.
    private let waiting: Packet
    /// When the last picture that was left out for its spacing would have ended.
    private var leftOutUntil = Int64.min
    private var isDraining = false
    private var heldTime: Int64 = 0
    private var lastTime: Int64 = -1
    /// Of pictures that are in the encoder, by their time.
    private var durations: [Int64: Int64] = [:]
    private(set) var pictures = 0
    /// Of pictures with a budget: whether it reached for one.
    private(set) var hasWritten = false
    /// When the last picture ends, in seconds of the output.
    private(set) var seconds = 0.0
    /// Packets of the part, from the first on that can be decoded alone, and those of them that a decoder complained of.
    private var packets = 0
    private var damagedPackets = 0
    /// A packet was marked as damaged of which no decoder complained: how many of the next ones may still show that nothing is
    /// missing; 0 where none is.
    private var doubt = 0
    /// Pictures for which there is no time, as others have it.
    private var overtaken = 0
    /// The first picture of another size than those before, and when it is shown, in seconds of the output.
    private var other: (size: PixelSize, time: Double)?
    private var hasBegun = false
    /// Whether the container complained before the next packet: then what lies between it and the one before is missing.
    var isBehindGap = false
    private var lastRead: Int64?
    private var failures = 0
    /// Pictures of the part of which a decoder made up something.
    private var damagedFrames = 0
    private var shownFrames = 0
    /// Which packet and which picture was the first that is damaged.
    private var firstDamage: (packet: Int?, frame: Int?) = (nil, nil)
    private let isFromStart: Bool
    /// A picture of after the part came out before any of it.
    private(set) var isAhead = false

    init(
        _ facts: PictureFacts, of demuxer: borrowing Demuxer, as settings: Encoder.Pictures,
        into muxer: borrowing Muxer, zero: Double, duration: Double, maximumPixels: Int64, isFromStart: Bool,
        budget: ByteBudget? = nil
    ) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(facts.stream) else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        // Scaled before it is turned: fewer pixels to turn.
        let size = PixelSize(width: settings.width, height: settings.height)
        let stored = facts.turn.swapsSides ? size.swapped : size
        let encoder = try Encoder(settings, colours: facts.colours.encoded(size: stored))
        let frame = try Frame()
        let held = try Frame()
        let filtered = try Frame()
        let packet = try Packet()
        let waiting = try Packet()
        track = try muxer.add(encoder)
        self.decoder = decoder
        self.maximumPixels = maximumPixels
        following = demuxer.following
        self.encoder = encoder
        self.frame = frame
        self.held = held
        self.filtered = filtered
        self.packet = packet
        self.facts = facts
        self.zero = facts.timeBase.ticks(zero)
        end = facts.timeBase.ticks(zero + duration)
        self.duration = duration
        tolerance = facts.timeBase.ticks(facts.leniency)
        timeBase = settings.timeBase
        spacing = facts.timeBase.ticks(settings.spacing * 0.99)
        self.budget = budget
        self.isFromStart = isFromStart
        self.waiting = waiting
        isInterlaced = facts.isInterlaced
        self.stored = stored
        isExact = settings.isCareful
    }

    /// Takes in a packet of the source.
    ///
    /// - Returns: Whether all pictures of the part are out.
    mutating func accept(_ source: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        if let time = source.dts ?? source.pts {
            if isBehindGap, let lastRead {
                let missing = Int((facts.timeBase.seconds(time - lastRead) / facts.frame).rounded()) - 1
                damagedPackets += max(0, missing)
                packets += max(0, missing)
            }
            if doubt > 0 {
                // Where recordings were joined, the count of the container's packets leaps, and nothing is missing. A parser
                // marks the picture before the last one.
                let follows =
                    lastRead.map { facts.timeBase.seconds(time - $0) < facts.frame * 1.5 + Self.joint } ?? false
                let isJoined = follows && source.isKey
                doubt = isJoined ? 0 : doubt - 1
                if doubt == 0, !isJoined { damagedPackets += 1 }
            }
            (lastRead, isBehindGap) = (time, false)
        }
        if let following, following.index != part, let stream = unsafe following.source(of: facts.stream) {
            part = following.index
            decoder.drain()
            if try takeFrames(into: muxer) { return true }
            decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels, timeBase: facts.timeBase)
        }
        let (errors, before) = (FFmpegLibraries.errorCount, failures)
        if try !decoder.send(source) { failures += 1 }
        let isDone = try takeFrames(into: muxer)
        // What a recording begins with may need pictures that were never in it.
        if source.isKey || pictures > 0 { hasBegun = true }
        guard hasBegun, source.pts.map({ $0 >= zero - tolerance && $0 < end - tolerance }) ?? true else {
            return isDone
        }
        packets += 1
        defer { if firstDamage.packet == nil, damagedPackets > 0 || doubt > 0 { firstDamage.packet = packets } }
        // Behind a seek a decoder may complain of pictures before the part.
        let isErrorLogged = isFromStart && FFmpegLibraries.errorCount > errors
        if failures > before || isErrorLogged {
            damagedPackets += 1
        } else if source.isCorrupt {
            if doubt > 0 { damagedPackets += 1 }
            doubt = 2
        }
        return isDone
    }

    /// Pictures that could not be decoded, or not well.
    var damage: Finding? {
        let damaged = max(damagedPackets + (doubt > 0 ? 1 : 0), damagedFrames)
        return damaged > 0 ? Finding(.notDecoded, .frames, missing: damaged, of: max(packets, damaged)) : nil
    }

    /// Whether only the last pictures are damaged, in the order in which they are stored or shown.
    var isDamagedAtEnd: Bool {
        (firstDamage.packet ?? .max) > packets - Self.lastPictures
            && (firstDamage.frame ?? .max) > shownFrames - Self.lastPictures
    }

    /// Seconds by which the sound of a recording may end after its frames, before those of the next one.
    private static let joint = 0.1

    /// As many as may be stored behind one that is shown after them.
    private static let lastPictures = 4

    /// Pictures that are left out as others have their time.
    var overtakenFrames: [Finding] { overtaken > 0 ? [Finding(.repeatedTimes, missing: Double(overtaken))] : [] }

    /// Pictures of another size than the first.
    var sizeChange: [Finding] {
        other.map { [Finding(.sizeChanges, missing: $1, named: "\($0.width)×\($0.height)")] } ?? []
    }

    /// Writes what is still inside.
    mutating func finish(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        decoder.drain()
        isDraining = true
        _ = try takeFrames(into: muxer)
        if !held.isEmpty {
            let natural = heldTime + max(held.duration, facts.timeBase.ticks(facts.frame))
            try encodeHeld(until: min(end, max(natural, leftOutUntil)), into: muxer)
        }
        chain?.drain()
        try encodeFiltered(into: muxer)
        encoder.drain()
        try writeEncoded(into: muxer)
        try writeWaiting(until: timeBase.ticks(seconds), into: muxer)
    }

    /// A picture waits for the next one: only then is it known how long it is shown, and whether it is the one that
    /// is shown at the start.
    private mutating func takeFrames(into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        while try decoder.receive(frame, failures: &failures) {
            guard let time = frame.timestamp ?? expected else { continue }
            if time >= zero - tolerance, time < end - tolerance {
                shownFrames += 1
                if frame.isDamaged {
                    damagedFrames += 1
                    firstDamage.frame = firstDamage.frame ?? shownFrames
                }
            }
            if time >= end - tolerance {
                isAhead = held.isEmpty && pictures == 0
                if !held.isEmpty { try encodeHeld(until: end, into: muxer) }
                return true
            }
            if spacing > 0, !held.isEmpty, heldTime > zero + tolerance || time > zero + tolerance,
                time - max(heldTime, zero) < spacing
            {
                leftOutUntil = time + max(frame.duration, facts.timeBase.ticks(facts.frame))
                continue
            }
            if !held.isEmpty && time > zero + tolerance { try encodeHeld(until: time, into: muxer) }
            heldTime = time
            held.take(from: frame)
        }
        return false
    }

    private func filters(for frame: borrowing Frame) -> [Filter] {
        let peak = PeakLight.nits(frame) ?? facts.peak
        let inner = fitted(frame)
        return (deinterlaces ? [.deinterlace] : [])
            + facts.colours.filters(to: inner, peak: peak, isExact: isExact)
            + (inner == stored ? [] : [.bars(around: stored)]) + facts.turn.filters + [.squarePixels]
    }

    /// The size of a picture among those that are encoded: theirs, or of another shape as much of it as keeps that.
    private func fitted(_ frame: borrowing Frame) -> PixelSize {
        let size = PixelSize(width: frame.width, height: frame.height)
        guard size != facts.coded else { return stored }
        let aspect = unsafe av_q2d(frame.raw.pointee.sample_aspect_ratio)
        let shape =
            Double(size.width) * (aspect.isFinite && aspect > 0.1 && aspect < 10 ? aspect : 1) / Double(size.height)
        let ratio = shape * Double(stored.height) / Double(stored.width)
        // A line more or less is no other shape.
        guard abs(ratio - 1) > 0.02 else { return stored }
        func even(_ side: Double) -> Int { max(2, Int((side / 2).rounded()) * 2) }
        return ratio > 1
            ? PixelSize(width: stored.width, height: even(Double(stored.height) / ratio))
            : PixelSize(width: even(Double(stored.width) * ratio), height: stored.height)
    }

    /// The filter takes no picture of less than three lines.
    private var deinterlaces: Bool { isInterlaced && min(facts.coded.width, facts.coded.height) >= 4 }

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
        let time = timeBase.ticks(source.seconds(start))
        guard next - zero > start, time > lastTime else {
            overtaken += 1
            return
        }
        lastTime = time
        let size = PixelSize(width: held.width, height: held.height)
        if other == nil, size != facts.coded { other = (size, source.seconds(start)) }
        seconds = next == end ? duration : source.seconds(next - zero)
        durations[time] = max(1, timeBase.ticks(seconds) - time)
        unsafe held.raw.pointee.pts = start
        unsafe held.raw.pointee.pict_type = AV_PICTURE_TYPE_NONE
        facts.colours.mark(held)
        let isFirstInterlaced = held.isInterlaced && !isInterlaced
        if isFirstInterlaced { isInterlaced = true }
        if chain?.suits(held) != true || isFirstInterlaced {
            chain?.drain()
            try encodeFiltered(into: muxer)
            chain = try FilterChain(filters(for: held), like: held, timeBase: source.raw)
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
            guard budget != nil else {
                try muxer.write(packet, to: track, timeBase: timeBase.raw)
                continue
            }
            let time = packet.pts ?? 0
            let bytes = Int64(packet.bytes) + ContainerSize.sample
            guard budget?.take(bytes, at: timeBase.seconds(time)) == true else { continue }
            try writeWaiting(until: time, into: muxer)
            unsafe av_packet_move_ref(waiting.raw, packet.raw)
        }
    }

    /// A picture is shown until the next one that was not left out.
    private mutating func writeWaiting(until end: Int64, into muxer: borrowing Muxer) throws(FFmpegFailure) {
        guard waiting.bytes > 0, let start = waiting.pts else { return }
        unsafe waiting.raw.pointee.duration = max(1, end - start)
        hasWritten = true
        try muxer.write(waiting, to: track, timeBase: timeBase.raw)
    }
}
