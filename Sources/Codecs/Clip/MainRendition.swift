import Attachments
import CFFmpeg

/// What became of a main rendition.
struct MadeClip {
    var type: MediaType
    var size: PixelSize?
    /// Where it begins in the source, in seconds, and how long it is.
    var start: Double
    var duration: Double
    var method: TrimMethod
    var bytes: Int64
    var note: String
    var warnings: [String] = []
}

/// Makes the main rendition of a video.
struct VideoMaker {
    var facts: ClipFacts
    var picture: PictureFacts
    var policy: VideoPolicy
    var part: ClipPart
    var effort: Effort
    var maximumPixels: Int64

    /// The bit rate of sound that must be encoded.
    private static let soundBitRate = 128_000
    /// How much shorter than its limit a part may be so that it can be copied; seconds.
    private static let limitSlack = 0.5

    func make(from demuxer: borrowing Demuxer, to descriptor: Int32) throws(FFmpegFailure) -> MadeClip {
        let start = facts.origin + part.start
        // A whole source goes to its own end, whatever its container says that is.
        let end = part.isTrimmed ? start + part.duration : start + part.duration + 1
        var reason = VideoPlan.reasonToEncode(picture, policy)
        if reason == nil {
            let result = try Survey.take(
                demuxer, facts, picture, start: start, end: end, slack: part.isLimited ? Self.limitSlack : nil,
                budget: min(policy.aim ?? policy.cap, policy.cap))
            switch result {
            case .failure(let refusal): reason = refusal.reason
            case .success(let survey):
                let base = picture.timeBase
                let seconds = base.seconds(survey.plan.end - survey.plan.start)
                let bytes =
                    survey.plan.bytes
                    + (copiesSound ? survey.soundBytes : Int64(Double(Self.soundBitRate / 8) * min(seconds, 1e9)))
                    + VideoPlan.overhead(seconds: seconds, frameRate: picture.frameRate)
                let aim = min(policy.aim ?? policy.cap, policy.cap)
                if bytes <= aim { return try copy(survey, from: demuxer, to: descriptor) }
                reason = "its \(bytes) bytes are over the \(policy.aim == nil ? "cap" : "aim") of \(aim)"
            }
        }
        return try encode(because: reason ?? "", from: demuxer, to: descriptor)
    }

    private var copiesSound: Bool {
        guard let sound = facts.sound else { return true }
        return sound.codec == .aac && sound.channels <= 2 && sound.rate <= 48_000
    }

    private func soundSettings(_ sound: SoundFacts, bitRate: Int) -> Encoder.Samples {
        SoundPlan.samples(sound, as: .aac, bitRate: sound.channels == 1 ? bitRate / 2 : bitRate)
    }

    private func copy(
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

    private func encode(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
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
