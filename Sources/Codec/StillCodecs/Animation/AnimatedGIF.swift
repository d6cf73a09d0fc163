import SatchelCore
import GIF

/// What became of an attempt.
package struct Encoded: Hashable, Sendable {
    /// Bytes that it has, or would have had: an attempt ends early once it is of no use.
    var bytes: Int64
    var isComplete = true
    /// For a person, where there is something to say.
    var note = ""
    /// Whether every pixel of every frame is as it was.
    var isExact = false
    /// Frames that its writer may have taken for the one before.
    var alike: Set<Int> = []
    /// The bits by ``PixelBytes/alphaBits(_:)`` of all that was to be written.
    var alphaBits: UInt32 = 255
}

extension Encoded {
    /// Of an attempt that was finished.
    package init(bytes: Int64, note: String) {
        self.init(bytes: bytes, isComplete: true, note: note)
    }
}

/// Writes an animation as GIF.
struct AnimatedGIF {
    var facts: AnimationFacts
    var region: PixelRect
    var attempt: AnimationAttempt
    /// Bytes from which on the attempt is of no use.
    var limit: Int64

    init(_ task: AnimationTask) {
        facts = task.facts
        region = task.region
        attempt = task.attempt
        limit = task.limit
    }

    private var isThorough: Bool { attempt.speed != .fast && !attempt.isHasty }

    /// What each level of quality is. None dithers: patterns cost bytes, and move where the picture doesn't.
    private var settings: GIFEncoder.Settings {
        let levels: [(colours: Int, keep: Int32, loss: Int32, enough: Float)] = [
            isThorough ? (255, 0, 12, 2) : (255, 0, 0, 12), (255, 10, 80, 12), (127, 30, 170, 25), (47, 150, 600, 100),
        ]
        let level = levels[min(attempt.level, levels.count - 1)]
        return GIFEncoder.Settings(
            colours: level.colours, keep: level.keep, loss: level.loss, enough: level.enough,
            isThorough: isThorough, changesPalettes: !attempt.isLast)
    }

    /// Writes `frames`, scaled, with palettes chosen for them.
    func write(_ frames: ScaledFrames, to descriptor: Int32) throws(AttachmentError) -> Encoded {
        var file = try AnimationFile(descriptor)
        var encoder = GIFEncoder(
            width: attempt.size.width, height: attempt.size.height, plays: facts.plays, settings: settings)
        let delays = attempt.written(facts.delays, as: .gif).map { $0 / 10 }
        for (index, delay) in delays.enumerated() {
            try frames.advance()
            if index == 0, isThorough {
                encoder.simplify(
                    frames.pixels, changes: frames.changes, mixedFrom: frames.palette, averaged: frames.averaged,
                    share: AnimationFormat(.gif).shares[attempt.level])
            }
            encoder.add(
                frames.pixels, changes: frames.changes, mixedFrom: frames.palette, delay: min(delay, Self.longest))
            // What a frame cannot say is said by frames that change nothing.
            for rest in Self.rests(of: delay) { encoder.addPause(rest) }
            try file.write(encoder.take())
            if let end = isHopeless(file.bytes, after: index + 1, of: delays.count) { return end }
        }
        encoder.finish()
        try file.write(encoder.take())
        let palettes = encoder.localPalettes == 0 ? "" : ", \(encoder.localPalettes + 1) palettes"
        return Encoded(bytes: file.bytes, note: "\(settings.colours) colours at most\(palettes)")
    }

    /// Writes the frames of a GIF as they are, pixel for pixel.
    ///
    /// - Parameter first: The first one that is written.
    /// - Returns: Nil where what it shows has more colours than one frame can have.
    func rewrite(
        _ source: GIFSource, from first: Int, counting defects: FrameDefects, to descriptor: Int32
    ) throws(AttachmentError) -> Encoded? {
        var file = try AnimationFile(descriptor)
        let frames = GIFFrames(source, counting: defects)
        var canvas = Canvas(width: facts.size.width, height: facts.size.height)
        let palette = source.file.palette.map { source.file.colours($0, in: source.bytes) } ?? []
        var writer = GIFRewriter(region: region.area, palette: palette, plays: facts.plays)
        let delays = attempt.written(facts.delays, as: .gif).map { $0 / 10 }
        for _ in 0..<first { try frames.show(on: &canvas) }
        // What the next frame is drawn over isn't in the file.
        var isAlone = first > 0
        let blank = Canvas(width: isAlone ? canvas.width : 0, height: isAlone ? canvas.height : 0)
        for (index, delay) in delays.enumerated() {
            let frame = try frames.read(disposingOn: &canvas)
            let delay = min(delay, Self.longest)
            if isAlone {
                frames.draw(frame, on: &canvas)
                guard let whole = WholeFrame(canvas, region.area, as: frame) else { return nil }
                writer.add(
                    whole.frame, indices: whole.indices, palette: whole.palette, over: blank, delay: delay)
                isAlone = !whole.endsAsFrame
            } else {
                writer.add(frame, indices: frames.indices, palette: frames.palette, over: canvas, delay: delay)
                frames.draw(frame, on: &canvas)
            }
            canvas.forgetChanges()
            try file.write(writer.take())
            if let end = isHopeless(file.bytes, after: index + 1, of: delays.count) { return end }
        }
        writer.finish()
        try file.write(writer.take())
        let seen = writer.seenPalette
        try file.write(seen.bytes, at: Int64(seen.offset))
        return Encoded(bytes: file.bytes, note: "palettes kept", isExact: true)
    }

    /// Hundredths that a frame can say.
    static let longest = 65_535

    private static func rests(of delay: Int) -> [Int] {
        Array(stride(from: longest, to: delay, by: longest)).map { min(longest, delay - $0) }
    }

    /// What the whole would come to, where a good part of it is over the limit.
    private func isHopeless(_ bytes: Int64, after done: Int, of frames: Int) -> Encoded? {
        guard bytes > limit, done < frames, done * 4 >= frames || bytes > limit * 4 else { return nil }
        return Encoded(bytes: bytes * Int64(frames) / Int64(done), isComplete: false)
    }
}
