package import SatchelCore
import GIF

/// An animation's frames, cut and scaled one by one; some may be left away.
package final class ScaledFrames {
    private let source: any FrameSource
    /// For each frame that is shown, how many of the source it stands for.
    private let counts: [Int]
    private var canvas: Canvas
    /// Nil where libvips scales.
    private var scaler: Scaler?
    /// What libvips scaled.
    private var scaled: Canvas
    private let region: PixelRect
    private let size: PixelSize
    private let isPart: Bool
    private var position = 0
    /// The bits by ``PixelBytes/alphaBits(_:)`` of all frames so far.
    private(set) var alphaBits: UInt32 = 255
    /// Frames of the source whose pictures are still to be passed over.
    private var passed: Int

    /// - Parameter byLibvips: Whether that scales, each frame by itself.
    init(
        _ source: any FrameSource, of part: AnimationPart, _ region: PixelRect, _ attempt: AnimationAttempt,
        byLibvips: Bool
    ) {
        self.source = source
        self.region = region
        isPart = part.isTrimmed
        let facts = part.facts
        passed = part.frames.lowerBound
        counts = attempt.counts(of: facts.frames)
        canvas = Canvas(width: facts.size.width, height: facts.size.height)
        size = attempt.size
        scaled = Canvas(width: byLibvips ? size.width : 0, height: byLibvips ? size.height : 0)
        if !byLibvips {
            scaler = Scaler(
                region: region.area, width: size.width, height: size.height,
                filter: attempt.isHasty ? .box : .lanczos)
        }
    }

    var frames: Int { counts.count }

    /// Goes on to the next frame that is shown.
    package func advance() throws(AttachmentError) {
        guard position < counts.count else { throw .unreadable(Finding(.announcesMore)) }
        canvas.forgetChanges()
        for _ in 0..<passed { try source.show(on: &canvas) }
        try source.show(on: &canvas)
        passed = counts[position] - 1
        position += 1
        if scaler == nil {
            try scaleByLibvips()
        } else {
            scaler?.forgetChanges()
            scaler?.update(from: canvas)
        }
        alphaBits &= PixelBytes.alphaBits(pixels)
    }

    private func scaleByLibvips() throws(AttachmentError) {
        let picture = try canvas.raster.picture()
        do {
            let raster = try VipsDownscaler(speed: .best).scaled(picture, region, to: size).raster()
            scaled.forgetChanges()
            scaled.replace(with: raster.bytes, channels: raster.channels)
        } catch {
            throw WorkTime.isUp ? WorkTime.failure : .codecCrashed(reason: "scaling a frame failed: \(error.text)")
        }
    }

    /// The frame, and where it can differ from the one before.
    package var pixels: [UInt32] { scaler?.pixels ?? scaled.pixels }
    var changes: RowSpans { scaler?.changes ?? scaled.changes }
    /// The first frame, while it is the last one that was gone on to, as the mean of areas makes it.
    var averaged: [UInt32] {
        var scaler = Scaler(region: region.area, width: size.width, height: size.height, filter: .box)
        scaler.update(from: canvas)
        return scaler.pixels
    }

    /// The colours that it was mixed from; none where that is not known. Of a part only those that it shows, as the palette may
    /// have others' as well.
    var palette: [UInt32] {
        guard isPart else { return source.palette }
        let shown = Set(canvas.pixels)
        return source.palette.filter(shown.contains)
    }
}

extension PixelRect {
    var area: Rectangle { Rectangle(left: left, top: top, width: size.width, height: size.height) }
}

extension Canvas {
    /// What is shown.
    var raster: Raster { Raster(width: width, height: height, channels: 4, bytes: PixelBytes.rgba(pixels)) }
}
