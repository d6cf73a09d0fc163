import Attachments

/// Makes the renditions of an animation: a still of one frame first, then the animation.
struct AnimationRendering {
    var order: WorkOrder
    var goAhead: GoAhead
    var outputs: [RenditionRole: Int32]

    /// Encodes of the animation at the most.
    private static let mostEncodes = 3

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
        guard policies.main == nil, let policy = order.profile.animation, goAhead.outputs.contains(.main),
            let descriptor = outputs[.main]
        else { return ending }
        let region = policies.region(of: source.facts.size)
        let cost = source.facts.cost(region, policy)
        let left = WorkTime.secondsLeft
        let choice = EffortChoice(cost, secondsLeft: left)
        guard choice != .skip else {
            ending.warnings += ["the animation is " + (choice.note(cost, secondsLeft: left) ?? "")]
            return ending
        }
        var rendering = self
        if choice == .reduced { rendering.goAhead.effort = .reduced }
        try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
            var report = try rendering.animation(of: source, region, policy, to: descriptor)
            if let haste = choice.note(cost, secondsLeft: left) { report.note += "; \(haste)" }
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
        let frames = try source.frames()
        for _ in 0..<index { _ = try frames.next() }
        let picture = try frames.next().picture()
        let working = policies.workingSize(of: region.size)
        let scaled = try picture.scaled(region, to: working)
        return try StillRenditions(
            order: order, goAhead: goAhead, outputs: outputs, policies: policies,
            region: region, size: source.facts.size
        ).write(scaled, since: watch, deliver)
    }

    /// The animation, made smaller until it fits its cap.
    private func animation(
        of source: borrowing AnimationSource, _ region: PixelRect, _ policy: AnimationPolicy, to descriptor: Int32
    ) throws(AttachmentError) -> RenditionReport {
        let watch = Stopwatch()
        let facts = source.facts
        var side = policy.longestSide
        if goAhead.effort == .reduced { side = AnimationFacts.reducedSide(of: region, policy) }
        var encodes = 0
        while true {
            let size = Framing(side: side, fit: .inside).scaledSize(of: region.size)
            let stream = FrameScaler(frames: try source.frames(), region: region, size: size)
            let encoded = try AnimationEncoder.encode(
                facts, as: policy.type, size: size, effort: goAhead.effort, next: stream)
            encodes += 1
            let bytes = Int64(encoded.count)
            if bytes > policy.cap {
                // Bytes go about with the pixels.
                let next = Int(Double(size.longestSide) * (Double(policy.cap) / Double(bytes)).squareRoot() * 0.93)
                guard encodes < Self.mostEncodes, next >= 1 else {
                    throw .capUnreachable(
                        rendition: RenditionRole.main.rawValue, bytes: bytes, cap: policy.cap,
                        advice: "Send fewer frames or smaller ones, or raise the cap.")
                }
                side = next
                continue
            }
            try encoded.write(to: descriptor)
            return RenditionReport(
                role: .main, type: policy.type, size: size, duration: facts.duration, bytes: bytes,
                seconds: watch.seconds, note: note(policy, facts, size, bytes, encodes), effort: goAhead.effort)
        }
    }

    private func note(
        _ policy: AnimationPolicy, _ facts: AnimationFacts, _ size: PixelSize, _ bytes: Int64, _ encodes: Int
    ) -> String {
        var note =
            "\(policy.type.imageName), \(facts.frames) frames, \(encodes == 1 ? "1 encode" : "\(encodes) encodes")"
        if let aim = policy.aim {
            note += bytes <= aim ? ", under the aim of \(aim) bytes" : ", over the aim of \(aim) bytes"
        } else {
            note += ", under the cap of \(policy.cap) bytes"
        }
        if encodes > 1 { note += ", \(size.width)×\(size.height) because more was over the cap of \(policy.cap) bytes" }
        return note
    }
}

/// Frames cut and scaled one by one.
private final class FrameScaler: FrameMaker {
    private let frames: any FrameMaker
    private let region: PixelRect
    private let size: PixelSize

    init(frames: any FrameMaker, region: PixelRect, size: PixelSize) {
        self.frames = frames
        self.region = region
        self.size = size
    }

    /// The next frame, with 4 channels.
    func next() throws(AttachmentError) -> Raster {
        let frame = try frames.next()
        guard region != PixelRect(frame.size) || size != frame.size else { return frame.withAlpha() }
        let picture = try frame.picture()
        let raster = try scaling { () throws(VipsFailure) in
            try picture.extracted(region).resized(to: size).raster()
        }
        return raster.withAlpha()
    }
}

extension Raster {
    /// With 4 channels, opaque where there were 3.
    func withAlpha() -> Raster {
        guard channels == 3 else { return self }
        var opaque = [UInt8](repeating: 255, count: width * height * 4)
        for pixel in 0..<(width * height) {
            opaque[pixel * 4] = bytes[pixel * 3]
            opaque[pixel * 4 + 1] = bytes[pixel * 3 + 1]
            opaque[pixel * 4 + 2] = bytes[pixel * 3 + 2]
        }
        return Raster(width: width, height: height, channels: 4, bytes: opaque)
    }
}
