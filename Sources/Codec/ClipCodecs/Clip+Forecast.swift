import SatchelCore
import CFFmpeg
import StillCodecs

extension Clip {
    /// What will be made, smallest first. Reads the packets of the part, as making it does, and decodes none.
    ///
    /// - Throws: ``AttachmentError/unreadable(_:)`` where they can't be read.
    func forecasts() throws(AttachmentError) -> [Forecast] {
        var forecasts: [Forecast] = []
        for role in probeResult.planned {
            let forecast: Forecast? =
                switch role {
                case .main: try main()
                case .waveform: waveform
                case .thumbnail, .poster: still(role)
                case .original: nil
                }
            if let forecast { forecasts.append(forecast) }
        }
        return forecasts
    }

    /// A picture of a video, or a sound's cover art, whose size is known when it is decoded.
    private func still(_ role: RenditionRole) -> Forecast? {
        let policies = ImagePolicies(order: order, kind: facts.kind)
        guard let still = stills(policies, poster: order.profile.video?.poster).first(where: { $0.role == role })
        else { return nil }
        guard let size = facts.picture?.upright else {
            return Forecast(
                role: role, type: still.type(transparent: false),
                note: "cover art; \(still.coding(of: nil, hasAlpha: true))")
        }
        let moment = order.request.thumbnailTime.map { "the picture at \(rounded($0)) s, as asked" }
        // Pictures are decoded to even sides.
        let decoded = size.even(longestSide: PosterPicker.longestSide)
        let region = policies.region(of: decoded)
        let result = still.framing.resultSize(of: region.size)
        return Forecast(
            role: role, type: still.type(transparent: false), size: result,
            note: "\(moment ?? "a picture of interest"); \(still.coding(of: result, hasAlpha: false)); "
                + still.shape(of: region, in: decoded, size: result))
    }

    private var waveform: Forecast? {
        order.profile.audio?.waveform.map { policy in
            let size = PixelSize(width: policy.width, height: policy.height)
            return Forecast(
                role: .waveform, type: .png, size: size,
                note: "PNG, to stay under the cap of \(policy.cap) bytes; \(size.words) as its profile draws it")
        }
    }

    private func main() throws(AttachmentError) -> Forecast? {
        if let picture = facts.picture, let policy = order.profile.video {
            let rendering = VideoRendering(
                facts: facts, picture: picture, policy: policy, part: part,
                maximumPixels: order.limits.framePixels)
            return try refusing { () throws(FFmpegFailure) in try rendering.forecast(from: demuxer) }
        }
        if let audio = facts.audio, let policy = order.profile.audio {
            // Whether a packet is damaged only decoding tells.
            let rendering = AudioRendering(
                facts: facts, audio: audio, policy: policy, part: part, damage: AudioDamage())
            return try refusing { () throws(FFmpegFailure) in try rendering.forecast(from: demuxer) }
        }
        return nil
    }
}

extension VideoRendering {
    fileprivate func forecast(from demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Forecast {
        let note: String
        let method: TrimMethod
        var size = picture.upright
        switch try approach(from: demuxer) {
        case .copy:
            method = .copy
            note = "copied: \(part.isTrimmed ? "the cut is on a keyframe" : "it fits as it is"); \(audioWords)"
        case .smart(_, let plan, _):
            method = .smart
            note = "\(plan.middle.packets.count) pictures copied, those at the edges encoded; \(audioWords)"
        case .encode(let refusal):
            method = .encode
            let (rate, copiesAudio) = audioRate(in: demuxer)
            let settings = VideoPlan.pictures(
                picture, policy, seconds: part.duration, audioBitRate: rate, effort: .full)
            size = PixelSize(width: settings.width, height: settings.height)
            var clause = "H.264 at rate factor \(settings.rateFactor)"
            if let bound = settings.maximumBitRate { clause += ", at most \(bound / 1000) kbit/s" }
            if copiesAudio { clause += ", sound copied" }
            note = "\(clause), because \(refusal.reason)"
        }
        return Forecast(
            role: .main, type: policy.type, size: size, duration: part.duration, method: method, note: note)
    }
}

extension AudioRendering {
    fileprivate func forecast(from demuxer: borrowing Demuxer) throws(FFmpegFailure) -> Forecast {
        let (copied, reason) = try copyType(demuxer)
        if let copied {
            let cut = copied == .wav ? "cut to the sample" : "the cut is between packets"
            return Forecast(
                role: .main, type: copied, duration: part.duration, method: .copy,
                note: "copied: \(part.isTrimmed ? cut : "it fits as it is")")
        }
        let target = policy.types.first { $0 == .m4a || $0 == .wav } ?? .m4a
        let bitRate = AudioPlan.bitRate(wanted: policy.bitRate, bytes: aim, seconds: part.duration)
        return Forecast(
            role: .main, type: target, duration: part.duration, method: .encode,
            note: "\(target == .wav ? "PCM" : "AAC, at most \(bitRate / 1000) kbit/s"), because \(reason)")
    }
}
