import Attachments
import GIF
import StillCodecs

/// An APNG, read through its descriptor.
struct APNGSource: AnimationReader {
    var descriptor: Int32
    var limits: Limits
    /// The places of frames that are not to be decoded.
    var damaged: Set<Int>

    func frames(of facts: AnimationFacts, counting defects: FrameDefects) throws(AttachmentError) -> any FrameSource {
        try APNGFrames(self, facts: facts, counting: defects)
    }
}

/// The frames of an APNG, which FFmpeg composes.
final class APNGFrames: FrameSource {
    private let facts: AnimationFacts
    private let damaged: Set<Int>
    private let defects: FrameDefects
    private var reader: FrameReader
    private var position = 0
    let palette: [UInt32] = []

    init(
        _ source: APNGSource, facts: AnimationFacts, counting defects: FrameDefects
    ) throws(AttachmentError) {
        guard let reader = try FrameReader.open(source.descriptor, format: .apng, limits: source.limits) else {
            throw .corrupt(reason: "its APNG header cannot be read")
        }
        self.reader = reader
        self.facts = facts
        damaged = source.damaged
        self.defects = defects
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        try WorkTime.check()
        let step = try reader.step(skipping: damaged.contains(position))
        position += 1
        switch step {
        case .picture(let frame):
            defects.countWhole()
            canvas.replace(with: frame.pixels, channels: 4)
        case .damaged, .end:
            guard position > 1 else { throw .corrupt(reason: "its first frame can't be decoded") }
            let height = facts.size.height
            try defects.count(
                rows: (height, height), because: "they can't be decoded, and what came before stays in their place")
        }
    }
}
