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
    let missingCode: Finding.Code
    /// Whether it ends within its only frame, which is shown as far as it goes.
    let isCut: Bool
    /// What the file lacks without any harm.
    let evidence: [Finding]

    var isStill: Bool { frames.count + missing <= 1 }

    /// What is left out.
    var omissions: [Finding] { file.isFollowed ? [Finding(.oneTaken, .pictures)] : [] }

    /// Reads the file's blocks and checks limits; decodes no pixel but of the last frame of a file that ends within it.
    ///
    /// - Throws: ``AttachmentError/unrecognizedType(sniffed:)`` where it is text: six letters make a GIF for libmagic, whatever
    ///   script follows. ``AttachmentError/unreadable(_:)`` where it has no frame.
    init(_ descriptor: Int32, sniffed: Sniffed, limits: Limits) throws(AttachmentError) {
        let count = try fileBytes(descriptor)
        guard count <= limits.imageBytes else { throw .sourceTooLarge(bytes: count, limit: limits.imageBytes) }
        bytes = try readBytes(descriptor, count: Int(count))
        file = GIFFile(bytes, keeping: limits.animationFrames)
        guard file.frameCount > 0 || !Self.isText(bytes) else {
            throw .unrecognizedType(sniffed: ForeignFormat.scriptType)
        }
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
        var missingCode = Finding.Code.notDecoded
        var isUnmarked = true
        var isCut = false
        switch file.end {
        case .marked: isUnmarked = false
        case .unmarked, .unreadable: break
        case .cut:
            let isWhole = if let last = frames.last { GIFFile.isWhole(last, in: bytes) } else { false }
            // The only frame is shown as far as it goes.
            if !isWhole, frames.count > 1 {
                frames.removeLast()
                missing += 1
            }
            isCut = !isWhole && missing == 0
            if missing > 0 { missingCode = .endsWithin }
            isUnmarked = isWhole && missing == 0
        }
        guard !frames.isEmpty else { throw .unreadable(Self.emptiness(of: file)) }
        guard size.area > 0 else { throw .unreadable(Finding(.malformed, .picture, named: "size")) }
        self.frames = frames
        self.missing = missing
        self.missingCode = missingCode
        self.isCut = isCut
        evidence = isUnmarked ? [Finding(.endMarkMissing)] : []
    }

    /// Whether what follows the signature is text: the screen's descriptor and blocks are none.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count > 13 && bytes[6..<min(bytes.count, 64)].allSatisfy { $0 >= 0x20 && $0 != 0x7F || 9...13 ~= $0 }
    }

    /// Why a file that begins as a GIF has no frame.
    private static func emptiness(of file: GIFFile) -> Finding {
        switch file.end {
        case .marked: Finding(.nothingInside)
        case .unmarked, .cut: Finding(.endsBefore, .picture, named: "first frame")
        case .unreadable: Finding(.notDecoded, .picture, named: "GIF")
        }
    }

    private static func check(_ pixels: Int64, limit: Int64) throws(AttachmentError) {
        guard pixels <= limit else { throw .tooManyPixels(pixels: pixels, limit: limit) }
    }
}
