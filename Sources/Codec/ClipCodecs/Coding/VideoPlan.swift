import SatchelCore
import StillCodecs

/// How a video's main rendition is made: what a profile and a source come to. A value without input or output.
enum VideoPlan {
    /// Bytes that the container takes beside its packets: 8 000 and 40 for each picture or second of sound, generously.
    static func overhead(seconds: Double, frameRate: Double) -> Int64 {
        8_000 + Int64(min(seconds, 1e6) * (frameRate * 30 + 47 * 12))
    }

    /// Why the pictures can't stay as they are, whatever the cut; nil where they can.
    static func reasonToEncode(_ facts: PictureFacts, _ policy: VideoPolicy) -> String? {
        guard facts.isH264 else { return "\(facts.codec) is not H.264" }
        guard facts.isPlain else { return "its pixels are not 8 bits, 4:2:0" }
        guard !facts.isInterlaced else { return "it is interlaced" }
        if let range = facts.colours.rangeName { return "it is HDR (\(range)) and must be tone-mapped" }
        if let side = policy.longestSide, max(facts.upright.width, facts.upright.height) > side {
            return "its longest side is over \(side)"
        }
        return nil
    }

    /// Below so many bits per pixel a smaller picture looks better.
    private static let leastBitsPerPixel = 0.035

    /// The encoder's settings under which `seconds` of pictures stay within `bytes`.
    ///
    /// The bound holds over each second, so the whole may be over by a second's share at most: hence the extra second.
    static func pictures(
        _ facts: PictureFacts, _ policy: VideoPolicy, seconds: Double, audioBitRate: Int, effort: Effort
    ) -> Encoder.Pictures {
        var size = facts.upright.even(longestSide: side(policy, effort))
        var maximum: Int?
        let budget = min(policy.aim ?? policy.cap, policy.cap)
        let available =
            Double(max(0, budget - overhead(seconds: seconds, frameRate: facts.frameRate))) * 8 * 0.97
            - Double(audioBitRate) * seconds
        let rate = available / (seconds + 1)
        if rate < 200_000_000 {
            let bound = max(Double(LowestSettings.pictureBitRate), rate)
            maximum = Int(bound)
            let pixels = bound / (facts.frameRate * leastBitsPerPixel)
            if Double(size.area) > pixels {
                let shrink = (pixels / Double(size.area)).squareRoot()
                let longest = max(160, Int(Double(max(size.width, size.height)) * shrink))
                size = facts.upright.even(longestSide: min(longest, max(size.width, size.height)))
            }
        }
        return Encoder.Pictures(
            width: size.width, height: size.height, timeBase: timeBase(facts.timeBase), frameRate: facts.frameRate,
            rateFactor: effort == .full ? policy.rateFactor : policy.rateFactor + 3, maximumBitRate: maximum,
            preset: effort == .full ? "veryfast" : "ultrafast")
    }

    /// Processor seconds of encoding anew: decoding at 150 million pixels a second, encoding at 110, or at 300 with the
    /// quickest preset. Tone mapping takes 20 million pixels a second, 40 with the quick curves.
    static func cost(_ facts: PictureFacts, _ policy: VideoPolicy, seconds: Double) -> WorkCost {
        let frames = min(max(seconds, 0), 1e6) * facts.frameRate
        func cost(_ effort: Effort) -> Double {
            let output = facts.upright.even(longestSide: side(policy, effort))
            let mapping = facts.colours.isHDR ? Double(output.area) / (effort == .full ? 20e6 : 40e6) : 0
            let encoding = Double(output.area) / (effort == .full ? 110e6 : 300e6)
            return frames * (Double(facts.coded.area) / 150e6 + mapping + encoding)
        }
        return WorkCost(full: cost(.full), reduced: cost(.reduced))
    }

    /// The longest side that an effort allows.
    private static func side(_ policy: VideoPolicy, _ effort: Effort) -> Int? {
        effort == .full ? policy.longestSide : min(policy.longestSide ?? 640, 640)
    }

    /// The source's own, so that times stay exact, unless it is too coarse or finer than MP4 counts.
    private static func timeBase(_ source: TimeBase) -> TimeBase {
        let perSecond = 1 / source.seconds
        return source.numerator == 1 && perSecond >= 600 && perSecond <= 1_000_000 ? source : TimeBase(1, 90_000)
    }
}
