import Attachments
import CVips
import GIF

/// Writes an animation as WebP, with all of its alpha.
struct AnimatedWebP {
    var facts: AnimationFacts
    var attempt: AnimationAttempt

    private var quality: Int32 { [75, 55, 38, 18][min(attempt.level, 3)] }

    func write(_ frames: ScaledFrames, to descriptor: Int32) throws(AttachmentError) -> Encoded {
        let feed = FrameFeed(size: attempt.size, frames: frames)
        do {
            let encoded = try encode(feed)
            _ = try AnimationFile(descriptor)
            try encoded.write(to: descriptor)
            return Encoded(bytes: Int64(encoded.count), note: "quality \(quality)")
        } catch let failure as VipsFailure {
            if WorkTime.isUp { throw WorkTime.failure }
            // What stopped the frames is the reason; what the encoder then says is not.
            throw feed.failure ?? .codecCrashed(reason: "the WebP encoder failed: \(failure.text)")
        } catch let error as AttachmentError {
            throw error
        } catch {
            throw .codecCrashed(reason: "\(error)")
        }
    }

    private func encode(_ feed: FrameFeed) throws(VipsFailure) -> EncodedBytes {
        // The feed outlives the image: it is the caller's until the encoder is done.
        let context = unsafe Unmanaged.passUnretained(feed).toOpaque()
        let size = attempt.size
        let output = MediaType.webp.format.animation
        let delays = attempt.delays(facts.delays).map { Int32(min($0, output?.longestDelay ?? 0)) }
        satchel_error_clear()
        let image = unsafe satchel_image_from_rows(
            Int32(size.width), Int32(size.height * delays.count), 4, FrameFeed.rows, context)
        guard let image = unsafe image else { throw VipsFailure.current() }
        let frames = unsafe Picture(owning: image)
        let (quality, effort) = (self.quality, attempt.isHasty ? Int32(1) : 4)
        return try unsafe frames.withHandle { (handle) throws(VipsFailure) in
            unsafe vips_image_set_int(handle, "page-height", Int32(size.height))
            unsafe vips_image_set_int(handle, "loop", Int32(min(facts.plays, output?.mostPlays ?? 0)))
            unsafe satchel_set_ints(handle, "delay", delays, Int32(delays.count))
            return try unsafe EncodedBytes.webp(handle, quality: quality, effort: effort)
        }
    }
}

/// Hands rows of frames, one frame above the other, to libvips, which asks for them in order from a thread of its own.
private final class FrameFeed {
    let size: PixelSize
    /// Why there is no further frame.
    private(set) var failure: AttachmentError?
    private let frames: ScaledFrames
    private var index = -1

    init(size: PixelSize, frames: ScaledFrames) {
        self.size = size
        self.frames = frames
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
            do {
                try frames.advance()
            } catch {
                failure = error
                return false
            }
            index += 1
        }
        return true
    }
}
