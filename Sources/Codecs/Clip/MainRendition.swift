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
    static let soundBitRate = 128_000
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

    var copiesSound: Bool {
        guard let sound = facts.sound else { return true }
        return sound.codec == .aac && sound.channels <= 2 && sound.rate <= 48_000
    }

    func soundSettings(_ sound: SoundFacts, bitRate: Int) -> Encoder.Samples {
        SoundPlan.samples(sound, as: .aac, bitRate: sound.channels == 1 ? bitRate / 2 : bitRate)
    }
}
