import SatchelCore
import GIF

/// A GIF in memory, with its blocks: a still where it has one frame, else an animation.
struct GIFSource: Sendable {
    let bytes: [UInt8]
    let file: GIFFile
    /// Those that are shown.
    let frames: [GIFFile.Frame]
    /// Frames that were there and can't be shown at all, and why.
    let missing: Int
    let missingReason: String
    /// Whether the file ends within its last frame, so that nobody knows how many there were.
    let isOpen: Bool
    /// Whether it ends within its only frame, which is shown as far as it goes.
    let isCut: Bool
    /// What the file lacks without any harm.
    let warnings: [String]

    var isStill: Bool { frames.count + missing <= 1 }

    /// What is left out.
    var notes: [String] { file.isFollowed ? ["the GIF behind the first was left out"] : [] }

    /// Reads the file's blocks and checks limits; decodes no pixel but of the last frame of a file that ends within it.
    ///
    /// - Throws: ``AttachmentError/unrecognizedType(sniffed:)`` where it is text: six letters make a GIF for libmagic, whatever
    ///   script follows. ``AttachmentError/corrupt(reason:)`` where it has no frame.
    init(_ descriptor: Int32, sniffed: Sniffed, limits: Limits) throws(AttachmentError) {
        let count = try fileBytes(descriptor)
        guard count <= limits.imageBytes else { throw .sourceTooLarge(bytes: count, limit: limits.imageBytes) }
        bytes = try readBytes(descriptor, count: Int(count))
        file = GIFFile(bytes, keeping: limits.animationFrames)
        guard file.frameCount > 0 || !Self.isText(bytes) else { throw .unrecognizedType(sniffed: sniffed.type) }
        let size = PixelSize(width: file.width, height: file.height)
        // The limit first: a file over it is refused for that, complete or not.
        let isStill = file.frameCount + file.lost <= 1
        if isStill {
            try Self.check(size.area, limit: limits.stillPixels)
        } else {
            try AnimationFacts.check(frames: file.frameCount, size: size, limits: limits)
        }
        // A frame may be larger than the screen that shows a part of it.
        let areas = file.frames.map { PixelSize(width: $0.area.width, height: $0.area.height).area }
        try Self.check(
            areas.max() ?? 0, limit: isStill ? limits.stillPixels : limits.framePixels)
        try Self.check(areas.reduce(0, +), limit: limits.animationPixels)
        var frames = file.frames
        var missing = file.lost
        var reason = "their blocks can't be read"
        var warnings: [String] = []
        var (isOpen, isCut) = (false, false)
        switch file.end {
        case .marked: break
        case .unmarked: warnings.append("its end marker is missing")
        case .unreadable(let rest):
            warnings.append("its last \(rest) bytes make no sense, and its end marker is missing")
        case .cut:
            let isWhole = if let last = frames.last { GIFFile.isWhole(last, in: bytes) } else { false }
            // The only frame is shown as far as it goes.
            if !isWhole, frames.count > 1 {
                frames.removeLast()
                missing += 1
            }
            isOpen = missing > 0
            isCut = !isWhole && missing == 0
            if missing > 0 { reason = missing == 1 ? "the file ends within it" : "the file ends within them" }
            if isWhole, missing == 0 { warnings.append("it ends after its last pixel, without its end marker") }
        }
        guard !frames.isEmpty else { throw .corrupt(reason: Self.emptiness(of: file)) }
        guard size.area > 0 else { throw .corrupt(reason: "its screen has no pixels") }
        self.frames = frames
        self.missing = missing
        missingReason = missing > 0 ? reason : ""
        self.isOpen = isOpen
        self.isCut = isCut
        self.warnings = warnings
    }

    /// Whether what follows the signature is text: the screen's descriptor and blocks are none.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count > 13 && bytes[6..<min(bytes.count, 64)].allSatisfy { $0 >= 0x20 && $0 != 0x7F || 9...13 ~= $0 }
    }

    /// Why a file that begins as a GIF has no frame.
    private static func emptiness(of file: GIFFile) -> String {
        switch file.end {
        case .marked: "it begins as a GIF and has no frame"
        case .unmarked, .cut: "it begins as a GIF and ends before its first frame"
        case .unreadable: "it begins as a GIF, and what follows its header can't be read"
        }
    }

    private static func check(_ pixels: Int64, limit: Int64) throws(AttachmentError) {
        guard pixels <= limit else { throw .tooManyPixels(pixels: pixels, limit: limit) }
    }
}
