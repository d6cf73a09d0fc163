import Attachments
import GIF
import StillCodecs

/// The tracks of an AVIF or HEIF, read through its descriptor.
struct SequenceSource: AnimationReader {
    var descriptor: Int32
    var limits: Limits
    var tracks: PictureTracks

    func frames(of facts: AnimationFacts, counting defects: FrameDefects) throws(AttachmentError) -> any FrameSource {
        try SequenceFrames(self, facts: facts, counting: defects)
    }
}

/// The frames of an AVIF or HEIF sequence, each of which FFmpeg decodes whole.
final class SequenceFrames: FrameSource {
    private let facts: AnimationFacts
    private let defects: FrameDefects
    private let reader: SequenceReader
    private var position = 0
    let palette: [UInt32] = []

    init(
        _ source: SequenceSource, facts: AnimationFacts, counting defects: FrameDefects
    ) throws(AttachmentError) {
        guard let reader = try SequenceReader.open(source.descriptor, tracks: source.tracks, limits: source.limits),
            reader.moments.count == facts.frames, reader.size == facts.size
        else { throw .corrupt(reason: "its tracks cannot be read") }
        self.reader = reader
        self.facts = facts
        self.defects = defects
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        try WorkTime.check()
        guard position < facts.frames else { throw .corrupt(reason: "it has fewer frames than it says") }
        let picture = try reader.picture(at: position)
        position += 1
        guard let picture else {
            guard position > 1 else { throw .corrupt(reason: "its first frame can't be decoded") }
            let height = facts.size.height
            return try defects.count(
                rows: (height, height), because: "they can't be decoded, and what came before stays in their place")
        }
        defects.countWhole()
        canvas.replace(with: picture, channels: picture.count / max(1, facts.size.width * facts.size.height))
    }
}
