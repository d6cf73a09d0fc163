import SatchelCore
import CFFmpeg
import StillCodecs

/// Makes the main rendition of a sound.
struct AudioRendering {
    var facts: ClipFacts
    var audio: AudioFacts
    var policy: AudioPolicy
    var part: ClipPart
    /// What decoding the part came upon.
    var damage: AudioDamage

    /// How far an end of a copy may lie from where it is wanted; seconds.
    private static let tolerance = 0.02

    var aim: Int64 { min(policy.aim ?? policy.cap, policy.cap) }

    func make(from demuxer: borrowing Demuxer, to descriptor: Int32) throws(FFmpegFailure) -> MadeClip {
        let (type, reason) = try copyType(demuxer)
        if let type, type != .wav { return try copy(as: type, from: demuxer, to: descriptor) }
        if type == .wav, let samples = AudioPlan.wave(audio, seconds: wanted, bytes: aim) {
            if let copy = try SampleCopy(audio, as: samples, of: demuxer, from: zero, seconds: wanted) {
                return try copy.make(from: demuxer, to: descriptor, start: part.start)
            }
            return try wave(samples, because: nil, from: demuxer, to: descriptor)
        }
        return try encode(because: reason, from: demuxer, to: descriptor)
    }

    /// As the first of the profile's types that is encoded to and has a place within the cap.
    private func encode(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        // An MP3 is never encoded: there is always a better choice.
        let targets = policy.types.filter { $0 == .m4a || $0 == .wav }
        for target in targets.isEmpty ? [.m4a] : targets {
            if target == .m4a {
                if let made = try compress(because: reason, from: demuxer, to: descriptor) { return made }
            } else if let samples = AudioPlan.wave(audio, seconds: wanted, bytes: aim)
                ?? AudioPlan.wave(audio, seconds: wanted, bytes: policy.cap)
            {
                return try wave(samples, because: reason, from: demuxer, to: descriptor)
            }
        }
        let least = Encoder.Samples(codec: .pcm, rate: 8_000, channels: 1, bitRate: 0)
        throw FFmpegFailure(
            refusal: .capUnreachable(
                rendition: "main", bytes: AudioPlan.waveBytes(least, seconds: wanted), cap: policy.cap,
                advice: "Ask for a shorter trim, or allow audio/mp4."))
    }

    private var zero: Double { facts.origin + part.start }
    private var wanted: Double { part.reach }
    private var isFromStart: Bool { part.start == 0 }

    /// The type that takes the source's packets, or else why none does.
    func copyType(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> (MediaType?, String) {
        let type: MediaType
        switch audio.codec {
        case .aac: type = .m4a
        case .mp3: type = .mp3
        case .pcm16: type = .wav
        case .other(let name): return (nil, "\(name) is none of its profile's codings")
        }
        guard policy.types.contains(type) else { return (nil, "the profile takes no \(type.rawValue)") }
        guard audio.isContinuous || audio.codec == .pcm16 else { return (nil, "it is put together of several parts") }
        guard audio.channels <= 2 else { return (nil, "it has \(audio.channels) channels") }
        guard audio.rate <= 48_000 else { return (nil, "it has \(audio.rate) samples a second") }
        if type == .wav {
            let same = Encoder.Samples(codec: .pcm, rate: audio.rate, channels: audio.channels, bitRate: 0)
            let bytes = AudioPlan.waveBytes(same, seconds: wanted)
            return bytes <= aim ? (type, "") : (nil, "\(bytes) bytes are over \(aim)")
        }
        guard damage.inside == 0 else { return (nil, "\(damage.inside) of its packets could not be decoded") }

        let packet = try Packet()
        guard try demuxer.seek(audio: audio, before: zero - 0.1) else { return (nil, "it can't be searched") }
        var bytes: Int64 = 4_000
        var first: (start: Double, length: Double)?
        var last = 0.0
        while try demuxer.read(packet) {
            guard packet.stream == audio.stream else { continue }
            guard let time = packet.pts ?? packet.dts else { return (nil, "its packets have no times") }
            let start = audio.timeBase.seconds(time) - zero
            let length = audio.timeBase.seconds(packet.duration)
            guard
                AudioCopy.belongs(
                    at: start, lasting: length, duration: wanted, isFromStart: isFromStart, isHidden: packet.isDiscarded
                )
            else {
                if start > wanted { break }
                continue
            }
            if damage.leavesOut(packet) { continue }
            guard let frame = audio.frameBytes(packet) else { continue }
            if audio.codec == .mp3, unsafe MP3Frame.length(packet.contents.dropFirst(frame)) != nil {
                return (nil, "its packets hold several frames")
            }
            if packet.changesParameters { return (nil, "its coding parameters change") }
            if first == nil {
                first = (start, length)
                let reach = unsafe type == .mp3 ? MP3SideInformation(Array(packet.contents))?.reach : 0
                if !isFromStart, reach != 0 {
                    return (nil, "the first MP3 frame of the cut needs those before it")
                }
            }
            last = start + length
            // The table of an M4A counts each packet.
            bytes += Int64(frame) + (type == .m4a ? ContainerSize.sample : 0)
            if bytes > aim { return (nil, "its bit rate is over what \(aim) bytes allow") }
        }
        guard let first else { return (nil, "the part has no packets") }
        let isStartExact = isFromStart || abs(first.start) <= Self.tolerance
        let isEndExact = !part.isTrimmed || abs(last - part.duration) <= Self.tolerance
        guard isStartExact, isEndExact else { return (nil, "its packets are too long for the cut") }
        return (type, "")
    }

    private func copy(
        as type: MediaType, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        let muxer = try Muxer(type: type, descriptor: descriptor)
        var track = try AudioCopy(
            audio, of: demuxer, into: muxer, zero: zero, duration: wanted, isFromStart: isFromStart, damage: damage)
        try muxer.start()
        let packet = try Packet()
        guard try demuxer.seek(audio: audio, before: zero - 0.1) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        while try demuxer.read(packet) {
            guard packet.stream == audio.stream else { continue }
            if try track.accept(packet, into: muxer) { break }
        }
        try track.finish(into: muxer)
        let bytes = try muxer.finish()
        let heard = track.heard ?? 0...0
        let start = max(0, heard.lowerBound)
        return MadeClip(
            type: type, start: part.start + start, duration: heard.upperBound - start, method: .copy, bytes: bytes,
            note: "copied: \(part.isTrimmed ? "the cut is between packets" : "it fits as it is")"
                + (damage.atEnd > 0 ? "; \(damage.atEnd) damaged at its end left out" : ""))
    }

    /// PCM, of which the bytes are known before.
    private func wave(
        _ samples: Encoder.Samples, because reason: String?, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        let (outcome, attempt) = try attempt(samples, as: .wav, limit: .max, budget: nil, from: demuxer, to: descriptor)
        guard case .finished = outcome, var made = attempt else { throw FFmpegFailure(satchel_averror_invaliddata) }
        let channels = samples.channels == 1 ? "mono" : "stereo"
        let isSame = samples.rate == audio.rate && samples.channels == audio.channels
        if reason == nil && isSame {
            made.method = .copy
            made.note = "samples copied: cut to the sample"
        } else {
            made.encodes = 1
            let most = AudioPlan.waveBytes(samples, seconds: wanted)
            made.note = "PCM, \(channels), \(samples.rate) Hz, at most \(most) bytes by arithmetic"
            made.note += ", because \(reason ?? "more would be over \(aim) bytes")"
        }
        return made
    }

    /// AAC; nil where the cap has no place even for silence of this length.
    private func compress(
        because reason: String, from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip? {
        var ladder = AudioLadder(
            bitRate: AudioPlan.bitRate(wanted: policy.bitRate, bytes: aim, seconds: part.duration), aim: policy.aim,
            cap: policy.cap)
        var tooLarge: [Int64] = []
        while true {
            let samples = AudioPlan.samples(audio, bitRate: ladder.bitRate)
            var budget: AudioBudget?
            if ladder.isLast {
                budget = AudioBudget(
                    bytes: policy.cap - ContainerSize.movie(tracks: 1, configuration: 100),
                    packets: AudioBudget.packets(samples, seconds: wanted), seconds: wanted,
                    silence: try SilentPacket.bytes(samples))
                guard budget != nil else { return nil }
            }
            let (outcome, attempt) = try attempt(
                samples, as: .m4a, limit: ladder.limit, budget: budget, from: demuxer, to: descriptor)
            guard ladder.next(after: outcome) else {
                guard var made = attempt else { return nil }
                made.encodes = ladder.encodes
                made.note = "AAC, \(samples.bitRate / 1000) kbit/s, \(samples.channels == 1 ? "mono" : "stereo"), "
                made.note += "\(samples.rate) Hz, \(ladder.encodes == 1 ? "1 encode" : "\(ladder.encodes) encodes")"
                if ladder.encodes > 1 {
                    made.note += ", because \(tooLarge.last.map { "\($0)" } ?? "more") bytes were over \(aim)"
                }
                if let aim = policy.aim, made.bytes > aim { made.note += "; over the aim of \(aim) bytes" }
                made.note += ", because \(reason)"
                return made
            }
            if case .finished(let bytes) = outcome { tooLarge.append(bytes) }
        }
    }

    /// One encode; it ends early where it would be larger than `limit`.
    private func attempt(
        _ settings: Encoder.Samples, as type: MediaType, limit: Int64, budget: AudioBudget?,
        from demuxer: borrowing Demuxer, to descriptor: Int32
    ) throws(FFmpegFailure) -> (PictureLadder.Outcome, MadeClip?) {
        let muxer = try Muxer(type: type, descriptor: descriptor)
        var track = try AudioEncoding(
            audio, of: demuxer, as: settings, into: muxer, zero: zero, duration: wanted, budget: budget)
        try muxer.start()
        let packet = try Packet()
        guard try demuxer.seek(audio: audio, before: zero - 0.3) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        while try demuxer.read(packet) {
            guard packet.stream == audio.stream else { continue }
            if try track.accept(packet, into: muxer) { break }
            if budget == nil, muxer.bound > limit {
                let fraction = track.seconds / max(part.duration, 0.001)
                if fraction < 0.9 || muxer.bound > policy.cap { return (.stopped(after: fraction), nil) }
            }
        }
        try track.finish(into: muxer)
        guard track.samples > 0 else {
            throw FFmpegFailure(refusal: .unreadable(.silent))
        }
        let bytes = try muxer.finish()
        let made = MadeClip(
            type: type, start: part.start, duration: track.seconds, method: .encode, bytes: bytes, note: "")
        return (.finished(bytes: bytes), made)
    }
}
