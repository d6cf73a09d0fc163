import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

extension VideoRendering {
    /// Makes the rendition of the source's own packets.
    ///
    /// - Parameter edges: What was encoded to stand before and after them.
    func copy(
        _ scan: PacketScan, _ plan: CutPlan, edges: Edges? = nil, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        // Where the cap leaves no room for a place that is kept too large, packets are moved.
        guard edges == nil, plan.bytes > Self.muchToMove, plan.bytes < policy.cap / 10 * 9 else {
            return try copy(scan, plan, edges: edges, keepsPlace: false, from: demuxer, to: descriptor)
        }
        do throws(FFmpegFailure) {
            return try copy(scan, plan, edges: nil, keepsPlace: true, from: demuxer, to: descriptor)
        } catch {
            // The place for the index was too small: its sound has more packets than it should.
            guard error.code == satchel_averror(EINVAL) else { throw error }
            return try copy(scan, plan, edges: nil, keepsPlace: false, from: demuxer, to: descriptor)
        }
    }

    /// Bytes that are worth keeping a place for the index, so that they aren't moved for it.
    private static let muchToMove: Int64 = 500_000

    /// - Parameter keepsPlace: Whether a place is kept for the index.
    private func copy(
        _ scan: PacketScan, _ plan: CutPlan, edges: Edges?, keepsPlace: Bool, from demuxer: borrowing Demuxer,
        to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        let base = picture.timeBase
        let hasHead = edges?.head.isEmpty == false
        let end = edges.map { $0.tail.isEmpty ? plan.end : $0.end } ?? plan.end
        let wanted = facts.origin + part.start
        // The frame at the start is shown from then on, even if it began earlier.
        let first = hasHead ? wanted : max(wanted, base.seconds(plan.start))
        let isFromStart = part.start == 0
        // Where the pictures begin after the start that is wanted, the sound before them stays.
        let isLate = first - wanted > picture.leniency
        let zero = isFromStart ? min(first, facts.origin) : (isLate ? wanted : first)
        let duration = base.seconds(end) - zero
        // Sound that goes on after the last picture stays.
        let isLastPicture = scan.reachesEnd && !scan.packets.contains { $0.pts >= end }
        let rest = wanted + part.duration - zero
        let audioEnd = part.isTrimmed ? (isLastPicture ? max(duration, rest) : duration) : max(duration, rest + 0.05)

        let muxer = try Muxer(type: policy.type, descriptor: descriptor)
        guard let stream = unsafe demuxer.stream(picture.stream) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        let track = try unsafe muxer.addCopy(
            of: stream, turning: picture.turn.matrix,
            configuration: (edges?.parameters ?? scan.parameters).configuration)
        var pictures = PictureCopy(
            picture, scan: scan, plan: plan, edges: edges, track: track, zero: zero, end: end)
        var copied: AudioCopy?
        var encoded: AudioEncoding?
        if let audio = facts.audio {
            if copiesAudio {
                copied = try AudioCopy(
                    audio, of: demuxer, into: muxer, zero: zero, duration: audioEnd, isFromStart: isFromStart)
            } else {
                encoded = try AudioEncoding(
                    audio, of: demuxer, as: audioSettings(audio, bitRate: Self.audioBitRate), into: muxer, zero: zero,
                    duration: audioEnd)
            }
        }
        try muxer.start(samples: keepsPlace ? plan.packets.count + mostAudioPackets(in: audioEnd) : nil)
        try pictures.begin(into: muxer)
        var isPictureDone = false
        var isAudioDone = facts.audio == nil
        func take(_ packet: borrowing Packet) throws(FFmpegFailure) {
            if packet.stream == picture.stream {
                isPictureDone = try pictures.accept(packet, into: muxer)
            } else if packet.stream == facts.audio?.stream, !isAudioDone {
                if try copied?.accept(packet, into: muxer) == true { isAudioDone = true }
                if try encoded?.accept(packet, into: muxer) == true { isAudioDone = true }
            }
        }
        let packet = try Packet()
        // Sound may be stored up to a second before its picture, where the container has no index.
        let lead = demuxer.hasSampleTable ? 0 : 1.0
        if isFromStart, demuxer.rewind() {
            // Sound may begin long before the first picture.
        } else {
            let earliest = isLate ? zero : (hasHead ? wanted : base.seconds(plan.start)) + picture.leniency
            guard try demuxer.seek(picture: picture, before: earliest - lead, packet: packet) else {
                throw FFmpegFailure(satchel_averror_invaliddata)
            }
        }
        while !(isPictureDone && isAudioDone), try demuxer.read(packet) { try take(packet) }
        guard isPictureDone else { throw FFmpegFailure(satchel_averror_invaliddata) }
        try encoded?.finish(into: muxer)
        let bytes = try muxer.finish()
        let heard = copied?.heard?.upperBound ?? encoded?.seconds ?? 0
        return MadeClip(
            type: policy.type, size: picture.upright, start: max(0, zero - facts.origin),
            duration: isLastPicture ? max(duration, min(heard, rest)) : duration,
            method: edges == nil ? .copy : .smart, bytes: bytes, note: note(of: plan, edges),
            encodes: edges == nil ? 0 : 1)
    }

    /// What the sound of so many seconds is made of at most: AAC has 960 samples in a packet or more.
    private func mostAudioPackets(in seconds: Double) -> Int {
        guard let audio = facts.audio else { return 0 }
        return Int(max(0, min(seconds, 1e6)) * Double(audio.rate) / 960) + 64
    }

    var audioWords: String {
        guard let audio = facts.audio else { return "no sound" }
        return copiesAudio ? "sound copied" : "sound encoded from \(audio.name)"
    }

    private func note(of plan: CutPlan, _ edges: Edges?) -> String {
        guard let edges else {
            return "copied: \(part.isTrimmed ? "the cut is on a keyframe" : "it fits as it is"); \(audioWords)"
        }
        let places = [
            edges.head.isEmpty ? nil : "\(edges.head.count) pictures before a keyframe",
            edges.tail.isEmpty ? nil : "\(edges.tail.count) at the end",
        ].compactMap(\.self).joined(separator: " and ")
        return
            "\(plan.packets.count) pictures copied, \(places) encoded at rate factor \(edges.rateFactor); \(audioWords)"
    }
}
