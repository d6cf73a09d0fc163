import SatchelCore

/// Writes an animation as WebP, with all of its alpha.
struct AnimatedWebP {
    var facts: AnimationFacts
    var attempt: AnimationAttempt
    var isBest: Bool

    /// More effort finds fewer bytes for the same quality, and less likeness.
    private var quality: Int32 { [75, 55, 38, 18][min(attempt.level, 3)] + (isBest ? 10 : 0) }
    private var effort: Int32 { attempt.isHasty ? 1 : isBest ? 6 : 4 }

    func write(_ frames: ScaledFrames, to descriptor: Int32) throws(AttachmentError) -> Encoded {
        let delays = attempt.written(facts.delays, as: .webp).map { Int32($0) }
        let feed = FrameFeed(size: attempt.size, frames: frames)
        let encoded = try unsafe feed.saved(
            as: .webp, delays: delays, plays: min(facts.plays, MediaType.webp.format.animation?.mostPlays ?? 0)
        ) { (frames) throws(VipsFailure) in
            try unsafe EncodedBytes.webp(frames, quality: quality, effort: effort)
        }
        _ = try AnimationFile(descriptor)
        try encoded.write(to: descriptor)
        return Encoded(bytes: Int64(encoded.count), note: "quality \(quality)", alike: feed.alike)
    }
}
