import CFFmpeg
import StillCodecs

/// A picture that was encoded to stand between copied ones.
struct EdgePicture: Hashable, Sendable {
    /// In the source's time base.
    var pts: Int64
    var isRefresh: Bool
    /// Slices, each behind its length in four bytes.
    var slices: [UInt8]
}

/// Brings the pictures of a part into a container as they are, and those that were encoded before and after them.
struct PictureCopy: ~Copyable {
    private let facts: PictureFacts
    private let scan: PacketScan
    private let plan: CutPlan
    private let edges: Edges?
    /// Of all pictures, in decoding order.
    private let decodingTimes: [Int64]
    private let end: Int64
    /// The picture that is shown last.
    private let last: Int64
    private let track: Int
    private let zero: Double
    private var copied = 0
    private var written = 0

    /// - Parameters:
    ///   - plan: What is copied.
    ///   - track: Of `muxer`, with the parameter sets of all pictures.
    ///   - end: When the last picture ends.
    init(
        _ facts: PictureFacts, scan: PacketScan, plan: CutPlan, edges: Edges?, track: Int, zero: Double, end: Int64
    ) {
        self.facts = facts
        self.scan = scan
        self.plan = plan
        self.edges = edges
        self.track = track
        self.zero = zero
        self.end = end
        let times = scan.packets[plan.packets].map(\.pts)
        let all = (edges?.head ?? []).map(\.pts) + times + (edges?.tail ?? []).map(\.pts)
        last = all.max() ?? end
        if edges != nil {
            decodingTimes = PacketScan.decodingTimes(of: all, known: [])
        } else {
            decodingTimes = PacketScan.decodingTimes(of: times, known: Array(scan.decodingTimes[plan.packets]))
        }
    }

    private var isDone: Bool { copied == plan.packets.count }

    /// Writes what comes before the first packet of the source.
    mutating func begin(into muxer: borrowing Muxer) throws(FFmpegFailure) {
        try write(edges?.head ?? [], into: muxer)
    }

    /// Writes a packet of the source where it belongs to the part, and behind the last one what comes after it.
    ///
    /// - Returns: Whether all pictures of the part are out.
    mutating func accept(_ packet: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        guard !isDone, copied > 0 || (packet.isKey && packet.pts == plan.start) else { return isDone }
        let known = scan.packets[plan.packets.lowerBound + copied]
        // As the packet scan found it.
        guard packet.pts == known.pts, packet.bytes == known.bytes else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        copied += 1
        if scan.framing != .lengths(4) {
            guard let slices = unsafe NALUnits.slices(of: packet.contents, framing: scan.framing) else {
                throw FFmpegFailure(satchel_averror_invaliddata)
            }
            try packet.fill(with: slices)
        } else if scan.hasSupplements {
            try packet.dropSupplements(framing: scan.framing)
        }
        // A keyframe that is no refresh is none to begin with where what is before it is missing.
        if !known.isRefresh { unsafe packet.raw.pointee.flags &= ~AV_PKT_FLAG_KEY }
        try write(packet, pts: known.pts, duration: packet.duration, into: muxer)
        if isDone { try write(edges?.tail ?? [], into: muxer) }
        return isDone
    }

    private mutating func write(_ pictures: [EdgePicture], into muxer: borrowing Muxer) throws(FFmpegFailure) {
        guard !pictures.isEmpty else { return }
        let packet = try Packet()
        let frame = max(1, facts.timeBase.ticks(facts.frame))
        for picture in pictures {
            packet.clear()
            try packet.fill(with: picture.slices)
            if picture.isRefresh { unsafe packet.raw.pointee.flags |= AV_PKT_FLAG_KEY }
            try write(packet, pts: picture.pts, duration: frame, into: muxer)
        }
    }

    private mutating func write(
        _ packet: borrowing Packet, pts: Int64, duration: Int64, into muxer: borrowing Muxer
    ) throws(FFmpegFailure) {
        guard written < decodingTimes.count else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let zero = facts.timeBase.ticks(zero)
        // The first frame may begin before the start, and the last frame lasts until the part's end.
        let pts = written == 0 ? max(pts, zero) : pts
        unsafe packet.raw.pointee.pts = pts
        unsafe packet.raw.pointee.dts = decodingTimes[written]
        unsafe packet.raw.pointee.duration = pts == last ? max(1, end - pts) : duration
        written += 1
        packet.shift(by: zero)
        packet.dropSideData()
        try muxer.write(packet, to: track, timeBase: facts.timeBase.raw)
    }
}
