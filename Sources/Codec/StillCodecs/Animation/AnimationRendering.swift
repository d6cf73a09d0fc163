package import SatchelCore
import GIF

/// Makes the renditions of an animation: a still of one frame first, then the animation.
struct AnimationRendering {
    var order: WorkOrder
    var command: RenderCommand
    var outputs: [RenditionRole: Int32]
    var writers: [MediaType: AnimationWriter]

    func run(
        _ source: borrowing AnimationSource, _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let policies = ImagePolicies(order: order, kind: .animation)
        let part = try AnimationPart(of: source.facts, for: order.request)
        let first = part.frames.lowerBound
        let wanted = max(0, order.request.thumbnailFrame ?? first)
        let index = min(max(wanted, first), part.frames.upperBound - 1)
        var ending = try still(of: source, frame: policies.main == nil ? index : first, policies, deliver)
        if wanted != index {
            ending.diagnosis.changes.append(Finding(.otherFrame, missing: Double(wanted), of: Double(index)))
        }
        if policies.main != nil, source.facts.frames > 1 {
            let (taken, all) = (first + 1, source.facts.frames)
            ending.diagnosis.omissions.append(Finding(.oneTaken, .frames, missing: all - taken, of: all))
        }
        guard policies.main == nil, let policy = order.profile.animation, command.outputs.contains(.main),
            let descriptor = outputs[.main]
        else { return ending }
        let region = policies.region(of: source.facts.size)
        let cost = part.cost(region, policy)
        let left = WorkTime.secondsLeft
        let choice = EffortChoice(cost, secondsLeft: left)
        guard choice != .skip else {
            if let haste = choice.haste(cost, secondsLeft: left) { ending.diagnosis.losses.append(haste) }
            return ending
        }
        try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
            var report = try animation(
                part, of: source, region, policy, isHasty: choice == .reduced, to: descriptor, &ending)
            part.facts.note(unsaidBy: policy.type, in: &ending.diagnosis)
            ending.trim = part.report
            if let haste = choice.haste(cost, secondsLeft: left) {
                report.note += "; reduced: \(haste.cause)"
                report.haste = haste
            }
            try deliver(report)
        }
        ending.thumbnailTime = order.request.thumbnailFrame.map { _ in Double(index - first) }
        let shown = region.part(of: source.facts.size)
        ending.thumbnailClippingRect = order.request.thumbnailClippingRect?.mapped(into: shown)
        return ending
    }

    /// The still renditions, of one frame.
    private func still(
        of source: borrowing AnimationSource, frame index: Int, _ policies: ImagePolicies,
        _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let watch = Stopwatch()
        let region = policies.region(of: source.facts.size)
        // Of a companion the animation's own count decides.
        let defects = FrameDefects(of: source.facts, when: .salvage)
        let frames = try source.frames(counting: defects)
        var canvas = Canvas(width: source.facts.size.width, height: source.facts.size.height)
        for _ in 0...index { try frames.show(on: &canvas) }
        // A main rendition of one frame has no other.
        let loss = policies.main == nil ? nil : try defects.rowDefect?.loss(when: order.profile.damaged)
        let picture = try canvas.raster.picture()
        let working = policies.workingSize(of: region.size)
        let scaled = try picture.scaled(region, to: working)
        var ending = try StillRenditions(
            order: order, command: command, outputs: outputs, policies: policies,
            region: region, size: source.facts.size
        ).write(scaled, since: watch, deliver)
        if let loss { ending.diagnosis.losses.append(loss) }
        return ending
    }

    /// The animation, with settings under which it meets its aim, or at least its cap.
    ///
    /// - Parameter ending: Told what the animation lacks, and why it isn't made at the speed `best` where the profile has that.
    private func animation(
        _ part: AnimationPart, of source: borrowing AnimationSource, _ region: PixelRect, _ policy: AnimationPolicy,
        isHasty: Bool, to descriptor: Int32, _ ending: inout Ending
    ) throws(AttachmentError) -> RenditionReport {
        let watch = Stopwatch()
        let facts = part.facts
        let format = AnimationFormat(policy.type)
        let side = isHasty ? AnimationFacts.reducedSide(of: region, policy) : policy.longestSide
        let wanted = format.size(of: region.size, side: side)
        var plan = AnimationPlan(
            first: AnimationAttempt(
                size: wanted, level: 0, groups: part.groups(as: policy.type), isHasty: isHasty,
                speed: order.profile.speed),
            region: region.size,
            frames: facts.frames, aim: policy.aim, cap: policy.cap, format: format)
        var speed = isHasty ? .standard : order.profile.speed
        var hindrance: Finding?
        while true {
            let attempt = plan.attempt
            // Nothing bounds what libvips writes.
            if hindrance != nil || attempt.isLast { speed = .standard }
            let (encoded, defect): (Encoded, Finding)
            do {
                (encoded, defect) = try encode(
                    part, of: source, region, policy, attempt, speed, limit: plan.limit, hindrance: &hindrance,
                    to: descriptor)
            } catch {
                guard speed == .best, hindrance != nil else { throw error }
                continue
            }
            if plan.next(after: encoded.bytes) { continue }
            guard encoded.isComplete, encoded.bytes <= policy.cap else {
                throw .capUnreachable(
                    rendition: RenditionRole.main.rawValue, bytes: encoded.bytes, cap: policy.cap,
                    advice: "Send fewer frames or smaller ones, or raise the cap.")
            }
            let isWhole = defect.missing == 0 && facts.evidence.isEmpty
            let obstacle = policy.obstacle(to: source.facts, region: region, isWhole: isWhole)
            let isKept = encoded.isExact && obstacle == nil && encoded.bytes <= plan.aim && !part.isTrimmed
            var note = note(policy, part, plan, encoded, wanted: wanted)
            let shape = policy.shape(of: region, in: source.facts.size, size: attempt.size)
            note += Self.clauses(obstacle, shape, plan)
            let delays = attempt.written(facts.delays, as: policy.type)
            var report = RenditionReport(
                role: .main, type: policy.type, size: attempt.size, duration: Double(delays.reduce(0, +)) / 1000,
                bytes: encoded.bytes,
                seconds: watch.seconds, note: isKept ? "kept: \(note)" : note, encodes: plan.attempts)
            let keepsAlpha = format.keeps(alphaBits: encoded.alphaBits)
            // The MP4 writer reads its own files back.
            if policy.type != .mp4 {
                let shown = try report.check(
                    descriptor, hasAlpha: keepsAlpha ? true : nil, delays: delays, alike: encoded.alike)
                if shown < delays.count { report.note += "; \(shown) in the file, as the others are like those before" }
            }
            if let loss = try defect.loss(when: order.profile.damaged) { ending.diagnosis.losses.append(loss) }
            if encoded.alphaBits < 255, !keepsAlpha {
                ending.diagnosis.omissions.append(Finding(.leftOut, .transparency, named: policy.type.format.name))
            }
            ending.diagnosis.changes += [hindrance].compactMap(\.self)
            return report
        }
    }

    /// - Parameter hindrance: Why it can't be had at the speed `best`, where that is what it fails for.
    private func encode(
        _ part: AnimationPart, of source: borrowing AnimationSource, _ region: PixelRect, _ policy: AnimationPolicy,
        _ attempt: AnimationAttempt, _ speed: Speed, limit: Int64, hindrance: inout Finding?, to descriptor: Int32
    ) throws(AttachmentError) -> (Encoded, Finding) {
        let first = part.frames.lowerBound
        var defects = FrameDefects(of: part.facts, when: order.profile.damaged, after: first)
        var task = AnimationTask(facts: part.facts, region: region, attempt: attempt, limit: limit, order: order)
        if policy.type == .gif, let blocks = source.gif, attempt.size == region.size, attempt.level == 0,
            attempt.step == 1, attempt.groups == nil, !attempt.isLast,
            let encoded = try AnimatedGIF(task).rewrite(blocks, from: first, counting: defects, to: descriptor)
        {
            return (encoded, defects.defect)
        }
        defects = FrameDefects(of: part.facts, when: order.profile.damaged, after: first)
        var isBest = speed == .best
        if isBest {
            hindrance = BestAnimation(part, as: policy.type, result: attempt.size.area).hindrance(
                granted: command.memory, standard: source.estimate(for: order, part, at: .standard).memory,
                seconds: part.cost(region, policy, at: .best).full, secondsLeft: WorkTime.secondsLeft)
            isBest = hindrance == nil
        }
        var compared: ComparedFrames?
        defer { hindrance = hindrance ?? compared?.difference }
        if isBest, let blocks = source.gif {
            do {
                compared = try ComparedFrames(blocks, facts: source.facts, counting: defects)
            } catch {
                hindrance = Finding(.shownOtherwise, .speed)
                throw error
            }
        }
        let read: any FrameSource = if let compared { compared } else { try source.frames(counting: defects) }
        let frames = ScaledFrames(read, of: part, region, attempt, byLibvips: isBest)
        guard let writer = writers[policy.type] else {
            throw .codecCrashed(reason: "nothing writes \(policy.type.rawValue) as an animation")
        }
        task.isBest = isBest
        var encoded = try writer.write(task, frames, descriptor)
        encoded.alphaBits = frames.alphaBits
        return (encoded, defects.defect)
    }

    private func note(
        _ policy: AnimationPolicy, _ part: AnimationPart, _ plan: AnimationPlan, _ encoded: Encoded, wanted: PixelSize
    ) -> String {
        let attempt = plan.attempt
        let count = attempt.counts(of: part.frames.count).count
        let frames = part.isTrimmed ? part.note : "\(count) frames"
        var note = "\(policy.type.format.name), \(frames), \(encoded.note)"
        note += ", \(plan.attempts == 1 ? "1 encode" : "\(plan.attempts) encodes")"
        if let aim = policy.aim {
            note += encoded.bytes <= aim ? ", under the aim of \(aim) bytes" : ", over the aim of \(aim) bytes"
        } else {
            note += ", under the cap of \(policy.cap) bytes"
        }
        guard plan.attempts > 1 else { return note }
        var changes: [String] = []
        if attempt.level > 0 { changes.append("quality lowered") }
        if attempt.size != wanted { changes.append("\(attempt.size.width)×\(attempt.size.height)") }
        if attempt.step > 1 { changes.append("\(part.frames.count) frames merged into \(count)") }
        if !changes.isEmpty { note += ", \(changes.joined(separator: ", ")) because \(plan.reason)" }
        return note
    }
}

/// What is to be written, of which source.
package struct AnimationTask {
    package var facts: AnimationFacts
    var region: PixelRect
    package var attempt: AnimationAttempt
    /// Bytes from which on the attempt is of no use.
    var limit: Int64
    package var order: WorkOrder
    /// By libvips from the first step to the last.
    var isBest = false
}
