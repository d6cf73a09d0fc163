import SatchelCore

/// The decisions that a still takes, taken once before any process is forked.
///
/// What Swift looks up when it first uses a type, every fork would otherwise look up for itself. No library is called:
/// libvips' pipelines start threads, and a process with threads can't be forked.
enum StillPrewarming {
    static func run() {
        _ = WorkTime.isUp
        _ = PictureFormat(sniffed: MediaType.jpeg.rawValue)
        let order = WorkOrder(profile: .notification)
        let facts = StillFacts(
            type: .jpeg, sniffedType: MediaType.jpeg.rawValue, storedSize: PixelSize(width: 4000, height: 3000),
            orientation: 1, pixelBytes: 3, isPlanarJPEG: true, bytes: 1_000_000)
        let policies = ImagePolicies(order: order, kind: .image)
        _ = facts.note
        _ = facts.estimate(for: policies, at: .standard)
        _ = EffortChoice(facts.cost(for: policies, at: .standard), secondsLeft: 1)
        for policy in policies.stills(policies.roles) {
            let size = policy.framing.resultSize(of: facts.size)
            var plan = StillPlan(policy, size: size, channels: 3)
            plan.record(50_000)
            _ = plan.note + policy.shape(of: PixelRect(facts.size), in: facts.size, size: size)
        }
        _ = LanczosWeights(Span(start: 0, length: 4), of: 4, to: 2)
        let raster = Raster(width: 2, height: 2, channels: 3, bytes: [UInt8](repeating: 0, count: 12))
        _ = Placeholder(
            thumbhash: ThumbHash.encode(raster), blurhash: BlurHash.encode(raster),
            color: DominantColour.of(raster).hexadecimal)
    }
}
