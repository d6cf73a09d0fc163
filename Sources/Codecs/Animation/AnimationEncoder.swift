import Attachments
import CVips

/// Encodes frames that are made one by one while the encoder asks for them.
enum AnimationEncoder {
    /// - Parameters:
    ///   - size: Of each frame.
    ///   - next: The next frame, of `size` and with 4 channels.
    static func encode(
        _ facts: AnimationFacts, as type: MediaType, size: PixelSize, effort: Effort,
        next: any FrameMaker
    ) throws(AttachmentError) -> EncodedBytes {
        let feed = FrameFeed(size: size, next: next)
        do {
            return try encode(feed, facts, as: type, effort: effort)
        } catch {
            if WorkTime.isUp { throw WorkTime.failure }
            // What stopped the frames is the reason; what the encoder then says is not.
            throw feed.failure ?? .codecCrashed(reason: "the \(type.imageName) encoder failed: \(error.text)")
        }
    }

    private static func encode(
        _ feed: FrameFeed, _ facts: AnimationFacts, as type: MediaType, effort: Effort
    ) throws(VipsFailure) -> EncodedBytes {
        // The feed outlives the image: it is the caller's until the encoder is done.
        let context = unsafe Unmanaged.passUnretained(feed).toOpaque()
        let size = feed.size
        satchel_error_clear()
        let image = unsafe satchel_image_from_rows(
            Int32(size.width), Int32(size.height * facts.frames), 4, FrameFeed.rows, context)
        guard let image = unsafe image else { throw VipsFailure.current() }
        let frames = unsafe Picture(owning: image)
        let isGIF = type == .gif
        let delays = (isGIF ? AnimationFacts.hundredths(facts.delays).map { $0 * 10 } : facts.delays).map(Int32.init)
        let webpEffort: Int32 = effort == .full ? 4 : 1
        return try unsafe frames.withHandle { (handle) throws(VipsFailure) in
            unsafe vips_image_set_int(handle, "page-height", Int32(size.height))
            unsafe vips_image_set_int(handle, "loop", Int32(clamping: facts.plays))
            unsafe satchel_set_ints(handle, "delay", delays, Int32(delays.count))
            guard isGIF else { return try unsafe EncodedBytes.webp(handle, quality: 75, effort: webpEffort) }
            return try unsafe EncodedBytes { buffer, length in
                // More effort than 1 takes three times as long for two bytes in a hundred.
                unsafe satchel_save_gif(handle, buffer, length, 1)
            }
        }
    }
}

/// Hands rows of frames, one frame above the other, to libvips, which asks for them in order from a thread of its own.
private final class FrameFeed {
    let size: PixelSize
    /// Why there is no further frame.
    private(set) var failure: AttachmentError?
    private let maker: any FrameMaker
    private var current: Raster?
    private var index = -1

    init(size: PixelSize, next: any FrameMaker) {
        self.size = size
        maker = next
    }

    static let rows: @convention(c) (UnsafeMutableRawPointer, Int32, Int32, UnsafeMutablePointer<UInt8>, Int) -> Int32 =
        {
            context, top, height, to, stride in
            let feed = unsafe Unmanaged<FrameFeed>.fromOpaque(context).takeUnretainedValue()
            for row in 0..<Int(height) {
                guard unsafe feed.copy(row: Int(top) + row, to: to + row * stride) else { return -1 }
            }
            return 0
        }

    private func copy(row: Int, to start: UnsafeMutablePointer<UInt8>) -> Bool {
        guard failure == nil, advance(to: row / size.height), let current else { return false }
        let bytes = size.width * 4
        let at = row % size.height * bytes
        unsafe current.bytes.withUnsafeBufferPointer { buffer in
            guard let from = buffer.baseAddress else { return }
            unsafe start.update(from: from + at, count: bytes)
        }
        return true
    }

    /// Makes frames up to `wanted`; they cannot be had again.
    private func advance(to wanted: Int) -> Bool {
        guard wanted >= index else {
            failure = .codecCrashed(reason: "an encoder asked for frame \(wanted) after frame \(index)")
            return false
        }
        while index < wanted {
            do {
                let frame = try maker.next()
                precondition(frame.size == size && frame.channels == 4)
                current = frame
            } catch {
                failure = error
                return false
            }
            index += 1
        }
        return true
    }
}
