import CFFmpeg

/// Brings the pictures of a part into a container as they are.
struct PictureCopy: ~Copyable {
    private let facts: PictureFacts
    private let survey: Survey
    private let framing: NALUnits.Framing
    private let track: Int
    private let zero: Double
    private var written = 0

    init(
        _ facts: PictureFacts, of demuxer: borrowing Demuxer, into muxer: borrowing Muxer, survey: Survey, zero: Double
    ) throws(FFmpegFailure) {
        guard let stream = unsafe demuxer.stream(facts.stream), let framing = unsafe Survey.framing(of: stream) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        track = try unsafe muxer.addCopy(of: stream, turning: facts.turn.matrix)
        self.framing = framing
        self.facts = facts
        self.survey = survey
        self.zero = zero
    }

    private var isDone: Bool { written == survey.plan.packets.count }

    /// Writes a packet of the source where it belongs to the part.
    ///
    /// - Returns: Whether all pictures of the part are out.
    mutating func accept(_ packet: borrowing Packet, into muxer: borrowing Muxer) throws(FFmpegFailure) -> Bool {
        guard !isDone, written > 0 || (packet.isKey && packet.pts == survey.plan.start) else { return isDone }
        unsafe packet.raw.pointee.dts = survey.decodingTimes[written]
        written += 1
        if survey.hasSupplements { try packet.dropSupplements(framing: framing) }
        // The last picture lasts until the part's end.
        if let pts = packet.pts, pts + packet.duration > survey.plan.end {
            unsafe packet.raw.pointee.duration = max(1, survey.plan.end - pts)
        }
        packet.shift(by: facts.timeBase.ticks(zero))
        packet.dropSideData()
        try muxer.write(packet, to: track, timeBase: facts.timeBase.raw)
        return isDone
    }
}
