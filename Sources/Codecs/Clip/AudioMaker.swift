import Attachments
import CFFmpeg

/// Makes the main rendition of a sound.
struct AudioMaker {
    var facts: ClipFacts
    var sound: SoundFacts
    var policy: AudioPolicy
    var part: ClipPart
    /// What decoding the part came upon.
    var damage: SoundDamage
    var effort: Effort

    /// How far an end of a copy may lie from where it is wanted; seconds.
    private static let tolerance = 0.02

    var aim: Int64 { min(policy.aim ?? policy.cap, policy.cap) }

    func make(from demuxer: borrowing Demuxer, to descriptor: Int32) throws(FFmpegFailure) -> MadeClip {
        let (type, reason) = try copyType(demuxer)
        if let type {
            return type == .wav
                ? try encode(as: .pcm, type: .wav, because: nil, from: demuxer, to: descriptor)
                : try copy(as: type, from: demuxer, to: descriptor)
        }
        // An MP3 is never encoded: there is always a better choice.
        let target = policy.types.first { $0 == .m4a || $0 == .wav } ?? .m4a
        return try encode(
            as: target == .wav ? .pcm : .aac, type: target, because: reason, from: demuxer, to: descriptor)
    }

    private var zero: Double { facts.origin + part.start }
    private var wanted: Double { part.reach }
    private var isFromStart: Bool { part.start == 0 }

    /// The type that takes the source's packets, or else why none does.
    func copyType(_ demuxer: borrowing Demuxer) throws(FFmpegFailure) -> (MediaType?, String) {
        let type: MediaType
        switch sound.codec {
        case .aac: type = .m4a
        case .mp3: type = .mp3
        case .pcm16: type = .wav
        case .other(let name): return (nil, "\(name) is none of its profile's codings")
        }
        guard policy.types.contains(type) else { return (nil, "the profile takes no \(type.rawValue)") }
        guard sound.channels <= 2 else { return (nil, "it has \(sound.channels) channels") }
        guard sound.rate <= 48_000 else { return (nil, "it has \(sound.rate) samples a second") }
        if type == .wav {
            let bytes = Int64(min(part.duration, 1e9) * Double(sound.rate * sound.channels * 2)) + 44
            return bytes <= aim ? (type, "") : (nil, "\(bytes) bytes are over \(aim)")
        }
        guard damage.inside == 0 else { return (nil, "\(damage.inside) of its packets could not be decoded") }

        let packet = try Packet()
        guard try demuxer.seek(sound: sound, before: zero - 0.1) else { return (nil, "it can't be searched") }
        var bytes: Int64 = 4_000
        var first: (start: Double, length: Double)?
        var last = 0.0
        while try demuxer.read(packet) {
            guard packet.stream == sound.stream else { continue }
            guard let time = packet.pts ?? packet.dts else { return (nil, "its packets have no times") }
            let start = sound.timeBase.seconds(time) - zero
            let length = sound.timeBase.seconds(packet.duration)
            guard
                SoundCopy.belongs(
                    at: start, lasting: length, duration: wanted, isFromStart: isFromStart, isHidden: packet.isDiscarded
                )
            else {
                if start > wanted { break }
                continue
            }
            if damage.leavesOut(packet) { continue }
            if packet.changesParameters { return (nil, "its coding parameters change") }
            if first == nil {
                first = (start, length)
                if unsafe !isFromStart && type == .mp3 && !MP3Frame.standsAlone(packet.contents) {
                    return (nil, "the first MP3 frame of the cut needs those before it")
                }
            }
            last = start + length
            // The table of an M4A counts each packet.
            bytes += Int64(packet.bytes) + (type == .m4a ? 8 : 0)
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
        var track = try SoundCopy(
            sound, of: demuxer, into: muxer, zero: zero, duration: wanted, isFromStart: isFromStart, damage: damage)
        try muxer.start()
        let packet = try Packet()
        guard try demuxer.seek(sound: sound, before: zero - 0.1) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        while try demuxer.read(packet) {
            guard packet.stream == sound.stream else { continue }
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

    private func encode(
        as codec: Encoder.Samples.Codec, type: MediaType, because reason: String?, from demuxer: borrowing Demuxer,
        to descriptor: Int32
    ) throws(FFmpegFailure) -> MadeClip {
        let bitRate = SoundPlan.bitRate(wanted: policy.bitRate, bytes: aim, seconds: part.duration)
        let settings = SoundPlan.samples(sound, as: codec, bitRate: bitRate)
        let muxer = try Muxer(type: type, descriptor: descriptor)
        var track = try SoundEncoding(
            sound, of: demuxer, as: settings, into: muxer, zero: zero, duration: wanted)
        try muxer.start()
        let packet = try Packet()
        guard try demuxer.seek(sound: sound, before: zero - 0.3) else {
            throw FFmpegFailure(satchel_averror_invaliddata)
        }
        while try demuxer.read(packet) {
            guard packet.stream == sound.stream else { continue }
            if try track.accept(packet, into: muxer) { break }
        }
        try track.finish(into: muxer)
        guard track.samples > 0 else {
            throw FFmpegFailure(refusal: .corrupt(reason: "none of its sound could be decoded"))
        }
        let bytes = try muxer.finish()
        let channels = settings.channels == 1 ? "mono" : "stereo"
        let note =
            switch codec {
            case .aac:
                "AAC, \(settings.bitRate / 1000) kbit/s, \(channels), \(settings.rate) Hz, because \(reason ?? "")"
            case .pcm: reason.map { "PCM, \(channels), because \($0)" } ?? "samples copied: cut to the sample"
            }
        return MadeClip(
            type: type, start: part.start, duration: Double(track.samples) / Double(settings.rate),
            method: reason == nil ? .copy : .encode, bytes: bytes, note: note)
    }
}

/// What an MP3 frame says of itself.
enum MP3Frame {
    /// Whether all its data lies in it, and none in the frames before.
    static func standsAlone(_ frame: UnsafeBufferPointer<UInt8>) -> Bool {
        guard frame.count > 8, unsafe frame[0] == 0xff, unsafe frame[1] & 0xe0 == 0xe0 else { return false }
        let isVersion1 = unsafe frame[1] & 0x18 == 0x18
        let hasChecksum = unsafe frame[1] & 1 == 0
        let side = hasChecksum ? 6 : 4
        // The first nine bits of the side information, eight of MPEG 2, count the bytes that lie before.
        guard unsafe frame[side] == 0 else { return false }
        return unsafe !isVersion1 || frame[side + 1] & 0x80 == 0
    }
}
