import Attachments
import CFFmpeg

extension Demuxer {
    /// Goes to where the picture at `seconds` of the stream's clock can be decoded from, or before.
    ///
    /// A seek in a stream without an index may land behind the keyframe; then it tries earlier.
    ///
    /// - Returns: False where even the beginning can't be reached.
    func seek(picture facts: PictureFacts, before seconds: Double, packet: borrowing Packet) throws(FFmpegFailure)
        -> Bool
    {
        for step in [0, 2, 10] as [Double] {
            let target = facts.timeBase.ticks(seconds - step)
            guard seek(stream: facts.stream, to: target) else { break }
            guard !name.hasPrefix("mov") else { return true }
            while try read(packet) {
                guard packet.stream == facts.stream else { continue }
                if let time = packet.pts ?? packet.dts, packet.isKey, time <= facts.timeBase.ticks(seconds) {
                    return seek(stream: facts.stream, to: target)
                }
                if let time = packet.dts ?? packet.pts, time > target { break }
            }
        }
        return rewind()
    }
}

/// What was found by reading a part of a video's packets without decoding any.
struct Survey {
    /// Where the pictures can be cut.
    var plan: CutPlan
    /// When each packet of the plan is decoded: the source's times, or, where it has none, times that suit its order.
    var decodingTimes: [Int64]
    var hasSupplements: Bool
    /// Of the sound in that part, as it is.
    var soundBytes: Int64

    /// - Parameters:
    ///   - start: On the stream's clock, as `end` is.
    ///   - budget: Bytes of pictures beyond which there is no point in reading on.
    ///   - slack: Where `end` is a limit, how much earlier it may come.
    /// - Returns: Why the part can't be copied, where it can't.
    static func take(
        _ demuxer: borrowing Demuxer, _ facts: ClipFacts, _ picture: PictureFacts, start: Double, end: Double,
        slack: Double?, budget: Int64
    ) throws(FFmpegFailure) -> Result<Survey, CutPlan.Refusal> {
        func refused(_ reason: String) -> Result<Survey, CutPlan.Refusal> { .failure(CutPlan.Refusal(reason: reason)) }
        guard let framing = unsafe framing(of: demuxer.stream(picture.stream)) else {
            return refused("its pictures are framed unusually")
        }
        let base = picture.timeBase
        let tolerance = max(1, base.ticks(picture.frame * 1.01))
        let packet = try Packet()
        guard try demuxer.seek(picture: picture, before: start + picture.frame, packet: packet) else {
            return refused("it can't be searched")
        }
        var packets: [CutPacket] = []
        var decodingTimes: [Int64?] = []
        var soundBytes: Int64 = 0
        var bytes: Int64 = 0
        var hasSupplements = false
        var reachesEnd = true
        let startTick = base.ticks(start)
        let lastTick = base.ticks(end) + 2 * tolerance
        while try demuxer.read(packet) {
            if packet.stream == facts.sound?.stream, let time = packet.pts, let sound = facts.sound {
                let seconds = sound.timeBase.seconds(time)
                if seconds >= start - 0.05 && seconds < end { soundBytes += Int64(packet.bytes) }
            }
            guard packet.stream == picture.stream else { continue }
            guard let pts = packet.pts else { return refused("its pictures have no times") }
            // Of the groups of pictures before the start nothing is needed.
            if packets.isEmpty && !(packet.isKey && pts >= startTick - tolerance) && pts < startTick - tolerance {
                continue
            }
            if packets.isEmpty && !packet.isKey { return refused("the start is on no keyframe") }
            guard let look = unsafe NALUnits.look(at: packet.contents, framing: framing) else {
                return refused("its pictures are damaged")
            }
            if packet.isCorrupt { return refused("its pictures are damaged") }
            if packet.changesParameters { return refused("its coding parameters change") }
            if look.hasSupplement { hasSupplements = true }
            bytes += Int64(packet.bytes)
            if bytes > budget, pts < base.ticks(end) - tolerance - (slack.map(base.ticks) ?? 0) {
                return refused("its bit rate is over what \(budget) bytes allow")
            }
            let dts = packet.dts
            if let dts, let last = decodingTimes.last, let last, dts <= last {
                return refused("its times run backwards")
            }
            decodingTimes.append(dts)
            packets.append(
                CutPacket(
                    pts: pts, duration: packet.duration, bytes: packet.bytes,
                    isRefresh: packet.isKey && look.isRefresh, isHidden: packet.isDiscarded))
            if let dts, dts > lastTick {
                reachesEnd = false
                break
            }
        }
        let wish = CutPlan.Wish(
            start: startTick, end: base.ticks(end), tolerance: tolerance, slack: slack.map(base.ticks))
        do throws(CutPlan.Refusal) {
            let plan = try CutPlan.make(packets, reachesEnd: reachesEnd, wish: wish)
            return .success(
                Survey(
                    plan: plan,
                    decodingTimes: Self.decodingTimes(
                        of: packets[plan.packets].map(\.pts), known: Array(decodingTimes[plan.packets])),
                    hasSupplements: hasSupplements, soundBytes: soundBytes))
        } catch {
            return .failure(error)
        }
    }

    /// Where a time is missing, all are made anew: as steady as the pictures' own, and never after one's picture.
    static func decodingTimes(of pictures: [Int64], known: [Int64?]) -> [Int64] {
        let complete = known.compactMap(\.self)
        if complete.count == pictures.count { return complete }
        let sorted = pictures.sorted()
        let delay = zip(sorted, pictures).map { $0 - $1 }.max() ?? 0
        return sorted.map { $0 - max(0, delay) }
    }

    static func framing(of stream: UnsafeMutablePointer<AVStream>?) -> NALUnits.Framing? {
        guard let parameters = unsafe stream?.pointee.codecpar, let data = unsafe parameters.pointee.extradata else {
            return nil
        }
        return unsafe NALUnits.Framing(
            configuration: UnsafeBufferPointer(start: data, count: Int(parameters.pointee.extradata_size)))
    }
}

extension Packet {
    /// Valid as long as the packet keeps its contents.
    var contents: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(start: raw.pointee.data, count: bytes)
    }

    /// Brings a new decoder configuration along.
    var changesParameters: Bool {
        unsafe av_packet_get_side_data(raw, AV_PKT_DATA_NEW_EXTRADATA, nil) != nil
    }

    /// Moves both times back by `ticks`.
    func shift(by ticks: Int64) {
        if let pts { unsafe raw.pointee.pts = pts - ticks }
        if let dts { unsafe raw.pointee.dts = dts - ticks }
    }

    /// Removes the units that are no pictures; nothing changes where the framing is broken.
    func dropSupplements(framing: NALUnits.Framing) throws(FFmpegFailure) {
        try checked(unsafe av_packet_make_writable(raw))
        let contents = unsafe UnsafeMutableBufferPointer(start: raw.pointee.data, count: bytes)
        guard let kept = unsafe NALUnits.dropSupplements(in: contents, framing: framing), kept > 0 else { return }
        unsafe av_shrink_packet(raw, Int32(kept))
    }
}
