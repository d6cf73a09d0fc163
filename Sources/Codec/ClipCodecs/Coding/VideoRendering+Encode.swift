import SatchelCore
import CFFmpeg
import StillCodecs

extension VideoRendering {
    /// Makes the rendition anew from the source's pictures, never over the cap.
    ///
    /// - Returns: Nil where `pace` is too slow.
    func encode(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32, _ pace: inout EncodingPace
    ) throws(FFmpegFailure) -> MadeClip? {
        let (audioRate, copiesAudio) = audioRate(in: demuxer)
        var ladder = PictureLadder(
            VideoPlan.pictures(picture, policy, seconds: part.duration, audioBitRate: audioRate, effort: effort),
            audioBitRate: audioRate, upright: picture.upright, seconds: part.duration, aim: policy.aim,
            cap: policy.cap)
        var tooLarge: [Int64] = []
        while true {
            // What turned out too large is encoded with its sound, for which there is less room then.
            let copiesAudio = copiesAudio && ladder.encodes == 0
            let attempted = try attempt(ladder, copiesAudio: copiesAudio, from: demuxer, to: descriptor, &pace)
            guard let (outcome, attempt) = attempted else { return nil }
            guard ladder.next(after: outcome) else {
                guard var made = attempt else { throw unreachable(ladder) }
                made.encodes = ladder.encodes
                made.note = note(ladder, made, copiesAudio: copiesAudio, because: reason, tooLarge: tooLarge)
                return made
            }
            if case .finished(let bytes) = outcome { tooLarge.append(bytes) }
        }
    }

    /// Not even the last attempt has a place for one picture, or for silence.
    private func unreachable(_ ladder: PictureLadder, silence: Int64 = 0) -> FFmpegFailure {
        FFmpegFailure(
            refusal: .capUnreachable(
                rendition: "main", bytes: ladder.leastBytes(silence: silence), cap: policy.cap,
                advice: silence > 0 ? "Ask for a shorter trim." : "Raise the cap."))
    }

    private func note(
        _ ladder: PictureLadder, _ made: MadeClip, copiesAudio: Bool, because reason: String, tooLarge: [Int64]
    ) -> String {
        let settings = ladder.settings
        var note = "H.264 at rate factor \(settings.rateFactor)"
        if let bound = settings.maximumBitRate { note += ", at most \(bound / 1000) kbit/s" }
        if settings.spacing > 0 { note += ", at most \(rounded(1 / settings.spacing)) pictures a second" }
        if picture.isInterlaced { note += ", deinterlaced" }
        if let range = picture.colours.rangeName { note += ", tone-mapped from \(range)" }
        if picture.turn.degrees != 0 { note += ", turned by \(picture.turn.degrees)°" }
        note += ladder.encodes == 1 ? ", 1 encode" : ", \(ladder.encodes) encodes"
        if let before = tooLarge.last {
            note += ", because \(before) bytes before were over \(min(policy.aim ?? policy.cap, policy.cap))"
        } else if ladder.encodes > 1 {
            note += ", because more would have been over \(min(policy.aim ?? policy.cap, policy.cap)) bytes"
        }
        if copiesAudio { note += ", sound copied" }
        if let aim = policy.aim, made.bytes > aim { note += "; over the aim of \(aim) bytes, which costs too much" }
        return note + ", because \(reason)"
    }

    /// One encode with the settings of `ladder`; nil where `pace` is too slow, which later ones are not asked.
    private func attempt(
        _ ladder: PictureLadder, copiesAudio: Bool, from demuxer: borrowing Demuxer, to descriptor: Int32,
        _ pace: inout EncodingPace
    ) throws(FFmpegFailure) -> (PictureLadder.Outcome, MadeClip?)? {
        let zero = facts.origin + part.start
        let duration = part.reach
        let settings = ladder.settings
        let muxer = try Muxer(type: policy.type, descriptor: descriptor)
        var pictures = try PictureEncoding(
            picture, of: demuxer, as: settings, into: muxer, zero: zero, duration: duration,
            maximumPixels: maximumPixels, isFromStart: part.start == 0,
            budget: ladder.isLast
                ? ByteBudget(total: ladder.pictureBytes, seconds: duration, head: PictureLadder.firstShare) : nil)
        var audio: AudioEncoding?
        var copied: AudioCopy?
        if let facts = facts.audio, copiesAudio {
            copied = try AudioCopy(
                facts, of: demuxer, into: muxer, zero: zero, duration: duration, isFromStart: part.start == 0)
        } else if let facts = facts.audio {
            let samples = audioSettings(facts, bitRate: ladder.audioBitRate)
            var budget: AudioBudget?
            if ladder.isLast {
                let silence = try SilentPacket.bytes(samples)
                let packets = AudioBudget.packets(samples, seconds: duration)
                budget = AudioBudget(bytes: ladder.audioBytes, packets: packets, seconds: duration, silence: silence)
                guard budget != nil else {
                    throw unreachable(ladder, silence: packets * (Int64(silence.count) + ContainerSize.sample))
                }
            }
            audio = try AudioEncoding(
                facts, of: demuxer, as: samples, into: muxer, zero: zero, duration: duration, budget: budget)
        }
        try muxer.start()
        let packet = try Packet()
        let lead = demuxer.hasSampleTable || part.start == 0 ? 0 : 1.0
        // At a source's beginning sound may come long before the first picture.
        var isReady = false
        if part.start == 0 { isReady = demuxer.rewind() }
        if !isReady {
            isReady = try demuxer.seek(
                picture: picture, shownAt: zero, lead: lead, packet: packet, maximumPixels: maximumPixels)
        }
        guard isReady else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        var isPictureDone = false
        var isAudioDone = facts.audio == nil
        while !(isPictureDone && isAudioDone) {
            let errors = FFmpegLibraries.errorCount
            guard try demuxer.read(packet) else { break }
            if FFmpegLibraries.errorCount > errors { pictures.isBehindGap = true }
            if packet.stream == picture.stream, !isPictureDone {
                isPictureDone = try pictures.accept(packet, into: muxer)
                if ladder.encodes < 2, pace.isTooSlow(done: pictures.seconds / max(part.duration, 0.001)) { return nil }
            } else if packet.stream == facts.audio?.stream, !isAudioDone {
                if copiesAudio {
                    isAudioDone = try copied?.accept(packet, into: muxer) ?? true
                } else {
                    isAudioDone = try audio?.accept(packet, into: muxer) ?? true
                }
            }
            if !ladder.isLast, muxer.bound > ladder.limit {
                let fraction =
                    max(pictures.seconds, audio?.seconds ?? copied?.heard?.upperBound ?? 0) / max(duration, 0.001)
                if fraction < 0.9 || muxer.bound > policy.cap { return (.stopped(after: fraction), nil) }
            }
        }
        try pictures.finish(into: muxer)
        try audio?.finish(into: muxer)
        try copied?.finish(into: muxer)
        guard pictures.pictures > 0 else {
            if pictures.isAhead {
                let times = "\(rounded(part.start)) and \(rounded(part.end)) s"
                throw FFmpegFailure(refusal: .invalidSource(reason: "it shows no picture between \(times)"))
            }
            throw FFmpegFailure(refusal: try demuxer.pictureless(picture.stream))
        }
        guard !ladder.isLast || pictures.hasWritten else { throw unreachable(ladder) }
        let bytes = try muxer.finish()
        let made = MadeClip(
            type: policy.type, size: PixelSize(width: settings.width, height: settings.height), start: part.start,
            duration: pictures.seconds, method: .encode, bytes: bytes, note: "", damage: pictures.damage,
            isDamagedAtEnd: pictures.isDamagedAtEnd,
            found: Diagnosis(evidence: pictures.overtakenFrames, changes: pictures.sizeChange))
        return (.finished(bytes: bytes), made)
    }
}
