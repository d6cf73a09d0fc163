import SatchelCore

/// Whether an animation is made at the speed `best`: read, scaled and written by libvips from the first step to the last. A
/// decision without input or output.
///
/// It is what our own way is compared with, and takes about five times the processor time. libvips reads, scales and saves
/// page by page; only what its savers have written is held until the end.
struct BestAnimation: Hashable, Sendable {
    /// Bytes that it takes beyond what ``Speed/standard`` does.
    let memory: Int64
    private let part: AnimationPart
    private let type: MediaType

    /// libvips reads 4,096 frames of a GIF and doesn't say that there were more.
    private static let mostFrames = 4_000

    /// - Parameter result: Pixels of a frame that is written.
    init(_ part: AnimationPart, as type: MediaType, result: Int64) {
        self.part = part
        self.type = type
        // A second reader and its canvas; a page with its copies; what quantises a frame.
        let page = part.facts.size.area * 48 + result * 64
        // What is written is nowhere larger than the pixels' indices, and there are two copies of it.
        memory = Int64(part.facts.bytes) + page + (type == .gif ? result * Int64(part.frames.count) * 2 : 0)
    }

    /// Why it is made at ``Speed/standard``; nil where it isn't.
    ///
    /// - Parameters:
    ///   - granted: Bytes of memory.
    ///   - standard: Bytes that ``Speed/standard`` takes.
    ///   - seconds: Processor time that it takes.
    ///   - secondsLeft: Nil for no hurry.
    func hindrance(granted: Int64, standard: Int64, seconds: Double, secondsLeft: Double?) -> Finding? {
        let (facts, format) = (part.facts, part.facts.type.format)
        switch facts.type {
        case .gif, .webp, .jxl: break
        default: return Finding(.notSupported, .speed, named: format.picture?.animation?.name ?? format.name)
        }
        if part.decoded > Self.mostFrames
            || type == .gif && facts.delays.contains(where: { $0 > AnimatedGIF.longest * 10 })
        {
            return Finding(.shownOtherwise, .speed)
        }
        if standard + memory > granted {
            return Finding(.memory, .speed, missing: Double(standard + memory), of: Double(granted))
        }
        if EffortChoice(WorkCost(full: seconds, reduced: 0), secondsLeft: secondsLeft) != .full, let secondsLeft {
            return Finding(.estimate, .speed, missing: seconds, of: max(0, secondsLeft))
        }
        return nil
    }
}
