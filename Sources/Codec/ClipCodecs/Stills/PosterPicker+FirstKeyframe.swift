import CFFmpeg
import StillCodecs

extension PosterPicker {
    /// The first keyframe with as much on it as the others have, where a look at it shows that it will do: then none of the
    /// others is decoded.
    ///
    /// - Returns: Nil where the others must be looked at as well.
    func clearlyGoodKeyframe(
        _ keyframes: [Keyframe], in demuxer: borrowing Demuxer, affordable: Int
    ) throws(FFmpegFailure) -> Pick? {
        // An encoder spends its bytes on what there is to see.
        let most = keyframes.map(\.bytes).max() ?? 0
        guard let first = keyframes.first(where: { $0.bytes >= most / 2 }),
            let stream = unsafe demuxer.stream(picture.stream)
        else { return nil }
        let decoder = try unsafe Decoder(for: stream, maximumPixels: maximumPixels)
        let frame = try Frame()
        let candidates = try candidates(
            at: [first.time, first.time + Self.step, first.time + 2 * Self.step], in: demuxer, by: decoder,
            affordable: affordable, keeping: frame)
        guard candidates.count == 3, candidates[0].isPlain,
            !PosterChoice.isTransition(candidates[0], candidates[1], candidates[2])
        else {
            return nil
        }
        var pick = try pick(frame)
        let empty = keyframes.count { $0.bytes < most / 8 }
        pick.reason = "the first good one of \(keyframes.count)" + (empty > 0 ? ", \(empty) of them almost empty" : "")
        return pick
    }
}

extension FrameStatistics {
    /// Of less there may be a sharper one. At this size a blurred picture has 0.03 and most photographs more than 0.2.
    private static let sharp = 0.08

    /// That nothing better need be looked for.
    fileprivate var isPlain: Bool { !isDull && contrast >= PosterChoice.lively && sharpness >= Self.sharp }
}
