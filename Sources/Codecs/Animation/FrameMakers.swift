import Attachments
import CVips

/// Gives an animation's frames in order, each as a player would show it, in memory that does not grow with their
/// number.
protocol FrameMaker: AnyObject {
    /// The next frame.
    ///
    /// - Throws: ``AttachmentError/corrupt(reason:)`` where there is none.
    func next() throws(AttachmentError) -> Raster
}

/// The pages of a GIF or WebP, which libvips composes: it gives them one above the other, in order.
final class PageFrames: FrameMaker {
    private let facts: AnimationFacts
    private let pages: Picture
    private var position = 0

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

    func next() throws(AttachmentError) -> Raster {
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
        return Raster(width: width, height: height, channels: channels, bytes: bytes)
    }
}

/// The frames of an APNG, which FFmpeg composes.
final class DecodedFrames: FrameMaker {
    private let facts: AnimationFacts
    private var reader: FrameReader
    private var position = 0

    init(_ source: Readable, facts: AnimationFacts) throws(AttachmentError) {
        guard let reader = try FrameReader.open(source.descriptor, format: .apng, limits: source.limits) else {
            throw .corrupt(reason: "its APNG header cannot be read")
        }
        self.reader = reader
        self.facts = facts
    }

    func next() throws(AttachmentError) -> Raster {
        guard let frame = try reader.next() else {
            throw .corrupt(reason: "the file ends after \(position) of \(facts.frames) frames")
        }
        position += 1
        return Raster(width: facts.size.width, height: facts.size.height, channels: 4, bytes: frame.pixels)
    }
}
