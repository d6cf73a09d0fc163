import Attachments
import CFFmpeg
import Glibc

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
    var effort: Effort = .full
}

/// Watches how an encode gets on.
struct EncodingPace {
    var cost: WorkCost
    var mayStartOver: Bool
    private let watch = Stopwatch()
    /// Why it should be begun again.
    private(set) var note: String?

    init(cost: WorkCost, mayStartOver: Bool) {
        self.cost = cost
        self.mayStartOver = mayStartOver
    }

    /// - Parameter done: The part that is done, 0 to 1.
    mutating func isTooSlow(done: Double) -> Bool {
        let (seconds, left) = (watch.seconds, WorkTime.secondsLeft)
        guard mayStartOver, Pace.shouldStartOver(done: done, after: seconds, cost, secondsLeft: left) else {
            return false
        }
        note = Pace.note(done: done, after: seconds, secondsLeft: left)
        return true
    }
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
        return try encodeInTime(because: reason ?? "", from: demuxer, to: descriptor)
    }

    /// Encodes with as much effort as there is time for, and begins again with less where it turns out to be too much.
    private func encodeInTime(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        let cost = VideoPlan.cost(picture, policy, seconds: part.duration)
        let left = WorkTime.secondsLeft
        let choice = EffortChoice(cost, secondsLeft: left)
        // Nothing else will be made.
        if choice == .skip { throw FFmpegFailure(refusal: WorkTime.failure) }
        var maker = self
        var haste = choice.note(cost, secondsLeft: left)
        if choice != .full { maker.effort = .reduced }
        while true {
            var pace = EncodingPace(cost: cost, mayStartOver: maker.effort == .full)
            let made = try maker.encode(because: reason, from: demuxer, to: descriptor, &pace)
            if var made {
                made.effort = maker.effort
                if let haste { made.note += "; \(haste)" }
                return made
            }
            maker.effort = .reduced
            haste = pace.note
            guard ftruncate(descriptor, 0) == 0 else { throw FFmpegFailure(satchel_averror(errno), isWriting: true) }
        }
    }

    var copiesSound: Bool {
        guard let sound = facts.sound else { return true }
        return sound.codec == .aac && sound.channels <= 2 && sound.rate <= 48_000
    }

    func soundSettings(_ sound: SoundFacts, bitRate: Int) -> Encoder.Samples {
        SoundPlan.samples(sound, as: .aac, bitRate: sound.channels == 1 ? bitRate / 2 : bitRate)
    }
}
