import Attachments
import CFFmpeg

extension VideoMaker {
    /// Makes the rendition anew from the source's pictures.
    ///
    /// - Returns: Nil where `pace` is too slow.
    func encode(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32, _ pace: inout EncodingPace
    ) throws(FFmpegFailure) -> MadeClip? {
        let zero = facts.origin + part.start
        let duration = part.isTrimmed ? part.duration : part.duration + picture.frame
        let aim = min(policy.aim ?? policy.cap, policy.cap)
        // Sound gets at most a quarter of the bytes.
        let soundRate =
            facts.sound == nil
            ? 0 : SoundPlan.bitRate(wanted: Self.soundBitRate, bytes: aim / 4, seconds: part.duration)
        let settings = VideoPlan.pictures(
            picture, policy, seconds: part.duration, soundBitRate: soundRate, effort: effort)

        let muxer = try Muxer(type: policy.type, descriptor: descriptor)
        var pictures = try PictureEncoding(
            picture, of: demuxer, as: settings, into: muxer, zero: zero, duration: duration,
            maximumPixels: maximumPixels)
        var sound: SoundEncoding?
        if let facts = facts.sound {
            sound = try SoundEncoding(
                facts, of: demuxer, as: soundSettings(facts, bitRate: soundRate), into: muxer, zero: zero,
                duration: duration)
        }
        try muxer.start()
        let packet = try Packet()
        let lead = demuxer.name.hasPrefix("mov") || part.start == 0 ? 0 : 1.0
        guard try demuxer.seek(picture: picture, before: zero - lead, packet: packet) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        var isPictureDone = false
        var isSoundDone = facts.sound == nil
        while !(isPictureDone && isSoundDone), try demuxer.read(packet) {
            if packet.stream == picture.stream, !isPictureDone {
                isPictureDone = try pictures.accept(packet, into: muxer)
                if pace.isTooSlow(done: pictures.seconds / duration) { return nil }
            } else if packet.stream == facts.sound?.stream, !isSoundDone {
                isSoundDone = try sound?.accept(packet, into: muxer) ?? true
            }
        }
        try pictures.finish(into: muxer)
        try sound?.finish(into: muxer)
        guard pictures.pictures > 0 else {
            throw FFmpegFailure(refusal: .corrupt(reason: "none of its pictures could be decoded"))
        }
        let bytes = try muxer.finish()
        let bound = settings.maximumBitRate.map { ", at most \($0 / 1000) kbit/s" } ?? ""
        return MadeClip(
            type: policy.type, size: PixelSize(width: settings.width, height: settings.height), start: part.start,
            duration: pictures.seconds, method: .encode, bytes: bytes,
            note: "H.264 at rate factor \(settings.rateFactor)\(bound), because \(reason)",
            warnings: pictures.damagedPackets > 0 ? ["\(pictures.damagedPackets) packets could not be decoded"] : [])
    }
}
