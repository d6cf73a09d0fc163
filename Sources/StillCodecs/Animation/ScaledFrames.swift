import Attachments
import GIF

/// An animation's frames, cut and scaled one by one; some may be left away.
final class ScaledFrames {
    private let source: any FrameSource
    /// For each frame that is shown, how many of the source it stands for.
    private let counts: [Int]
    private var canvas: Canvas
    private var scaler: Scaler
    private var position = 0
    /// Frames of the source whose pictures are still to be passed over.
    private var passed = 0

    init(_ source: any FrameSource, of facts: AnimationFacts, _ region: PixelRect, _ attempt: AnimationAttempt) {
        self.source = source
        counts = attempt.counts(of: facts.frames)
        canvas = Canvas(width: facts.size.width, height: facts.size.height)
        scaler = Scaler(
            region: region.area, width: attempt.size.width, height: attempt.size.height,
            filter: attempt.isHasty ? .box : .lanczos)
    }

    var frames: Int { counts.count }

    /// Goes on to the next frame that is shown.
    func advance() throws(AttachmentError) {
        guard position < counts.count else { throw .corrupt(reason: "it has fewer frames than it says") }
        for _ in 0..<passed { try source.show(on: &canvas) }
        try source.show(on: &canvas)
        passed = counts[position] - 1
        position += 1
        scaler.forgetChanges()
        scaler.update(from: canvas)
        canvas.forgetChanges()
    }

    /// The frame, and where it can differ from the one before.
    var pixels: [UInt32] { scaler.pixels }
    var changes: RowSpans { scaler.changes }
    /// The colours that it was mixed from; none where that is not known.
    var palette: [UInt32] { source.palette }
}

extension PixelRect {
    var area: Rectangle { Rectangle(left: left, top: top, width: size.width, height: size.height) }
}

extension Canvas {
    /// What is shown.
    var raster: Raster { Raster(width: width, height: height, channels: 4, bytes: PixelBytes.rgba(pixels)) }
}
