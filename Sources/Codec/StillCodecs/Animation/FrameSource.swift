package import SatchelCore
import CVips
package import GIF

/// Gives an animation's frames in order, each as a player would show it, in memory that does not grow with their
/// number.
package protocol FrameSource: AnyObject {
    /// Shows the next frame.
    ///
    /// - Parameter canvas: Of the animation's size; always the same, transparent at first.
    /// - Throws: ``AttachmentError/unreadable(_:)`` where there is none.
    func show(on canvas: inout Canvas) throws(AttachmentError)

    /// The colours of the frame that was shown last, opaque; none where it has no palette.
    var palette: [UInt32] { get }
}

/// An animation that a decoder beside libvips and our own reads.
package protocol AnimationReader: Sendable {
    /// The frames from the first on; may be asked for again.
    func frames(of facts: AnimationFacts, counting defects: FrameDefects) throws(AttachmentError) -> any FrameSource
}

/// The frames of a GIF.
final class GIFFrames: FrameSource {
    private let source: GIFSource
    private let defects: FrameDefects?
    private let globalPalette: [UInt32]
    private var decoder = LZWDecoder()
    private var data: [UInt8] = []
    private var position = 0
    private var disposal = 0
    private var area = Rectangle(left: 0, top: 0, width: 0, height: 0)
    /// What was there before the last frame, where it comes back.
    private var before: [UInt32] = []

    /// The colours of the frame that was read last, and its pixels as they are stored.
    private(set) var palette: [UInt32] = []
    private(set) var indices: [UInt8] = []

    /// - Parameter defects: Told of frames that aren't whole.
    init(_ source: GIFSource, counting defects: FrameDefects?) {
        self.source = source
        self.defects = defects
        globalPalette = source.file.colours(source.file.palette, in: source.bytes)
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        let frame = try read(disposingOn: &canvas)
        draw(frame, on: &canvas)
    }

    /// Ends the last frame's time on `canvas`, and decodes the next one without showing it.
    func read(disposingOn canvas: inout Canvas) throws(AttachmentError) -> GIFFile.Frame {
        guard position < source.frames.count else { throw .unreadable(Finding(.announcesMore)) }
        try WorkTime.check()
        switch disposal {
        case 2: canvas.clear(area)
        case 3: canvas.restore(area, from: before)
        default: break
        }
        var frame = source.frames[position]
        position += 1
        palette = frame.palette == nil ? globalPalette : source.file.colours(frame.palette, in: source.bytes)
        GIFFile.join(frame, in: source.bytes, into: &data)
        let count = frame.area.width * frame.area.height
        if indices.count != count { indices = Array(repeating: 0, count: count) }
        var pixels = indices.mutableSpan
        let filled =
            switch decoder.decode(data.span, codeSize: frame.codeSize, into: &pixels) {
            case .complete: count
            case .short(let filled), .invalid(let filled): filled
            }
        if filled < count { fillUp(&frame, from: filled) }
        let isWhole = filled == count && !frame.isBroken
        let height = max(1, frame.area.height)
        let lacking = min(height, (count - filled + max(1, frame.area.width) - 1) / max(1, frame.area.width))
        if !isWhole, count > 0 {
            guard source.frames.count > 1 || filled > 0 else {
                throw .unreadable(Finding(.notDecoded, .picture, named: "GIF"))
            }
            try defects?.count(rows: (max(1, lacking), height))
        } else {
            defects?.countWhole()
        }
        return frame
    }

    /// What a frame's data doesn't reach shows what was there: by an index that nothing else in it has.
    private func fillUp(_ frame: inout GIFFile.Frame, from filled: Int) {
        if frame.transparent == nil {
            var isUsed = [Bool](repeating: false, count: 256)
            for index in indices[..<filled] { isUsed[Int(index)] = true }
            frame.transparent = UInt8(isUsed.lastIndex(of: false) ?? 255)
        }
        let rest = frame.transparent ?? 255
        for index in filled..<indices.count { indices[index] = rest }
    }

    func draw(_ frame: GIFFile.Frame, on canvas: inout Canvas) {
        disposal = frame.disposal
        area = frame.area
        before = disposal == 3 ? canvas.copy(of: area) : []
        var colours = palette + Array(repeating: 0, count: 256 - palette.count)
        if let transparent = frame.transparent { colours[Int(transparent)] = 0 }
        canvas.draw(indices, palette: colours, area: area, isInterlaced: frame.isInterlaced)
    }
}

/// The pages of a WebP, JPEG XL or GIF, which libvips composes: it gives them one above the other, in order.
final class PageFrames: FrameSource {
    private let facts: AnimationFacts
    private let pages: Picture
    private var position = 0
    let palette: [UInt32] = []

    static func open(_ source: borrowing Loadable, facts: AnimationFacts) throws(AttachmentError) -> PageFrames {
        do {
            let pages = try source.bytes.load(source.format, SourceBytes.Loading(pages: -1))
            return PageFrames(facts.colours == nil ? try pages.standardColour() : pages, facts: facts)
        } catch {
            throw error.damage(of: facts.type.format.name)
        }
    }

    static func open(_ source: GIFSource, facts: AnimationFacts) throws(AttachmentError) -> PageFrames {
        try open(Loadable(bytes: SourceBytes(copying: source.bytes), format: .gif), facts: facts)
    }

    /// Pages in the file.
    var count: Int { pages.pages }

    private init(_ pages: consuming Picture, facts: AnimationFacts) {
        self.pages = pages
        self.facts = facts
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        guard position < facts.frames else { throw .unreadable(Finding(.announcesMore)) }
        try WorkTime.check()
        let (width, height, channels) = (facts.size.width, facts.size.height, pages.bands)
        if let colours = facts.colours {
            do {
                let area = PixelRect(left: 0, top: position * height, size: facts.size)
                let frame = try colours.standard(pages.extracted(area)).raster()
                canvas.replace(with: frame.bytes, channels: frame.channels)
            } catch {
                throw error.damage(of: facts.type.format.name)
            }
            position += 1
            return
        }
        let count = width * height * channels
        vips_error_clear()
        var failed = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            failed = unsafe pages.withHandle { handle in
                unsafe satchel_read_rows(handle, Int32(position * height), Int32(height), start) != 0
            }
            initialized = failed ? 0 : count
        }
        guard !failed else { throw VipsFailure.current().damage(of: facts.type.format.name) }
        position += 1
        canvas.replace(with: bytes, channels: channels)
    }
}
