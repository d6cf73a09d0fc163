package import SatchelCore
import CFFmpeg
import Glibc
import StillCodecs

/// A sound or a video: opened, understood, and made into the renditions that its profile asks for.
package final class Clip: OpenedClip {
    /// What it is, by the demuxer and the decoders that will be used.
    package private(set) var probeResult: ProbeResult

    let demuxer: Demuxer
    let facts: ClipFacts
    let order: WorkOrder
    let part: ClipPart
    /// What the file ends before, of the part.
    private var cutOff: Finding?

    /// Opens `descriptor`, which is read with `pread` only and must outlive the clip.
    ///
    /// - Parameter sniffed: libmagic's media type; it decides which demuxers are asked.
    /// - Returns: Nil where no allowed demuxer and decoder agree that it is sound or video.
    /// - Throws: ``AttachmentError/unsupportedFeature(reason:advice:)``, ``AttachmentError/unacceptedKind(kind:profile:)``, limits (``AttachmentError/sourceTooLarge(bytes:limit:)``,
    ///   ``AttachmentError/tooManyPixels(pixels:limit:)``, ``AttachmentError/tooMuch(what:count:limit:)``,
    ///   ``AttachmentError/tooLong(seconds:limit:)``), ``AttachmentError/invalidSource(reason:)`` for a trim outside the
    ///   clip, ``AttachmentError/unreadable(_:)``.
    package static func open(
        _ descriptor: Int32, sniffed: String, order: WorkOrder
    ) throws(AttachmentError) -> Clip? {
        let watch = Stopwatch()
        FFmpegLibraries.clearLog()
        guard var probed = try ProbedClip.open(descriptor, sniffed: sniffed, limits: order.limits) else {
            let head = try readBytes(descriptor, count: 1 << 16)
            guard BrokenContainer.begins(head) else { return nil }
            throw .unreadable(
                BrokenContainer.finding(of: head, bytes: try fileBytes(descriptor), sniffed: sniffed))
        }
        guard order.profile.accepts(probed.facts.kind) else {
            throw .unacceptedKind(kind: probed.facts.kind, profile: order.profile.name)
        }
        if order.profile.accepts(.audio), probed.facts.audio != nil, let first = probed.facts.firstPicture,
            case let end = try ClipPart(of: probed.facts, order: order).end, first >= end
        {
            try refusing { () throws(FFmpegFailure) in
                try probed.leaveOutPictures(
                    Finding(.startsAfter, .video, missing: first, of: end), limits: order.limits)
            }
        }
        let facts = probed.facts
        let cutOff = facts.cutOff(order)
        // Players that say nothing of it take it for whole.
        let isTold = facts.hasIndex || FFmpegLibraries.errorCount > 0
        if let cutOff, !cutOff.isTolerable, isTold, order.profile.damaged == .refuse {
            throw .unreadable(facts.diagnosis.evidence.first { $0.code == .endsBefore } ?? cutOff)
        }
        let part = try ClipPart(of: facts, order: order)
        let probeResult = ProbeResult(
            kind: facts.kind, type: facts.type, sniffedType: sniffed, size: facts.picture?.upright,
            duration: facts.duration, note: facts.note, diagnosis: facts.diagnosis,
            planned: facts.renditions(for: order.profile),
            estimate: facts.estimate(for: order.profile, part: part), seconds: watch.seconds)
        let clip = Clip(probed: probed, probeResult: probeResult, order: order, part: part, cutOff: cutOff)
        if order.wantsForecasts { clip.probeResult.forecasts = try clip.forecasts() }
        return clip
    }

    private init(
        probed: consuming ProbedClip, probeResult: ProbeResult, order: WorkOrder, part: ClipPart, cutOff: Finding?
    ) {
        facts = probed.facts
        demuxer = probed.takeDemuxer()
        self.probeResult = probeResult
        self.order = order
        self.part = part
        self.cutOff = cutOff
    }

    /// Makes the renditions in `command.outputs`, smallest first.
    ///
    /// - Parameters:
    ///   - outputs: A descriptor for each, at an empty file, open for reading and writing.
    ///   - deliver: Called when an output is completely written, before the next is begun.
    /// - Throws: ``AttachmentError/unreadable(_:)`` where nothing could be decoded,
    ///   ``AttachmentError/capUnreachable(rendition:bytes:cap:advice:)``, ``AttachmentError/storeFailed(reason:)`` and
    ///   ``AttachmentError/storeFull`` where an output can't be written.
    package func render(
        command: RenderCommand, outputs: [RenditionRole: Int32],
        deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let wanted = outputs.filter { command.outputs.contains($0.key) }
        // A clip is never cropped: a rectangle of the source is one of the output.
        var ending = Ending(thumbnailClippingRect: facts.kind == .video ? order.request.thumbnailClippingRect : nil)
        switch facts.kind {
        case .video: try renderVideo(wanted, &ending, deliver)
        default: try renderAudio(wanted, &ending, deliver)
        }
        let ends = [try cutOff?.loss(when: .salvage), facts.openEnd(part)].compactMap(\.self)
        ending.diagnosis.losses = ends + ending.diagnosis.losses
        ending.warnings = FFmpegLibraries.loggedErrors
        return ending
    }

    private func renderVideo(
        _ outputs: [RenditionRole: Int32], _ ending: inout Ending,
        _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        guard var picture = facts.picture, let policy = order.profile.video else { return }
        let request = order.request
        let watch = Stopwatch()
        let policies = ImagePolicies(order: order, kind: .video)
        let stills = stills(policies, poster: policy.poster).filter { outputs[$0.role] != nil }
        // A still comes from the first recording, because its decoder makes it.
        let last = demuxer.following?.begin ?? .infinity
        let picker = PosterPicker(
            picture: picture, start: min(facts.origin + part.start, last - picture.frame),
            end: min(facts.origin + part.end, last),
            maximumPixels: order.limits.framePixels,
            size: PosterPicker.size(of: picture.upright, for: stills, in: policies))
        var pick: PosterPicker.Pick?
        do throws(FFmpegFailure) {
            let time = request.thumbnailTime.map { $0 + facts.origin }
            pick =
                try stills.isEmpty
                ? picker.placeholderFrame(from: demuxer, at: time) : picker.pick(from: demuxer, at: time)
            if pick == nil { throw FFmpegFailure(refusal: try demuxer.pictureless(picture.stream)) }
        } catch {
            guard error.isOfSource else { throw error.verdict }
            for still in stills { ending.leaveOut(still.role, because: error.verdict) }
        }
        let seconds = watch.seconds
        // Not every container says so.
        if pick?.isInterlaced == true { picture.isInterlaced = true }
        let areStillsDone = try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
            guard let pick else { return }
            let because = pick.reason.map { ", \($0)" } ?? ", as asked"
            let moment = "the picture at \(rounded(max(0, pick.time - facts.origin))) s\(because)"
            let mapping = picture.colours.rangeName.map { ", tone-mapped from \($0)" } ?? ""
            let shown = pick.raster.cropped(to: policies.region(of: pick.raster.size))
            for still in stills {
                guard let descriptor = outputs[still.role] else { continue }
                var report: RenditionReport
                do throws(AttachmentError) {
                    report = try shown.write(as: still, to: descriptor)
                } catch {
                    guard [.corrupt, .undecodable, .capUnreachable].contains(error.code) else { throw error }
                    ending.leaveOut(still.role, because: error)
                    continue
                }
                report.seconds += seconds
                report.note = "\(moment)\(mapping); \(report.note)"
                try deliver(report)
                if ending.placeholder == nil { ending.placeholder = try pick.raster.placeholder() }
            }
            if ending.placeholder == nil { ending.placeholder = try pick.raster.placeholder() }
        }

        if areStillsDone, let descriptor = outputs[.main] {
            var rendering = VideoRendering(
                facts: facts, picture: picture, policy: policy, part: part,
                maximumPixels: order.limits.framePixels)
            // These include errors in frames that were decoded for stills.
            rendering.isDoubtful = FFmpegLibraries.errorCount > 0
            let watch = Stopwatch()
            try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
                if let audio = facts.audio {
                    let listened = try listen(to: audio, &ending)
                    rendering.mayCopyAudio = listened.damage.isEmpty && !listened.isMixed
                    // A track of which nothing is heard is left out.
                    if listened.packets > 0, listened.waveform == nil { rendering.facts.audio = nil }
                }
                let work = try refusing { () throws(FFmpegFailure) in
                    try rendering.make(from: demuxer, to: descriptor)
                }
                guard case .made(let made) = work else {
                    if case .leftOut(let haste?) = work { ending.diagnosis.losses.append(haste) }
                    return
                }
                try finish(made, descriptor, cap: policy.cap, watch, &ending, deliver)
                if let time = request.thumbnailTime {
                    ending.thumbnailTime = max(0, min(time - made.start, made.duration))
                }
            }
        }
    }

    private func renderAudio(
        _ outputs: [RenditionRole: Int32], _ ending: inout Ending,
        _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        guard let audio = facts.audio, let policy = order.profile.audio else { return }
        let policies = ImagePolicies(order: order, kind: .audio)
        if let descriptor = outputs[.thumbnail], let cover = facts.cover, let still = policies.thumbnail {
            let raster = try refusing { () throws(FFmpegFailure) in
                try CoverArt.raster(demuxer, stream: cover, maximumPixels: order.limits.framePixels)
            }
            if let raster {
                let shown = raster.cropped(to: policies.region(of: raster.size))
                var report = try shown.write(as: still, to: descriptor)
                report.note = "cover art; \(report.note)"
                try deliver(report)
                ending.placeholder = try raster.placeholder()
            } else {
                ending.diagnosis.omissions.append(Finding(.notDecoded, .thumbnail))
            }
        }
        try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
            try renderAudio(audio, policy, outputs, &ending, deliver)
        }
    }

    /// The renditions that the sound must be decoded for.
    private func renderAudio(
        _ audio: AudioFacts, _ policy: AudioPolicy, _ outputs: [RenditionRole: Int32],
        _ ending: inout Ending, _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        // Read even where no waveform is wanted: what a copy would take over must have been decoded once.
        let reading = Stopwatch()
        let reader = WaveformReader(facts: facts, audio: audio, part: part, policy: policy.waveform)
        let listened = try refusing { () throws(FFmpegFailure) in try reader.listen(demuxer) }
        guard let read = listened.waveform else { throw .unreadable(.silent) }
        try note(listened, &ending)
        if let waveform = policy.waveform {
            var placeholder = ending.placeholder ?? Placeholder()
            placeholder.peaks = read.levels
            ending.placeholder = placeholder
            if let descriptor = outputs[.waveform] {
                let still = StillPolicy(
                    role: .waveform,
                    framing: Framing(side: max(waveform.width, waveform.height), fit: .inside, gravity: .centre),
                    types: [.png], quality: 80, cap: waveform.cap)
                var report = try read.raster(width: waveform.width, height: waveform.height)
                    .write(as: still, to: descriptor)
                report.seconds = reading.seconds
                try deliver(report)
            }
        }
        if let descriptor = outputs[.main] {
            let watch = Stopwatch()
            let rendering = AudioRendering(
                facts: facts, audio: audio, policy: policy, part: part, damage: listened.damage)
            let made = try refusing { () throws(FFmpegFailure) in try rendering.make(from: demuxer, to: descriptor) }
            try finish(made, descriptor, cap: policy.cap, watch, &ending, deliver)
        }
    }

    /// Decodes a video's sound to find out what is damaged: a copy would take it over.
    private func listen(
        to audio: AudioFacts, _ ending: inout Ending
    ) throws(AttachmentError) -> WaveformReader.Listened {
        let reader = WaveformReader(facts: facts, audio: audio, part: part, policy: nil)
        let listened = try refusing { () throws(FFmpegFailure) in try reader.listen(demuxer) }
        if listened.packets > 0, listened.waveform == nil {
            ending.diagnosis.losses.append(.silent)
        } else {
            try note(listened, &ending)
        }
        return listened
    }

    /// Tells of the sound that is missing, or refuses the source for it.
    private func note(_ listened: WaveformReader.Listened, _ ending: inout Ending) throws(AttachmentError) {
        let damage = listened.damage
        ending.diagnosis.note(gap: listened.empty, in: .audio, of: part.duration)
        // The packet in which the file ends belongs to what comes after it.
        if endsEarly, damage.inside == 0, damage.atEnd == 1 {
            if facts.kind == .audio { cutOff?.missing? += damage.seconds }
            return
        }
        if damage.inside == 0, damage.atEnd > 0, demuxer.saysNoLength,
            let loss = facts.openEnd(part, at: "last packet")
        {
            ending.diagnosis.losses.append(loss)
            return
        }
        let total = max(part.duration + damage.unplayed, damage.seconds)
        let code: Finding.Code = demuxer.endsInZeros && damage.inside == 0 ? .zeros : .notDecoded
        let missing = Finding(
            code, .sound, missing: damage.seconds, of: total, named: damage.inside == 0 ? "end" : nil)
        // One frame is hardly heard, and may be a tag.
        guard damage.seconds > damage.frame * 1.01 || !missing.isTolerable else {
            if damage.seconds > 0 { ending.diagnosis.evidence.append(missing) }
            return
        }
        if let loss = try missing.loss(when: order.profile.damaged) { ending.diagnosis.losses.append(loss) }
    }

    /// The seconds that rounding explains, about a frame of sound. Priming, padding and a last frame explain more.
    private static let (frame, slack) = (0.03, 0.25)

    /// Whether the file ends before the part's end, so that its last packet may be there in part.
    private var endsEarly: Bool { cutOff != nil || facts.openEnd(part) != nil }

    func stills(_ policies: ImagePolicies, poster: PosterPolicy?) -> [StillPolicy] {
        let poster = poster.map {
            StillPolicy(
                role: .poster, framing: Framing(side: $0.longestSide, fit: .inside, gravity: .centre), types: [.jpeg],
                quality: $0.quality, cap: $0.cap)
        }
        return [policies.thumbnail, poster].compactMap(\.self)
    }

    /// Checks the cap, reads back what was written, delivers, and records the cut.
    private func finish(
        _ made: MadeClip, _ descriptor: Int32, cap: Int64, _ watch: Stopwatch, _ ending: inout Ending,
        _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) {
        guard made.bytes <= cap else {
            throw .capUnreachable(
                rendition: "main", bytes: made.bytes, cap: cap,
                advice:
                    "Ask for a trim to at most \(rounded(made.duration * Double(cap) / Double(made.bytes) * 0.9)) s.")
        }
        let tracks = try refusing { () throws(FFmpegFailure) in
            if let tracks = made.tracks { return tracks }
            return try ReadBack.tracks(of: descriptor, type: made.type, bytes: made.bytes)
        }
        var made = made
        // A clip is as long as the longer of its tracks.
        if let end = tracks.map(\.end).max(), abs(end - made.duration) > Self.slack { made.duration = end }
        for track in tracks { ending.diagnosis.note(gap: track.empty, in: track.kind, of: made.duration) }
        // What was complained of at the end is no loss where the sound is as long as its source.
        if let heard = tracks.first(where: { $0.kind == .audio })?.end, heard >= part.duration - Self.frame {
            ending.diagnosis.evidence += ending.diagnosis.losses.filter { $0.isUnproven(of: .sound) }
            ending.diagnosis.losses.removeAll { $0.isUnproven(of: .sound) }
        }
        // The picture in which the file ends belongs to what comes after it.
        if made.isDamagedAtEnd, made.damage != nil, !endsEarly, demuxer.saysNoLength,
            let loss = facts.openEnd(part, at: "last frame")
        {
            // Its sound may have told so.
            if !ending.diagnosis.losses.contains(where: { $0.code == .endsWithin }) {
                ending.diagnosis.losses.append(loss)
            }
        } else if !made.isDamagedAtEnd || !endsEarly {
            var damage = made.damage
            if made.isDamagedAtEnd, demuxer.endsInZeros { damage?.code = .zeros }
            // One frame may be a decoder's complaint alone.
            if let damage, damage.missing == 1, damage.isTolerable, facts.otherLength == nil {
                ending.diagnosis.evidence.append(damage)
            } else if let loss = try damage?.loss(when: order.profile.damaged) {
                ending.diagnosis.losses.append(loss)
            }
        }
        ending.diagnosis = ending.diagnosis.decoded(made.found)
        try deliver(
            RenditionReport(
                role: .main, type: made.type, size: made.size, duration: made.duration, bytes: made.bytes,
                seconds: watch.seconds, note: made.note, haste: made.haste,
                encodes: made.encodes, tracks: tracks))
        if part.isTrimmed {
            ending.trim = TrimReport(
                start: made.start, duration: made.duration, sourceDuration: facts.duration, method: made.method)
        }
        if part.isLimited {
            ending.diagnosis.omissions.append(
                Finding(.limit, facts.part, missing: max(0, part.asked - made.duration), of: part.asked))
        }
    }
}

extension Finding {
    /// Seconds at the end that a decoder gave nothing for.
    fileprivate func isUnproven(of part: Part) -> Bool { self.part == part && code == .notDecoded && name == "end" }
}

extension Ending {
    /// A still that can't be made is no reason to do without the rest.
    fileprivate mutating func leaveOut(_ role: RenditionRole, because error: AttachmentError) {
        var finding = Finding(.failed, role)
        finding.name = error.code.rawValue
        diagnosis.losses.append(finding)
    }
}

extension ClipPart {
    /// - Parameter duration: Of the source, where it isn't that of the facts.
    fileprivate init(of facts: ClipFacts, lasting duration: Double? = nil, order: WorkOrder) throws(AttachmentError) {
        let isVideo = facts.kind == .video
        let maximum = isVideo ? order.profile.video?.maximumDuration : order.profile.audio?.maximumDuration
        let whenLonger = isVideo ? order.profile.video?.whenLonger : order.profile.audio?.whenLonger
        try self.init(
            of: duration ?? facts.duration, request: order.request.trim, around: order.request.thumbnailTime,
            maximum: maximum,
            whenLonger: whenLonger ?? .refuse)
    }
}

extension ClipFacts {
    /// What the part that is wanted lacks, as the file ends before it.
    fileprivate func cutOff(_ order: WorkOrder) -> Finding? {
        guard let announced, let wanted = try? ClipPart(of: self, lasting: announced, order: order) else { return nil }
        let missing = min(wanted.duration, wanted.end - duration)
        return missing > 0 ? Finding(.endsBefore, part, missing: missing, of: wanted.duration) : nil
    }

    /// The same where nobody knows how much it is; nil where the part ends before.
    ///
    /// - Parameter place: Where it ends, where only its pictures tell.
    fileprivate func openEnd(_ part: ClipPart, at place: String? = nil) -> Finding? {
        guard let openEnd = place ?? openEnd, !part.isLimited, part.end >= duration else { return nil }
        return Finding(.endsWithin, self.part, of: duration, named: openEnd)
    }

    fileprivate var part: Finding.Part { kind == .video ? .video : .sound }

    /// What its headers and packets tell.
    fileprivate var diagnosis: Diagnosis {
        var diagnosis = found
        diagnosis.announced = announced
        diagnosis.evidence += [otherLength].compactMap(\.self)
        if let announced, announced > duration {
            diagnosis.evidence.append(Finding(.endsBefore, part, missing: announced - duration, of: announced))
        }
        // Nothing is lost by it, and it looks as if.
        if kind == .video, let firstPicture, firstPicture > 0.5, firstPicture < duration {
            diagnosis.evidence.append(Finding(.gap, .video, missing: firstPicture, of: duration))
        }
        if holes > 0 { diagnosis.losses.insert(Finding(.gap, part, missing: holes, of: duration), at: 0) }
        return diagnosis
    }

    /// For a person: `H.264, 1920×1080, upright after rotation by 90°, 30 fps, 12.5 s, with aac`.
    fileprivate var note: String {
        var parts: [String] = []
        if let picture {
            parts.append(picture.codec)
            parts.append("\(picture.upright.width)×\(picture.upright.height)")
            if picture.turn.degrees != 0 { parts.append("upright after rotation by \(picture.turn.degrees)°") }
            parts.append("\(rounded(picture.frameRate)) fps")
        }
        if let audio {
            parts.append("\(picture == nil ? "" : "with ")\(audio.name), \(audio.rate) Hz, \(audio.channels) ch")
        }
        parts.append("\(rounded(duration)) s")
        return parts.joined(separator: ", ")
    }

    /// Pixels of all the pictures that a decoder keeps: level 6.2 of HEVC has 6 of 36 million, and one is being decoded.
    private static let keptPixels: Int64 = 250_000_000

    /// Smallest first.
    fileprivate func renditions(for profile: Profile) -> [RenditionRole] {
        let thumbnail: [RenditionRole] = profile.thumbnail == nil ? [] : [.thumbnail]
        switch kind {
        case .video: return thumbnail + (profile.video?.poster == nil ? [] : [.poster]) + [.main]
        default:
            return (cover == nil ? [] : thumbnail) + (profile.audio?.waveform == nil ? [] : [.waveform]) + [.main]
        }
    }

    /// As if nothing could be copied, which only its packets tell; sound is made at 80 times its own speed.
    ///
    /// Memory: what libraries and threads take, the pictures that a decoder may keep (17, and of large ones as many as H.264
    /// and HEVC allow at their highest levels), x264's at the output's size (40), and the poster.
    fileprivate func estimate(for profile: Profile, part: ClipPart) -> Estimate {
        let seconds = min(max(part.duration, 1), 1e6)
        var memory: Int64 = 64 << 20
        var cpu = 0.03 + seconds * (audio == nil ? 0 : 0.012)
        if let picture, let policy = profile.video {
            let output = picture.upright.even(longestSide: policy.longestSide)
            let kept = max(8, min(17, Self.keptPixels / max(1, picture.coded.area)))
            memory += picture.coded.area * 3 / 2 * kept * (picture.isPlain ? 1 : 2) + output.area * 3 / 2 * 40
            memory += min(picture.upright.area, 2048 * 2048) * 8
            cpu += VideoPlan.cost(picture, policy, seconds: seconds).full + 0.1
            if picture.colours.isHDR {
                // Three planes of floats, before and after tone mapping, of a picture and of the poster.
                memory += (output.area + min(picture.upright.area, 2048 * 2048)) * 12 * 3
            }
        }
        return Estimate(memory: memory, cpuSeconds: cpu)
    }
}
