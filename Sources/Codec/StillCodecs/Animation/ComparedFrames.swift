import SatchelCore
import GIF

/// The frames of a GIF as libvips shows them, for as long as our own reader shows the same.
///
/// libvips doesn't count what is damaged, and what becomes of frames that are cut off or lie beyond the screen is each
/// decoder's own. Reading them twice is a small part of scaling and writing them.
final class ComparedFrames: FrameSource {
    let palette: [UInt32] = []
    /// The finding that libvips reads something else; nil while it reads the same.
    private(set) var difference: Finding?
    private let pages: PageFrames
    private let own: GIFFrames
    private let source: AnimationFacts
    private var canvas: Canvas

    /// - Parameter facts: Of the whole GIF.
    init(_ source: GIFSource, facts: AnimationFacts, counting defects: FrameDefects) throws(AttachmentError) {
        pages = try PageFrames.open(source, facts: facts)
        own = GIFFrames(source, counting: defects)
        self.source = facts
        canvas = Canvas(width: facts.size.width, height: facts.size.height)
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        guard pages.count == source.frames else { throw differing("count of frames") }
        try own.show(on: &self.canvas)
        do {
            try pages.show(on: &canvas)
        } catch {
            if !WorkTime.isUp { difference = Finding(.shownOtherwise, .speed) }
            throw error
        }
        guard canvas.pixels == self.canvas.pixels else { throw differing("frames") }
    }

    private func differing(_ name: String) -> AttachmentError {
        difference = Finding(.shownOtherwise, .speed)
        return .unreadable(Finding(.malformed, .animation, named: name))
    }
}
