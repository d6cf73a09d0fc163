import SatchelCore
import CVips
import GIF

/// Hands rows of frames, one frame above the other, to libvips, which asks for them in order from a thread of its own: its
/// savers hold one frame at a time, and what they have written.
final class FrameFeed {
    let size: PixelSize
    /// Why there is no further frame.
    private(set) var failure: AttachmentError?
    /// Frames that the saver may take for the one before.
    private(set) var alike: Set<Int> = []
    private let frames: ScaledFrames
    private var index = -1

    init(size: PixelSize, frames: ScaledFrames) {
        self.size = size
        self.frames = frames
    }

    /// The file that `saver` makes of the frames.
    ///
    /// - Parameters:
    ///   - delays: Milliseconds that each is shown.
    ///   - plays: 0 for ever.
    func saved(
        as type: MediaType, delays: [Int32], plays: Int,
        by saver: (UnsafeMutablePointer<VipsImage>) throws(VipsFailure) -> EncodedBytes
    ) throws(AttachmentError) -> EncodedBytes {
        do throws(VipsFailure) {
            let frames = try picture(delays: delays, plays: plays)
            return try unsafe frames.withHandle { (handle) throws(VipsFailure) in try unsafe saver(handle) }
        } catch {
            if WorkTime.isUp { throw WorkTime.failure }
            // What stopped the frames is the reason; what the encoder then says is not.
            throw failure ?? error.lack
                ?? .codecCrashed(reason: "the \(type.format.name) encoder failed: \(error.text)")
        }
    }

    private func picture(delays: [Int32], plays: Int) throws(VipsFailure) -> Picture {
        // The feed outlives the image: it is the caller's until the encoder is done.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        vips_error_clear()
        let image = unsafe satchel_image_from_rows(
            Int32(size.width), Int32(size.height * delays.count), 4, FrameFeed.rows, context)
        guard let image = unsafe image else { throw VipsFailure.current() }
        let frames = unsafe Picture(owning: image)
        unsafe frames.withHandle { handle in
            unsafe vips_image_set_int(handle, "page-height", Int32(size.height))
            unsafe vips_image_set_int(handle, "loop", Int32(plays))
            unsafe vips_image_set_array_int(handle, "delay", delays, Int32(delays.count))
        }
        return frames
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
        guard failure == nil, advance(to: row / size.height) else { return false }
        let first = row % size.height * size.width
        unsafe frames.pixels.withUnsafeBytes { pixels in
            let bytes = unsafe UnsafeRawBufferPointer(rebasing: pixels[first * 4..<(first + size.width) * 4])
            unsafe UnsafeMutableRawBufferPointer(start: start, count: size.width * 4).copyMemory(from: bytes)
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
            let before = frames.pixels
            do {
                try frames.advance()
            } catch {
                failure = error
                return false
            }
            index += 1
            if index > 0, !PixelBytes.differPlainly(before, frames.pixels) { alike.insert(index) }
        }
        return true
    }
}
