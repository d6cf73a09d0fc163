import SatchelCore
import CFFmpeg
import StillCodecs

/// What was found by reading a part of a video's packets without decoding any.
struct PacketScan {
    /// In decoding order, from the last keyframe at the start or before it to one that is decoded after the end.
    var packets: [CutPacket]
    /// When each is decoded, as the source says.
    var decodingTimes: [Int64?]
    /// Whether the packets include the stream's last.
    var reachesEnd: Bool
    var request: CutPlan.Request
    var framing: NALUnits.Framing
    var parameters: ParameterSets
    /// Some packets hold other units than slices.
    var hasSupplements: Bool
    /// Of the sound in that part, as it is.
    var audioBytes: Int64

    /// - Parameters:
    ///   - start: On the stream's clock, as `end` is.
    ///   - budget: Bytes of pictures beyond which there is no point in reading on.
    ///   - slack: Where `end` is a limit, how much earlier it may come.
    /// - Returns: Why the part can't be copied, where no part of it can.
    static func take(
        _ demuxer: borrowing Demuxer, _ facts: ClipFacts, _ picture: PictureFacts, start: Double, end: Double,
        slack: Double?, budget: Int64
    ) throws(FFmpegFailure) -> Result<PacketScan, CutPlan.Refusal> {
        func refused(_ reason: String) -> Result<PacketScan, CutPlan.Refusal> {
            .failure(CutPlan.Refusal(reason: reason))
        }
        guard let stream = unsafe demuxer.stream(picture.stream)?.pointee.codecpar,
            case let configuration = unsafe configuration(of: stream),
            let framing = unsafe NALUnits.Framing(configuration: configuration),
            let parameters = unsafe ParameterSets(configuration: configuration)
        else { return refused("its pictures are framed unusually") }
        if let obstacle = parameters.obstacle { return refused(obstacle) }
        guard demuxer.isContinuous(picture.stream) else {
            return refused("it is put together of several parts")
        }
        let base = picture.timeBase
        let packet = try Packet()
        guard try demuxer.seek(picture: picture, before: start + picture.leniency, packet: packet) else {
            return refused("it can't be searched")
        }
        let request = CutPlan.Request(
            start: base.ticks(start), end: base.ticks(end), leniency: max(1, base.ticks(picture.leniency)),
            slack: slack.map { base.ticks($0 + picture.frame) })
        var scan = PacketScan(
            packets: [], decodingTimes: [], reachesEnd: true, request: request, framing: framing,
            parameters: parameters,
            hasSupplements: false, audioBytes: 0)
        var bytes: Int64 = 0
        let lastTick = request.end + max(1, base.ticks(picture.frame * 2))
        var latest = Int64.min
        while try demuxer.read(packet) {
            if packet.stream == facts.audio?.stream, let time = packet.pts, let audio = facts.audio {
                let seconds = audio.timeBase.seconds(time)
                if seconds >= start - 0.05 && seconds < end { scan.audioBytes += Int64(packet.bytes) }
            }
            guard packet.stream == picture.stream else { continue }
            guard let pts = packet.pts else { return refused("its pictures have no times") }
            if scan.packets.isEmpty && !packet.isKey {
                if pts < request.start { continue }
                return refused("the start is on no keyframe")
            }
            guard let summary = unsafe NALUnits.summary(at: packet.contents, framing: framing, known: parameters) else {
                return refused("its pictures are damaged")
            }
            // Of the groups of pictures before the one that is shown at the start nothing is needed.
            if packet.isKey && pts <= request.start + request.leniency {
                scan.packets.removeAll(keepingCapacity: true)
                scan.decodingTimes.removeAll(keepingCapacity: true)
                bytes = 0
            }
            if packet.isCorrupt { return refused("its pictures are damaged") }
            if packet.changesParameters || summary.changesParameters { return refused("its coding parameters change") }
            if summary.hasPartitions { return refused("its slices are partitioned") }
            if summary.hasSupplement { scan.hasSupplements = true }
            if pts >= request.start { bytes += Int64(packet.bytes) }
            if bytes > budget, pts < request.end - (request.slack ?? 0) {
                return refused("its bit rate is over what \(budget) bytes allow")
            }
            // One that can't be is none: then all are made anew.
            var dts = packet.dts.flatMap { $0 <= pts ? $0 : nil }
            if let time = dts, let last = scan.decodingTimes.last, let last, time <= last {
                guard base.seconds(last - time) < 1 else { return refused("its times run backwards") }
                dts = nil
            }
            latest = max(latest, pts)
            if summary.isRefresh, pts < latest { return refused("its times run backwards") }
            scan.decodingTimes.append(dts)
            scan.packets.append(
                CutPacket(
                    pts: pts, duration: packet.duration, bytes: packet.bytes,
                    isRefresh: packet.isKey && summary.isRefresh, isHidden: packet.isDiscarded))
            if let dts, dts > lastTick {
                scan.reachesEnd = false
                break
            }
        }
        return .success(scan)
    }

    /// Where the part can be cut without encoding anything.
    func cut() -> Result<CutPlan, CutPlan.Refusal> {
        Result { () throws(CutPlan.Refusal) in try CutPlan.make(packets, reachesEnd: reachesEnd, request: request) }
    }

    /// Where it can be cut so that only its edges are encoded.
    func smartCut() -> Result<SmartPlan, CutPlan.Refusal> {
        Result { () throws(CutPlan.Refusal) in
            try SmartPlan.make(packets, reachesEnd: reachesEnd, request: request)
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

    /// Removes the units that are no slices; nothing changes where the framing is broken.
    func dropSupplements(framing: NALUnits.Framing) throws(FFmpegFailure) {
        try checked(unsafe av_packet_make_writable(raw))
        let contents = unsafe UnsafeMutableBufferPointer(start: raw.pointee.data, count: bytes)
        guard let kept = unsafe NALUnits.dropSupplements(in: contents, framing: framing), kept > 0 else { return }
        unsafe av_shrink_packet(raw, Int32(kept))
    }

    /// Puts `bytes` in place of its contents; all else stays.
    func fill(with bytes: [UInt8]) throws(FFmpegFailure) {
        guard let buffer = unsafe av_buffer_allocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
            throw .noMemory
        }
        unsafe av_buffer_unref(&raw.pointee.buf)
        unsafe raw.pointee.buf = unsafe buffer
        unsafe raw.pointee.data = unsafe buffer.pointee.data
        unsafe raw.pointee.size = Int32(clamping: bytes.count)
        unsafe bytes.withUnsafeBufferPointer { source in
            if let base = source.baseAddress {
                unsafe buffer.pointee.data.update(from: base, count: source.count)
            }
        }
    }
}
