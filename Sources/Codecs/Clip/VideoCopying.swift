import Attachments
import CFFmpeg

extension VideoMaker {
    /// Makes the rendition of the source's own packets.
    func copy(
        _ survey: Survey, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        let base = picture.timeBase
        let first = base.seconds(survey.plan.start)
        // Where the stream begins after the start that is wanted, the sound before it stays.
        let isFromStart = part.start <= picture.frame && first - facts.origin < 5
        let zero = isFromStart ? min(first, facts.origin) : first
        let duration = base.seconds(survey.plan.end) - zero
        let soundEnd = part.isTrimmed ? duration : max(duration, part.duration + 0.05)

        let muxer = try Muxer(type: policy.type, descriptor: descriptor)
        var pictures = try PictureCopy(picture, of: demuxer, into: muxer, survey: survey, zero: zero)
        var copied: SoundCopy?
        var encoded: SoundEncoding?
        if let sound = facts.sound {
            if copiesSound {
                copied = try SoundCopy(
                    sound, of: demuxer, into: muxer, zero: zero, duration: soundEnd, isFromStart: isFromStart)
            } else {
                encoded = try SoundEncoding(
                    sound, of: demuxer, as: soundSettings(sound, bitRate: Self.soundBitRate), into: muxer, zero: zero,
                    duration: soundEnd)
            }
        }
        try muxer.start()
        let packet = try Packet()
        // Sound may be stored up to a second before its picture, where the container has no index.
        let lead = demuxer.name.hasPrefix("mov") ? 0 : 1.0
        guard try demuxer.seek(picture: picture, before: first + picture.frame / 2 - lead, packet: packet) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        var isPictureDone = false
        var isSoundDone = facts.sound == nil
        while !(isPictureDone && isSoundDone), try demuxer.read(packet) {
            if packet.stream == picture.stream {
                isPictureDone = try pictures.accept(packet, into: muxer)
            } else if packet.stream == facts.sound?.stream, !isSoundDone {
                if try copied?.accept(packet, into: muxer) == true { isSoundDone = true }
                if try encoded?.accept(packet, into: muxer) == true { isSoundDone = true }
            }
        }
        try encoded?.finish(into: muxer)
        let bytes = try muxer.finish()
        let soundNote =
            facts.sound == nil
            ? "no sound" : (copiesSound ? "sound copied" : "sound encoded from \(facts.sound?.name ?? "")")
        return MadeClip(
            type: policy.type, size: picture.upright, start: max(0, zero - facts.origin), duration: duration,
            method: .copy, bytes: bytes,
            note: part.isTrimmed
                ? "copied: the cut is on a keyframe; \(soundNote)" : "copied: it fits as it is; \(soundNote)")
    }
}
