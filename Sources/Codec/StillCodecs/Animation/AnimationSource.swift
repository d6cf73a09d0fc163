import SatchelCore
import GIF

/// An animation that one decoder has opened.
package struct AnimationSource: ~Copyable {
    let facts: AnimationFacts
    private let origin: Origin

    enum Origin: ~Copyable {
        case gif(GIFSource)
        case vips(Loadable)
        case other(any AnimationReader)
    }

    /// Takes what libvips reads as pages with delays; checks limits.
    ///
    /// - Parameter cut: Of a WebP that ends too early.
    init(
        _ bytes: consuming SourceBytes, format: PictureFormat, header: borrowing Picture, cut: WebPCut? = nil,
        sniffed: Sniffed, limits: Limits
    ) throws(AttachmentError) {
        let frames = header.pages
        let size = PixelSize(width: header.width, height: header.pageHeight)
        try AnimationFacts.check(frames: frames, size: size, limits: limits)
        var delays = header.integers("delay") ?? []
        // A file may say less than it has.
        delays += Array(repeating: 0, count: max(0, frames - delays.count))
        // Profiles of others are applied as pages are read.
        let colours = FrameColours(header, coded: nil).flatMap { $0.coded == nil ? nil : $0 }
        facts = AnimationFacts(
            type: format.type, sniffedType: sniffed.type, size: size,
            delays: delays.prefix(frames).map(AnimationFacts.shown), plays: header.integer("loop") ?? 0,
            bytes: bytes.count, missing: cut?.missing ?? 0, missingCode: .endsBefore, colours: colours,
            evidence: (cut?.missing == 0 ? [Finding(.endMarkMissing)] : [])
                + (header.has(Picture.unfitProfile) ? [Finding(.profileLeftOut)] : []))
        origin = .vips(Loadable(bytes: bytes, format: format))
    }

    /// Takes a GIF of several frames, whose limits were checked.
    init(gif source: GIFSource, sniffed: Sniffed) {
        facts = AnimationFacts(
            type: .gif, sniffedType: sniffed.type,
            size: PixelSize(width: source.file.width, height: source.file.height),
            delays: source.frames.map { AnimationFacts.shown($0.delay * 10) }, plays: source.file.plays,
            bytes: source.bytes.count, missing: source.missing, missingCode: source.missingCode,
            evidence: source.evidence, omissions: source.omissions)
        origin = .gif(source)
    }

    package init(facts: AnimationFacts, reader: any AnimationReader) {
        self.facts = facts
        origin = .other(reader)
    }

    /// The frames from the first on, each as a player would show it; may be asked for again.
    ///
    /// - Parameter defects: Told of frames that aren't whole, which are shown as far as they can be decoded.
    borrowing func frames(counting defects: FrameDefects) throws(AttachmentError) -> any FrameSource {
        switch origin {
        case .gif(let source): return GIFFrames(source, counting: defects)
        case .vips(let source): return try PageFrames.open(source, facts: facts)
        case .other(let reader): return try reader.frames(of: facts, counting: defects)
        }
    }

    /// Its blocks, of a GIF.
    var gif: GIFSource? {
        switch origin {
        case .gif(let source): source
        case .vips: nil
        case .other: nil
        }
    }

    /// - Throws: ``AttachmentError/unreadable(_:)`` where the profile wants an animation, and too much of it is missing.
    func probeResult(for order: WorkOrder) throws(AttachmentError) -> ProbeResult {
        let policies = ImagePolicies(order: order, kind: .animation)
        let part = try AnimationPart(of: facts, for: order.request)
        if policies.main == nil {
            _ = try FrameDefects(of: part.facts, when: order.profile.damaged).defect.loss(when: order.profile.damaged)
        }
        let format = facts.type.format
        var note = "\(format.picture?.animation?.name ?? format.name), \(facts.size.width)×\(facts.size.height)"
        note += ", \(facts.frames) frames, \(facts.playsText)"
        return ProbeResult(
            kind: .animation, type: facts.type, sniffedType: facts.sniffedType, size: facts.size, frames: facts.frames,
            duration: facts.duration, note: note,
            diagnosis: Diagnosis(
                evidence: facts.evidence,
                omissions: facts.omissions + (facts.colours?.coded?.isHDR == true ? [.hdr] : [])),
            planned: policies.roles,
            estimate: estimate(for: order, part, at: order.profile.speed),
            forecasts: order.wantsForecasts ? part.forecasts(for: order, policies) : [])
    }

    /// Memory doesn't grow with the frames: the decoder's canvases, a frame with its copies, and the encoder's. At the speed
    /// `best` it does by what libvips writes; where that is more than can be granted, it is the estimate of `standard`.
    func estimate(for order: WorkOrder, _ part: AnimationPart, at speed: Speed) -> Estimate {
        let policies = ImagePolicies(order: order, kind: .animation)
        let pixels = facts.size.area
        // Of each frame, where it lies and how long it is shown.
        let held = Estimate.rest + Int64(facts.bytes) + Int64(facts.frames) * 400
        guard policies.main == nil else {
            return Estimate(
                memory: held + pixels * 24, cpuSeconds: 0.01 + Double(pixels) * 60 / 1e9)
        }
        let region = policies.region(of: facts.size).size
        let side = order.profile.animation?.longestSide
        let result = Framing(side: side, fit: .inside).scaledSize(of: region)
        // Rows that are scaled across, 16 bytes for each pixel of theirs, for a GIF in two ways; what the encoder holds of the
        // result.
        var memory = held + pixels * 24
        let rows = Int64(region.height) * Int64(result.width) * 16
        memory += order.profile.animation?.type == .gif ? rows * 2 : rows
        if facts.type.format.picture?.animation?.keepsReferences == true { memory += pixels * 60 }
        let output = order.profile.animation?.type.format.animation
        memory += result.area * (output?.bytesPerPixel ?? 32)
        if output?.keepsFrames == true {
            memory += min(order.profile.animation?.cap ?? 0, result.area * Int64(part.frames.count)) * 2
        }
        let best = BestAnimation(part, as: order.profile.animation?.type ?? .gif, result: result.area)
        // A GIF that keeps its size keeps its pixels.
        let isKept = facts.type == .gif && order.profile.animation?.type == .gif && result == region
        let isBest =
            speed == .best && !isKept
            && best.hindrance(granted: order.ceilings.memory, standard: memory, seconds: 0, secondsLeft: nil) == nil
        if isBest { memory += best.memory }
        let seconds = order.profile.animation.map {
            part.cost(policies.region(of: facts.size), $0, at: isBest ? .best : .standard).full
        }
        return Estimate(memory: memory, cpuSeconds: 0.01 + (seconds ?? 0))
    }
}

extension AnimationPart {
    /// Processor seconds of making the animation, with all settings and with half the sides.
    func cost(_ region: PixelRect, _ policy: AnimationPolicy, at speed: Speed = .standard) -> WorkCost {
        // Nanoseconds for each pixel of the source, and of the result.
        let (type, size) = (facts.type, facts.size)
        let isBest = speed == .best
        let reading = (type.format.picture?.animation?.nanoseconds ?? 0) + (isBest ? 70 : 0)
        let writing = (policy.type.format.animation?.nanoseconds ?? 70) * (isBest ? 5 : 1)
        func cost(_ side: Int?) -> Double {
            let result = Framing(side: side, fit: .inside).scaledSize(of: region.size).area
            // Each has 30 microseconds besides.
            let written = Double(frames.count) * (Double(result) * writing + 30_000)
            return 0.01 + (Double(decoded) * Double(size.area) * reading + written) / 1e9
        }
        let reduced = AnimationFacts.reducedSide(of: region, policy)
        return WorkCost(full: cost(policy.longestSide), reduced: cost(reduced))
    }
}

extension AnimationFacts {
    /// The longest side where time is short.
    static func reducedSide(of region: PixelRect, _ policy: AnimationPolicy) -> Int {
        max(1, Framing(side: policy.longestSide, fit: .inside).scaledSize(of: region.size).longestSide / 2)
    }
}
