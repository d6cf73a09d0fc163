import Attachments
import CVips
import Pixels

/// Gives an animation's frames in order, each as a player would show it, in memory that does not grow with their
/// number.
protocol FrameMaker: AnyObject {
    /// Shows the next frame.
    ///
    /// - Parameter canvas: Of the animation's size; always the same, transparent at first.
    /// - Throws: ``AttachmentError/corrupt(reason:)`` where there is none.
    func show(on canvas: inout Canvas) throws(AttachmentError)

    /// The colours of the frame that was shown last, opaque; none where it has no palette.
    var palette: [UInt32] { get }
}

/// The frames of a GIF.
final class GIFFrames: FrameMaker {
    private let source: GIFSource
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

    init(_ source: GIFSource) {
        self.source = source
        globalPalette = source.file.colours(source.file.palette, in: source.bytes)
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        let frame = try read(disposingOn: &canvas)
        draw(frame, on: &canvas)
    }

    /// Ends the last frame's time on `canvas`, and decodes the next one without showing it.
    func read(disposingOn canvas: inout Canvas) throws(AttachmentError) -> GIFFile.Frame {
        guard position < source.file.frames.count else { throw .corrupt(reason: "it has fewer frames than it says") }
        try WorkTime.check()
        switch disposal {
        case 2: canvas.clear(area)
        case 3: canvas.restore(area, from: before)
        default: break
        }
        let frame = source.file.frames[position]
        position += 1
        palette = frame.palette == nil ? globalPalette : source.file.colours(frame.palette, in: source.bytes)
        GIFFile.join(frame, in: source.bytes, into: &data)
        let count = frame.area.width * frame.area.height
        // What a frame's data doesn't reach shows what was there.
        let rest = frame.transparent ?? 0
        if indices.count != count { indices = Array(repeating: rest, count: count) }
        var pixels = indices.mutableSpan
        switch decoder.decode(data.span, codeSize: frame.codeSize, into: &pixels) {
        case .complete: break
        case .short(let filled):
            guard filled > 0 || count == 0 else { throw .corrupt(reason: "frame \(position) has no pixels") }
            for index in filled..<count { indices[index] = rest }
        case .invalid: throw .corrupt(reason: "the data of frame \(position) cannot be decoded")
        }
        return frame
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

/// The pages of a WebP, which libvips composes: it gives them one above the other, in order.
final class PageFrames: FrameMaker {
    private let facts: AnimationFacts
    private let pages: Picture
    private var position = 0
    let palette: [UInt32] = []

    static func open(_ source: borrowing Loadable, facts: AnimationFacts) throws(AttachmentError) -> PageFrames {
        do {
            let pages = try source.bytes.load(source.format, SourceBytes.Loading(pages: -1)).standardColour()
            return PageFrames(pages, facts: facts)
        } catch {
            throw error.damage(of: facts.type.imageName)
        }
    }

    private init(_ pages: consuming Picture, facts: AnimationFacts) {
        self.pages = pages
        self.facts = facts
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        guard position < facts.frames else { throw .corrupt(reason: "it has fewer frames than it says") }
        try WorkTime.check()
        let (width, height, channels) = (facts.size.width, facts.size.height, pages.bands)
        let count = width * height * channels
        satchel_error_clear()
        var failed = true
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let start = buffer.baseAddress else { return }
            failed = unsafe pages.withHandle { handle in
                unsafe satchel_read_rows(handle, Int32(position * height), Int32(height), start) != 0
            }
            initialized = failed ? 0 : count
        }
        guard !failed else { throw VipsFailure.current().damage(of: facts.type.imageName) }
        position += 1
        canvas.replace(with: bytes, channels: channels)
    }
}

/// The frames of an APNG, which FFmpeg composes.
final class DecodedFrames: FrameMaker {
    private let facts: AnimationFacts
    private var reader: FrameReader
    private var position = 0
    let palette: [UInt32] = []

    init(_ source: Readable, facts: AnimationFacts) throws(AttachmentError) {
        guard let reader = try FrameReader.open(source.descriptor, format: .apng, limits: source.limits) else {
            throw .corrupt(reason: "its APNG header cannot be read")
        }
        self.reader = reader
        self.facts = facts
    }

    func show(on canvas: inout Canvas) throws(AttachmentError) {
        try WorkTime.check()
        guard let frame = try reader.next() else {
            throw .corrupt(reason: "the file ends after \(position) of \(facts.frames) frames")
        }
        position += 1
        canvas.replace(with: frame.pixels, channels: 4)
    }
}
