import SatchelCore
import CFFmpeg
import StillCodecs

extension Demuxer {
    /// How often an earlier place is tried; each is twice as far away as the one before, so that half a minute is reached.
    private static let searches = 11

    /// Goes to a keyframe from which the picture at `seconds` of the stream's clock can be decoded, or before it.
    ///
    /// The keyframe itself is shown at `seconds` or before. The demuxer's own answer may be decoded before and shown after:
    /// pictures that lead it, as in an open group of pictures, refer to the group before. In a stream without an index it
    /// may also lie behind the keyframe.
    ///
    /// - Returns: False where even the beginning can't be reached.
    func seek(picture facts: PictureFacts, before seconds: Double, packet: borrowing Packet) throws(FFmpegFailure)
        -> Bool
    {
        let limit = facts.timeBase.ticks(seconds)
        let isIndexed = hasSampleTable
        var target = seconds
        var step = facts.frame
        for _ in 0..<Self.searches {
            let ticks = facts.timeBase.ticks(target)
            guard seek(stream: facts.stream, to: ticks) else { break }
            while try read(packet) {
                guard packet.stream == facts.stream else { continue }
                if let time = packet.pts ?? packet.dts, packet.isKey, time <= limit {
                    return seek(stream: facts.stream, to: ticks)
                }
                if isIndexed { break }
                if let time = packet.dts ?? packet.pts, time > ticks { break }
            }
            target -= step
            step *= 2
        }
        return rewind()
    }

    /// The same, and so that a decoder gives that picture whole.
    ///
    /// A keyframe of H.264 may be a point of recovery: only some pictures after it nothing of what was before is left in
    /// them, and a decoder gives none until then.
    ///
    /// - Parameter lead: Seconds by which to begin earlier, for what is stored before it.
    func seek(
        picture facts: PictureFacts, shownAt seconds: Double, lead: Double = 0, packet: borrowing Packet,
        maximumPixels: Int64
    ) throws(FFmpegFailure) -> Bool {
        var target = seconds
        var step = facts.frame
        for _ in 0..<Self.searches {
            guard try seek(picture: facts, before: target, packet: packet) else { return false }
            if try recovers(facts, by: seconds + facts.leniency, packet: packet, maximumPixels: maximumPixels) {
                return try seek(picture: facts, before: min(target, seconds - lead), packet: packet)
            }
            target -= step
            step *= 2
        }
        return try seek(picture: facts, before: seconds - lead, packet: packet)
    }

    /// Packets that are decoded at most in search of the first picture: a recovery takes no longer.
    private static let longestRecovery = 600

    /// Whether a decoder that begins here gives a picture that is shown at `seconds` or before.
    private func recovers(
        _ facts: PictureFacts, by seconds: Double, packet: borrowing Packet, maximumPixels: Int64
    ) throws(FFmpegFailure) -> Bool {
        guard facts.isH264, let stream = unsafe stream(facts.stream), let parameters = unsafe stream.pointee.codecpar
        else {
            return true
        }
        let limit = facts.timeBase.ticks(seconds)
        let framing = unsafe NALUnits.Framing(configuration: configuration(of: parameters))
        let frame = try Frame()
        var decoder: Decoder?
        var count = 0
        while count < Self.longestRecovery, try read(packet) {
            guard packet.stream == facts.stream else { continue }
            if packet.isKey, let framing,
                unsafe NALUnits.summary(at: packet.contents, framing: framing)?.isRefresh == true
            {
                // All after it is whole; what comes before it was asked of a decoder already.
                return (packet.pts ?? packet.dts ?? .min) <= limit
            }
            count += 1
            if decoder == nil { decoder = unsafe try Decoder(for: stream, maximumPixels: maximumPixels) }
            try decoder?.send(packet)
            while try decoder?.receive(frame) == true {
                return (frame.timestamp ?? .min) <= limit
            }
        }
        return false
    }
}
