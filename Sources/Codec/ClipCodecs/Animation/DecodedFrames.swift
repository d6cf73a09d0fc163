import SatchelCore
import GIF
import StillCodecs

/// The frames of an animation that FFmpeg decodes whole, one after the other.
final class DecodedFrames: FrameSource {
    private let facts: AnimationFacts
    private let defects: FrameDefects
    private let decode: (Int) throws(AttachmentError) -> [UInt8]?
    private var position = 0
    let palette: [UInt32] = []

    /// - Parameter decode: The pixels of a frame, RGBA or RGB; nil where it can't be decoded.
    init(
        of facts: AnimationFacts, counting defects: FrameDefects,
        decode: @escaping (Int) throws(AttachmentError) -> [UInt8]?
    ) {
        self.facts = facts
        self.defects = defects
        self.decode = decode
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        try WorkTime.check()
        let size = facts.size
        let pixels = try decode(position)
        position += 1
        guard let pixels else {
            guard position > 1 else { throw .unreadable(Finding(.notDecoded, .animation)) }
            return try defects.count(rows: (size.height, size.height))
        }
        defects.countWhole()
        let shown = try facts.standardColours(pixels)
        canvas.replace(with: shown, channels: shown.count / max(1, size.width * size.height))
    }
}

/// An APNG, read through its descriptor; FFmpeg composes its frames.
struct APNGSource: AnimationReader {
    var descriptor: Int32
    var limits: Limits
    /// The places of frames that are not to be decoded.
    var damaged: Set<Int>

    func frames(of facts: AnimationFacts, counting defects: FrameDefects) throws(AttachmentError) -> any FrameSource {
        guard let reader = try FrameReader.open(descriptor, format: .apng, limits: limits) else {
            throw .unreadable(Finding(.notDecoded, .animation, named: "APNG"))
        }
        return DecodedFrames(of: facts, counting: defects) { [damaged] position throws(AttachmentError) in
            try reader.step(skipping: damaged.contains(position))
        }
    }
}

/// The tracks of an AVIF or HEIF, read through its descriptor.
struct SequenceSource: AnimationReader {
    var descriptor: Int32
    var limits: Limits
    var tracks: PictureTracks

    func frames(of facts: AnimationFacts, counting defects: FrameDefects) throws(AttachmentError) -> any FrameSource {
        guard let reader = try SequenceReader.open(descriptor, tracks: tracks, limits: limits),
            reader.moments.count == facts.frames, reader.size == facts.size
        else { throw .unreadable(Finding(.notDecoded, .animation)) }
        return DecodedFrames(of: facts, counting: defects) { position throws(AttachmentError) in
            guard position < reader.moments.count else { throw .unreadable(Finding(.announcesMore)) }
            return try reader.picture(at: position)
        }
    }
}
