import SatchelCore
import CVips

extension AnimatedGIF {
    /// Writes `frames` by libvips' saver, each with a palette of its own.
    ///
    /// It doesn't dither, as ours doesn't: patterns cost fidelity by any measure, and move where the picture doesn't.
    func writeByLibvips(_ frames: ScaledFrames, to descriptor: Int32) throws(AttachmentError) -> Encoded {
        let levels: [(depth: Int32, error: Double)] = [(8, 0), (7, 4), (6, 8), (5, 14)]
        let level = levels[min(attempt.level, levels.count - 1)]
        let delays = attempt.written(facts.delays, as: .gif).map { Int32($0) }
        let feed = FrameFeed(size: attempt.size, frames: frames)
        let encoded = try unsafe feed.saved(
            as: .gif, delays: delays, plays: min(facts.plays, MediaType.gif.format.animation?.mostPlays ?? 0)
        ) { (frames) throws(VipsFailure) in
            try unsafe EncodedBytes { buffer, length in
                unsafe satchel_save_gif(frames, buffer, length, level.depth, level.error)
            }
        }
        _ = try AnimationFile(descriptor)
        try encoded.write(to: descriptor)
        return Encoded(
            bytes: Int64(encoded.count), note: "\(min(255, 1 << level.depth)) colours a frame at most, by libvips",
            alike: feed.alike)
    }
}
