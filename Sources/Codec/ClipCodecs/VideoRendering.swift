import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

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
    /// Its tracks, where they were read back.
    var tracks: [DeliveredTrack]?
    /// Pictures that could not be decoded.
    var damage: Finding?
    /// Whether those are its last.
    var isDamagedAtEnd = false
    /// What was found besides.
    var found = Diagnosis()
    /// How often it was encoded until its bytes suited; 0 where packets were copied.
    var encodes = 0
    /// Why the effort was less than full, where it was.
    var haste: Finding?
}

/// What came of the work on a clip's main rendition.
enum ClipWork {
    case made(MadeClip)
    /// Not even begun.
    case leftOut(Finding?)
}

/// Watches how an encode gets on.
struct EncodingPace {
    var cost: WorkCost
    var mayStartOver: Bool
    private let watch = Stopwatch()
    /// Why it should be begun again.
    private(set) var haste: Finding?

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
        haste = Pace.haste(done: done, after: seconds, secondsLeft: left)
        return true
    }
}

/// Makes the main rendition of a video.
struct VideoRendering {
    var facts: ClipFacts
    var picture: PictureFacts
    var policy: VideoPolicy
    var part: ClipPart
    var effort = Effort.full
    var maximumPixels: Int64
    /// Its sound is whole.
    var mayCopyAudio = true
    /// A library reported errors in this file before.
    var isDoubtful = false

    /// The bit rate of sound that must be encoded.
    static let audioBitRate = 128_000
    /// How much shorter than its limit a part may be so that it can be copied; seconds.
    private static let limitSlack = 0.5

    func make(from demuxer: borrowing Demuxer, to descriptor: Int32) throws(FFmpegFailure) -> ClipWork {
        // Others may have packets of several frames.
        if demuxer.hasSampleTable, picture.isH264, facts.audio.map({ $0.codec == .aac }) ?? true {
            demuxer.takePacketsAsTheyAre()
        }
        let approach = try approach(from: demuxer)
        var reason: String
        switch try copying({ () throws(FFmpegFailure) in try copy(approach, from: demuxer, to: descriptor) }) {
        case .success(let made):
            if made.bytes > policy.cap {
                reason = "its \(made.bytes) bytes are over the cap of \(policy.cap)"
            } else if let checked = try checked(made, in: descriptor) {
                return .made(checked)
            } else {
                reason = "a copy would take damage over"
            }
        case .failure(let refusal): reason = refusal.reason
        }
        guard ftruncate(descriptor, 0) == 0 else { throw FFmpegFailure(satchel_averror(errno), isWriting: true) }
        return try encodeInTime(because: reason, from: demuxer, to: descriptor)
    }

    /// How the rendition is made.
    enum Approach {
        case copy(PacketScan, CutPlan)
        /// Copied but for its edges; with why it can't be copied whole.
        case smart(PacketScan, SmartPlan, CutPlan.Refusal)
        /// Why the packets can't be copied.
        case encode(CutPlan.Refusal)
    }

    /// As far as reading tells: encoding the edges of a smart cut may turn out not to be possible.
    func approach(from demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Approach {
        func encode(because reason: String) -> Approach { .encode(CutPlan.Refusal(reason: reason)) }
        if let reason = VideoPlan.reasonToEncode(picture, policy) { return encode(because: reason) }
        let scan: PacketScan
        switch try self.scan(demuxer) {
        case .failure(let refusal): return .encode(refusal)
        case .success(let taken): scan = taken
        }
        let refusal: CutPlan.Refusal
        switch scan.cut() {
        case .success(let plan):
            let seconds = picture.timeBase.seconds(plan.end - plan.start)
            return excess(of: plan.bytes, scan, seconds: seconds).map(encode) ?? .copy(scan, plan)
        case .failure(let found): refusal = found
        }
        switch scan.smartCut() {
        case .success(let plan):
            return excess(of: plan.middle.bytes, scan, seconds: part.duration).map(encode)
                ?? .smart(scan, plan, refusal)
        case .failure(let other): return .encode(refusal.joined(with: other))
        }
    }

    /// Copies the pictures, or most of them.
    private func copy(
        _ approach: Approach, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> Result<MadeClip, CutPlan.Refusal> {
        switch approach {
        case .encode(let refusal): return .failure(refusal)
        case .copy(let scan, let plan): return .success(try copy(scan, plan, from: demuxer, to: descriptor))
        case .smart(let scan, let plan, let refusal):
            return try smart(scan, plan, from: demuxer, to: descriptor).mapError { refusal.joined(with: $0) }
        }
    }

    /// Reads the packets of the part.
    private func scan(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Result<PacketScan, CutPlan.Refusal> {
        let start = facts.origin + part.start
        // A whole source goes to its own end, whatever its container says that is.
        let end = part.isTrimmed ? start + part.duration : start + part.duration + 1
        return try PacketScan.take(
            demuxer, facts, picture, start: start, end: end, slack: part.isLimited ? Self.limitSlack : nil,
            budget: min(policy.aim ?? policy.cap, policy.cap))
    }

    /// Encodes with as much effort as there is time for, and begins again with less where it turns out to be too much.
    private func encodeInTime(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> ClipWork {
        let cost = VideoPlan.cost(picture, policy, seconds: part.duration)
        let left = WorkTime.secondsLeft
        let choice = EffortChoice(cost, secondsLeft: left)
        var haste = choice.haste(cost, secondsLeft: left)
        if choice == .skip { return .leftOut(haste) }
        var rendering = self
        if choice != .full { rendering.effort = .reduced }
        while true {
            var pace = EncodingPace(cost: cost, mayStartOver: rendering.effort == .full)
            let made = try rendering.encode(because: reason, from: demuxer, to: descriptor, &pace)
            if var made {
                made.haste = haste
                if let haste { made.note += "; reduced: \(haste.cause)" }
                return .made(made)
            }
            rendering.effort = .reduced
            haste = pace.haste
            guard ftruncate(descriptor, 0) == 0 else { throw FFmpegFailure(satchel_averror(errno), isWriting: true) }
        }
    }

    /// Why `bytes` of pictures are too many; nil where they aren't.
    func excess(of bytes: Int64, _ scan: PacketScan, seconds: Double) -> String? {
        let whole =
            bytes + (copiesAudio ? scan.audioBytes : Int64(Double(Self.audioBitRate / 8) * min(seconds, 1e9)))
            + VideoPlan.overhead(seconds: seconds, frameRate: picture.frameRate)
        let aim = min(policy.aim ?? policy.cap, policy.cap)
        return whole <= aim ? nil : "its \(whole) bytes are over the \(policy.aim == nil ? "cap" : "aim") of \(aim)"
    }

    var copiesAudio: Bool {
        guard let audio = facts.audio else { return true }
        guard mayCopyAudio else { return false }
        // A packet is taken where the greater half of it belongs to the part: of lower rates that is more than 20 ms.
        return audio.codec == .aac && audio.isContinuous && audio.channels <= 2 && audio.rate <= 48_000
            && (!part.isTrimmed || audio.rate >= 25_600)
    }

    /// The bit rate of the sound beside encoded pictures, as it is planned: its own where it stays as it is.
    func audioRate(in demuxer: borrowing Demuxer) -> (bitRate: Int, isCopied: Bool) {
        guard facts.audio != nil else { return (0, false) }
        let aim = min(policy.aim ?? policy.cap, policy.cap)
        if let bytes = audioBytes(in: demuxer), bytes <= aim / Self.audioShare {
            return (Int(Double(bytes) * 8 / max(part.duration, 0.1)), true)
        }
        let rate = AudioPlan.bitRate(wanted: Self.audioBitRate, bytes: aim / Self.audioShare, seconds: part.duration)
        return (rate, false)
    }

    /// Sound gets at most a quarter of the bytes.
    private static let audioShare: Int64 = 4

    /// Of the part's sound as it is, where it could be copied and the container's index tells.
    private func audioBytes(in demuxer: borrowing Demuxer) -> Int64? {
        guard let audio = facts.audio, copiesAudio, demuxer.hasSampleTable,
            let stream = unsafe demuxer.stream(audio.stream)
        else { return nil }
        let (start, end) = (facts.origin + part.start - 0.05, facts.origin + part.start + part.reach)
        var bytes: Int64 = 0
        for index in 0..<(unsafe avformat_index_get_entries_count(stream)) {
            guard let entry = unsafe avformat_index_get_entry(stream, index) else { return nil }
            let time = audio.timeBase.seconds(unsafe entry.pointee.timestamp)
            if time >= start, time < end { bytes += unsafe Int64(entry.pointee.size) }
        }
        return bytes > 0 ? bytes : nil
    }

    func audioSettings(_ audio: AudioFacts, bitRate: Int) -> Encoder.Samples {
        AudioPlan.samples(audio, bitRate: audio.channels == 1 ? bitRate / 2 : bitRate)
    }
}
