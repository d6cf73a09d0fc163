import SatchelCore

/// Makes the renditions of a still: one decode serves them all.
struct StillRendering {
    var order: WorkOrder
    var command: RenderCommand
    var outputs: [RenditionRole: Int32]

    func run(
        _ source: borrowing StillSource, _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        let watch = Stopwatch()
        var policies = ImagePolicies(order: order, kind: .image)
        let size = source.facts.size
        let left = WorkTime.secondsLeft
        var speed = order.profile.speed
        var hindrance: Finding?
        if speed == .best {
            hindrance = BestStill(source.facts, policies).hindrance(granted: command.memory, secondsLeft: left)
            if hindrance != nil { speed = .standard }
        }
        // The service grants no less than the estimate, or refuses by it itself.
        let needed = source.facts.estimate(for: policies, at: speed).memory
        guard needed <= command.memory else { throw .tooMuchMemory(needed: needed, granted: command.memory) }
        let cost = source.facts.cost(for: policies, at: speed)
        let choice = EffortChoice(cost, secondsLeft: left)
        // Even where it comes nowhere near: there is nothing else to deliver.
        let isHurried = choice != .full && cost.reduced < cost.full
        if isHurried {
            policies = policies.reduced(for: size)
            (speed, hindrance) = (.fast, nil)
        }
        let region = policies.region(of: size)
        let stills = policies.stills(command.outputs)
        let mayBeKept = stills.contains { $0.obstacle(to: source.facts, region: region, isWhole: true) == nil }
        let kept = mayBeKept ? try source.keeping() : nil
        let whole = policies.workingSize(of: region.size)
        // What is kept asks for no pixels.
        var working = kept.map { policies.workingSize(of: region, in: source.facts, for: stills, beside: $0) } ?? whole
        // What is quick is encoded so; of the others the encoder decides by the picture. Small ones keep their colours.
        func chroma(_ size: PixelSize) -> ChromaResolution {
            let isHalved = speed == .fast && size.area > FineColours.mostPixels && stills.allSatisfy(\.halvesChroma)
            return isHalved ? .half : .full
        }
        var faults = Diagnosis()
        var picture = try source.decode(
            region, scaledTo: working, speed: speed, chroma: chroma(working), damaged: order.profile.damaged,
            faults: &faults)
        // What has a fault isn't kept.
        if working != whole, faults != Diagnosis() {
            (working, faults) = (whole, Diagnosis())
            picture = try source.decode(
                region, scaledTo: working, speed: speed, chroma: chroma(working), damaged: order.profile.damaged,
                faults: &faults)
        }
        let jpeg = StillWriter.JPEGOrigin(
            bytes: Int64(source.facts.bytes),
            hasHalvedColours: source.facts.colourShare == 0.5 && working == region.size)
        let isWhole = faults == Diagnosis()
        var ending = try StillRenditions(
            order: order, command: command, outputs: outputs, policies: policies, region: region, size: size,
            downscaler: source.facts.downscaler(at: speed), jpeg: source.facts.type == .jpeg ? jpeg : nil,
            haste: isHurried ? EffortChoice.reduced.haste(cost, secondsLeft: left) : nil
        ).write(
            picture, since: watch,
            keeping: { (policy) throws(AttachmentError) in
                if let obstacle = policy.obstacle(to: source.facts, region: region, isWhole: isWhole) {
                    return .not(obstacle)
                }
                return kept
            }, deliver)
        ending.diagnosis.changes += [hindrance].compactMap(\.self)
        ending.diagnosis = ending.diagnosis.decoded(faults)
        return ending
    }
}

/// Writes the still renditions of one decoded picture.
struct StillRenditions {
    var order: WorkOrder
    var command: RenderCommand
    var outputs: [RenditionRole: Int32]
    var policies: ImagePolicies
    /// What part of the upright source the picture is.
    var region: PixelRect
    /// The source's.
    var size: PixelSize
    var downscaler: any StillDownscaler = VipsDownscaler()
    /// The JPEG that the picture comes from; nil where it comes from something else.
    var jpeg: StillWriter.JPEGOrigin?
    /// The reason for less than full effort; nil for full effort.
    var haste: Finding?

    /// - Parameters:
    ///   - watch: Runs since the decode began; the first rendition's time includes it.
    ///   - keeping: How the source may be kept as a rendition; nil where the picture is no still's.
    func write(
        _ picture: borrowing Picture, since watch: Stopwatch,
        keeping: (StillPolicy) throws(AttachmentError) -> Keeping? = { _ in nil },
        _ deliver: (RenditionReport) throws(AttachmentError) -> Void
    ) throws(AttachmentError) -> Ending {
        var ending = Ending()
        var watch = watch
        try WorkTime.asFarAsItGoes { () throws(AttachmentError) in
            for policy in policies.stills(command.outputs) {
                guard let descriptor = outputs[policy.role] else { continue }
                let writer = StillWriter(
                    policy: policy, effort: haste == nil ? .full : .reduced, downscaler: downscaler,
                    keeping: try keeping(policy),
                    jpeg: jpeg)
                let written = try writer.write(picture, to: descriptor)
                var report = written.report
                report.seconds = watch.seconds
                report.note += "; " + policy.shape(of: region, in: size, size: report.size)
                if let words = written.obstacle?.words { report.note += "; \(words)" }
                if var haste {
                    haste.part = Finding.Part(rawValue: policy.role.rawValue)
                    report.note += "; reduced: \(haste.cause)"
                    report.haste = haste
                }
                if policy.role == .main {
                    ending.thumbnailClippingRect = order.request.thumbnailClippingRect?.mapped(
                        into: region.part(of: size).part(written.part))
                    if written.isFlattened {
                        ending.diagnosis.omissions.append(
                            Finding(.leftOut, .transparency, named: report.type.format.name))
                    }
                }
                try deliver(report)
                // As early as can be, and from the smallest picture that it can be made from: from the largest it takes
                // ten times as long.
                if ending.placeholder == nil, let whole = written.whole, whole.size.longestSide >= Placeholder.side {
                    ending.placeholder = try whole.placeholder(by: downscaler)
                }
                watch = Stopwatch()
            }
            if ending.placeholder == nil { ending.placeholder = try picture.placeholder(by: downscaler) }
        }
        return ending
    }
}

extension PixelRect {
    /// This rectangle in parts of a picture of `size`.
    func part(of size: PixelSize) -> UnitRect {
        UnitRect(
            x: Double(left) / Double(size.width), y: Double(top) / Double(size.height),
            width: Double(self.size.width) / Double(size.width),
            height: Double(self.size.height) / Double(size.height))
    }
}

extension UnitRect {
    static let whole = UnitRect(x: 0, y: 0, width: 1, height: 1)

    /// `inner`, which is in parts of this rectangle, in parts of what this rectangle is a part of.
    func part(_ inner: UnitRect) -> UnitRect {
        UnitRect(
            x: x + inner.x * width, y: y + inner.y * height, width: inner.width * width, height: inner.height * height)
    }

    /// The rectangle in terms of `shown`, the part of the source that an output shows; nil where none of it is shown.
    func mapped(into shown: UnitRect) -> UnitRect? {
        let left = max(x, shown.x)
        let top = max(y, shown.y)
        let right = min(x + width, shown.x + shown.width)
        let bottom = min(y + height, shown.y + shown.height)
        guard right > left, bottom > top else { return nil }
        return UnitRect(
            x: (left - shown.x) / shown.width, y: (top - shown.y) / shown.height,
            width: (right - left) / shown.width, height: (bottom - top) / shown.height)
    }
}
