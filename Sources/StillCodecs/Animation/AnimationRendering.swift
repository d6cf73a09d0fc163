import Attachments
import GIF

/// Makes the renditions of an animation: a still of one frame first, then the animation.
struct AnimationRendering {
    var order: WorkOrder
    var command: RenderCommand
    var outputs: [RenditionRole: Int32]

    func run(
        _ source: borrowing AnimationSource, _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let policies = ImagePolicies(order: order, kind: .animation)
        let wanted = max(0, order.request.thumbnailFrame ?? 0)
        let index = min(wanted, source.facts.frames - 1)
        var ending = try still(of: source, frame: policies.main == nil ? index : 0, policies, deliver)
        if wanted != index {
            ending.warnings.append(
                "frame \(wanted) was asked for as the thumbnail; the last one, \(index), was taken")
        }
        ending.warnings += source.facts.warnings
        if policies.main != nil, source.facts.frames > 1 {
            ending.notes.append(
                "the first of its \(source.facts.frames) frames, as this profile takes a still of an animation")
        }
        guard policies.main == nil, let policy = order.profile.animation, command.outputs.contains(.main),
            let descriptor = outputs[.main]
        else { return ending }
        let region = policies.region(of: source.facts.size)
        let cost = source.facts.cost(region, policy)
        let left = WorkTime.secondsLeft
        let choice = EffortChoice(cost, secondsLeft: left)
        guard choice != .skip else {
            ending.omissions[.main] = choice.shortfall(cost, secondsLeft: left)
            return ending
        }
        var rendering = self
        if choice == .reduced { rendering.command.effort = .reduced }
        try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
            var (report, loss) = try rendering.animation(of: source, region, policy, to: descriptor)
            if let loss { ending.losses.append(loss) }
            ending.notes += source.facts.unsaid(by: policy.type)
            if let haste = choice.shortfall(cost, secondsLeft: left) {
                report.note += "; \(haste.note)"
                report.shortfall = haste
            }
            try deliver(report)
        }
        ending.thumbnailTime = order.request.thumbnailFrame.map { _ in Double(index) }
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
        if let loss { ending.losses.append(loss) }
        return ending
    }

    /// The animation, with settings under which it meets its aim, or at least its cap, and what it lacks.
    private func animation(
        of source: borrowing AnimationSource, _ region: PixelRect, _ policy: AnimationPolicy, to descriptor: Int32
    ) throws(AttachmentError) -> (RenditionReport, Loss?) {
        let watch = Stopwatch()
        let facts = source.facts
        let isHasty = command.effort == .reduced
        let format = AnimationFormat(policy.type)
        let side = isHasty ? AnimationFacts.reducedSide(of: region, policy) : policy.longestSide
        let wanted = format.size(of: region.size, side: side)
        var plan = AnimationPlan(
            first: AnimationAttempt(size: wanted, level: 0, isHasty: isHasty), region: region.size,
            frames: facts.frames, aim: policy.aim, cap: policy.cap, format: format)
        while true {
            let attempt = plan.attempt
            let defects = FrameDefects(of: facts, when: order.profile.damaged)
            let encoded = try encode(
                source, counting: defects, region, policy, attempt, limit: plan.limit, to: descriptor)
            if plan.next(after: encoded.bytes) { continue }
            guard encoded.isComplete, encoded.bytes <= policy.cap else {
                throw .capUnreachable(
                    rendition: RenditionRole.main.rawValue, bytes: encoded.bytes, cap: policy.cap,
                    advice: "Send fewer frames or smaller ones, or raise the cap.")
            }
            let report = RenditionReport(
                role: .main, type: policy.type, size: attempt.size, duration: facts.duration, bytes: encoded.bytes,
                seconds: watch.seconds, note: note(policy, facts, plan, encoded, wanted: wanted),
                effort: command.effort, encodes: plan.attempts)
            return (report, try defects.defect.loss(when: order.profile.damaged))
        }
    }

    private func encode(
        _ source: borrowing AnimationSource, counting defects: FrameDefects, _ region: PixelRect,
        _ policy: AnimationPolicy,
        _ attempt: AnimationAttempt, limit: Int64, to descriptor: Int32
    ) throws(AttachmentError) -> Encoded {
        let gif = AnimatedGIF(facts: source.facts, region: region, attempt: attempt, limit: limit)
        if policy.type == .gif, let blocks = source.gif, attempt.size == region.size, attempt.level == 0,
            attempt.step == 1, !attempt.isLast
        {
            return try gif.rewrite(blocks, counting: defects, to: descriptor)
        }
        let frames = ScaledFrames(try source.frames(counting: defects), of: source.facts, region, attempt)
        switch policy.type {
        case .webp:
            return try AnimatedWebP(facts: source.facts, attempt: attempt).write(frames, to: descriptor)
        case .mp4:
            let rateFactor = order.profile.video?.rateFactor ?? VideoPolicy().rateFactor
            return try AnimationClip(facts: source.facts, attempt: attempt, rateFactor: rateFactor)
                .write(frames, to: descriptor)
        default:
            return try gif.write(frames, to: descriptor)
        }
    }

    private func note(
        _ policy: AnimationPolicy, _ facts: AnimationFacts, _ plan: AnimationPlan, _ encoded: Encoded,
        wanted: PixelSize
    ) -> String {
        let attempt = plan.attempt
        let count = attempt.counts(of: facts.frames).count
        var note = "\(policy.type.format.name), \(count) frames, \(encoded.note)"
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
        if count < facts.frames { changes.append("\(facts.frames) frames merged into \(count)") }
        if !changes.isEmpty { note += ", \(changes.joined(separator: ", ")) because \(plan.reason)" }
        return note
    }
}
