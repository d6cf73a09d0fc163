import Attachments
import Pixels

/// A GIF in memory, with its blocks: a still where it has one frame, else an animation.
struct GIFSource: Sendable {
    let bytes: [UInt8]
    let file: GIFFile

    var isStill: Bool { file.frameCount <= 1 }

    /// Reads the file's blocks and checks limits; decodes no pixel.
    ///
    /// - Throws: ``AttachmentError/unrecognizedType(sniffed:)`` where it has no frame: six letters make a GIF for libmagic,
    ///   whatever script or text follows. ``AttachmentError/corrupt(reason:)`` where it ends within a frame.
    init(_ descriptor: Int32, sniffed: Sniffed, limits: Limits) throws(AttachmentError) {
        let count = try fileBytes(descriptor)
        guard count <= limits.imageBytes else { throw .sourceTooLarge(bytes: count, limit: limits.imageBytes) }
        bytes = try readBytes(descriptor, count: Int(count))
        file = GIFFile(bytes, keeping: limits.animationFrames)
        guard file.frameCount > 0 || file.isTruncated else { throw .unrecognizedType(sniffed: sniffed.type) }
        let size = PixelSize(width: file.width, height: file.height)
        // The limit first: a file over it is refused for that, complete or not.
        if isStill {
            try Self.check(size.area, limit: limits.wholeStillPixels)
        } else {
            try AnimationFacts.check(frames: file.frameCount, size: size, limits: limits)
        }
        // A frame may be larger than the screen that shows a part of it.
        let areas = file.frames.map { PixelSize(width: $0.area.width, height: $0.area.height).area }
        try Self.check(
            areas.max() ?? 0, limit: isStill ? limits.wholeStillPixels : limits.framePixels)
        try Self.check(areas.reduce(0, +), limit: limits.animationPixels)
        if file.isTruncated {
            throw .corrupt(reason: "the file ends in the middle of frame \(max(1, file.frameCount))")
        }
        guard size.area > 0 else { throw .corrupt(reason: "its screen has no pixels") }
    }

    private static func check(_ pixels: Int64, limit: Int64) throws(AttachmentError) {
        guard pixels <= limit else { throw .tooManyPixels(pixels: pixels, limit: limit) }
    }
}
