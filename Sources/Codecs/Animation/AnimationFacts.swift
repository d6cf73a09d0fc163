import Attachments

/// What an animation says of itself in its header.
struct AnimationFacts: Hashable, Sendable {
    var type: MediaType
    var sniffedType: String
    var size: PixelSize
    /// Milliseconds that each frame is shown, by the browsers' rule.
    var delays: [Int]
    /// How often it plays; 0 for ever.
    var plays: Int
    /// Bytes of the file.
    var bytes: Int

    var frames: Int { delays.count }

    /// Seconds of one play.
    var duration: Double { Double(delays.reduce(0, +)) / 1000 }

    /// Browsers show a frame whose delay is 0 or 1 hundredth of a second for 10 hundredths.
    static func shown(_ milliseconds: Int) -> Int {
        milliseconds <= 10 ? 100 : milliseconds
    }

    /// The delays in whole hundredths of a second, which is what GIF has, so that no frame starts more than half a
    /// hundredth off; at least 2, because browsers take less for 10.
    static func hundredths(_ delays: [Int]) -> [Int] {
        var elapsed = 0
        var written = 0
        return delays.map { delay in
            elapsed += delay
            let hundredths = max(2, Int((Double(elapsed) / 10).rounded()) - written)
            written += hundredths
            return hundredths
        }
    }

    /// Refuses what is over a limit.
    static func check(frames: Int, size: PixelSize, limits: Limits) throws(AttachmentError) {
        guard frames <= limits.animationFrames else {
            throw .tooManyFrames(frames: frames, limit: limits.animationFrames)
        }
        try limits.checkSides(of: size)
        guard size.area <= limits.framePixels else {
            throw .tooManyPixels(pixels: size.area, limit: limits.framePixels)
        }
        let pixels = size.area * Int64(frames)
        guard pixels <= limits.animationPixels else {
            throw .tooManyPixels(pixels: pixels, limit: limits.animationPixels)
        }
    }
}
