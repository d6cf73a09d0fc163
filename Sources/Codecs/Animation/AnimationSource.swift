import Attachments

/// An animation that one decoder has opened.
struct AnimationSource: ~Copyable {
    let facts: AnimationFacts
    private let origin: Origin

    enum Origin: ~Copyable {
        case vips(Loadable)
        /// FFmpeg's decoder.
        case apng(Readable)
    }

    /// Takes a GIF or a WebP whose header has more than one page; checks limits.
    init(
        _ bytes: consuming SourceBytes, format: ImageFormat, header: borrowing Picture, sniffed: Sniffed, limits: Limits
    ) throws(AttachmentError) {
        let frames = header.pages
        let size = PixelSize(width: header.width, height: header.pageHeight)
        try AnimationFacts.check(frames: frames, size: size, limits: limits)
        var delays = header.integers("delay") ?? []
        // A file may say less than it has.
        delays += Array(repeating: 0, count: max(0, frames - delays.count))
        facts = AnimationFacts(
            type: format == .gif ? .gif : .webp, sniffedType: sniffed.type, size: size,
            delays: delays.prefix(frames).map(AnimationFacts.shown), plays: header.integer("loop") ?? 0,
            bytes: bytes.count)
        origin = .vips(Loadable(bytes: bytes, format: format))
    }

    /// Takes a PNG whose header announces more than one frame; nil for any other. Checks limits.
    static func open(
        apng descriptor: Int32, sniffed: Sniffed, limits: Limits
    ) throws(AttachmentError) -> AnimationSource? {
        guard let reader = try FrameReader.open(descriptor, format: .apng, limits: limits), reader.announcedFrames > 1
        else { return nil }
        let bytes = try fileBytes(descriptor)
        guard bytes <= limits.imageBytes else { throw .sourceTooLarge(bytes: bytes, limit: limits.imageBytes) }
        let delays = try APNGDelays.read(descriptor)
        guard delays.count == reader.announcedFrames else {
            throw .corrupt(reason: "it announces \(reader.announcedFrames) frames and has \(delays.count)")
        }
        let facts = AnimationFacts(
            type: .png, sniffedType: sniffed.type, size: reader.size, delays: delays.map(AnimationFacts.shown),
            plays: reader.plays, bytes: Int(bytes))
        return AnimationSource(facts: facts, origin: .apng(Readable(descriptor: descriptor, limits: limits)))
    }

    private init(facts: AnimationFacts, origin: consuming Origin) {
        self.facts = facts
        self.origin = origin
    }

    /// The frames from the first on, each as a player would show it; may be asked for again.
    borrowing func frames() throws(AttachmentError) -> any FrameMaker {
        switch origin {
        case .vips(let source): return try PageFrames.open(source, facts: facts)
        case .apng(let source): return try DecodedFrames(source, facts: facts)
        }
    }

    func findings(for order: WorkOrder) -> Findings {
        let policies = ImagePolicies(order: order, kind: .animation)
        var note = "\(facts.type == .png ? "APNG" : facts.type.imageName), \(facts.size.width)×\(facts.size.height)"
        note += ", \(facts.frames) frames, \(facts.plays == 0 ? "for ever" : "\(facts.plays) times")"
        return Findings(
            kind: .animation, type: facts.type, sniffedType: facts.sniffedType, size: facts.size, frames: facts.frames,
            duration: facts.duration, note: note, planned: policies.roles, estimate: estimate(for: order, policies),
            forecasts: order.wantsForecasts ? facts.forecasts(for: order, policies) : [])
    }

    /// Memory doesn't grow with the frames: the decoder's canvases, a frame with its copies, and the encoder's.
    private func estimate(for order: WorkOrder, _ policies: ImagePolicies) -> Estimate {
        let pixels = facts.size.area
        guard policies.main == nil else {
            return Estimate(
                memory: Estimate.rest + Int64(facts.bytes) + pixels * 24, cpuSeconds: 0.01 + Double(pixels) * 60 / 1e9)
        }
        let side = order.profile.animation?.longestSide
        let result = Framing(side: side, fit: .inside).scaledSize(of: policies.region(of: facts.size).size).area
        // The file that is made is held in memory until it is written.
        let output = min(order.profile.animation?.cap ?? 0, result * Int64(facts.frames))
        let memory = Estimate.rest + Int64(facts.bytes) + pixels * 24 + result * 32 + output * 2
        let seconds = order.profile.animation.map {
            facts.cost(policies.region(of: facts.size), $0).full
        }
        return Estimate(memory: memory, cpuSeconds: 0.01 + (seconds ?? 0))
    }
}

extension AnimationFacts {
    /// Processor seconds of making the animation, with all settings and with half the sides.
    func cost(_ region: PixelRect, _ policy: AnimationPolicy) -> WorkCost {
        func cost(_ side: Int?) -> Double {
            let result = Framing(side: side, fit: .inside).scaledSize(of: region.size).area
            let decoding = type == .webp ? 75.0 : 20
            return 0.01 + Double(frames) * (Double(size.area) * decoding + Double(result) * 90) / 1e9
        }
        return WorkCost(full: cost(policy.longestSide), reduced: cost(Self.reducedSide(of: region, policy)))
    }

    /// The longest side where time is short.
    static func reducedSide(of region: PixelRect, _ policy: AnimationPolicy) -> Int {
        max(1, Framing(side: policy.longestSide, fit: .inside).scaledSize(of: region.size).longestSide / 2)
    }
}
