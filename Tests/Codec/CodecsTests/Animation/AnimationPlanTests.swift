import SatchelCore
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs

/// Which settings are tried until an animation fits: the decisions alone, against encoders of every temper.
@Suite struct AnimationPlanTests {
    /// What an attempt comes to: some bytes for each pixel, as its quality makes it, never over the worst case.
    private struct Encoder {
        var format: AnimationFormat
        var frames: Int
        var bytesForPixel: Double
        /// How far from what is usual quality, pixels and frames save, by turns.
        var temper: [Double]

        func bytes(_ attempt: AnimationAttempt, _ number: Int) -> Int64 {
            let shown = attempt.counts(of: frames).count
            let share = format.shares[min(attempt.level, format.shares.count - 1)]
            let usual = Double(attempt.size.area) * Double(shown) * bytesForPixel * share
            let bytes = Int64(min(usual * temper[number % temper.count], 1e15)) + 500
            return attempt.isLast ? min(bytes, format.worst(attempt.size, frames: shown)) : bytes
        }
    }

    @Test(arguments: 0..<400)
    func `whatever the encoder does, the cap is kept within six encodes, and usually two suffice`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) &* 7919 &+ 1)
        let format = AnimationFormat([.gif, .webp, .mp4][seed % 3])
        let side = [1, 16, 100, 480, 4000].randomElement(using: &random) ?? 100
        let region = PixelSize(width: side, height: max(1, side * Int.random(in: 1...30, using: &random) / 10))
        let frames = [2, 30, 125, 900, 5000].randomElement(using: &random) ?? 2
        let cap = max(
            format.type == .mp4 ? 12_000 : 2_000, Int64(Double.random(in: 7.6...18, using: &random).exponential))
        let aim = seed % 2 == 0 ? nil : Optional(max(2_000, cap / Int64.random(in: 1...20, using: &random)))
        let isUsual = seed % 4 < 3
        let encoder = Encoder(
            format: format, frames: frames, bytesForPixel: Double.random(in: -6...1, using: &random).exponential,
            temper: (0..<6).map { _ in
                isUsual ? Double.random(in: 0.95...1.05, using: &random) : Double.random(in: 0.2...30, using: &random)
            })
        var plan = AnimationPlan(
            first: AnimationAttempt(size: format.size(of: region, side: 640), level: 0), region: region,
            frames: frames, aim: aim, cap: cap, format: format)
        var bytes: Int64 = 0
        var tried: [AnimationAttempt] = []
        repeat {
            let attempt = plan.attempt
            tried.append(attempt)
            bytes = encoder.bytes(attempt, tried.count)
            // Duration is never given up: every frame of the source is in one that is shown.
            #expect(attempt.counts(of: frames).reduce(0, +) == frames)
            // Pixels before frames.
            if attempt.step > 1 { #expect(attempt.size.longestSide <= max(AnimationPlan.leastSide, 48)) }
        } while plan.next(after: bytes)
        #expect(bytes <= cap)
        #expect(plan.attempts == tried.count && tried.count <= AnimationPlan.mostAttempts)
        // An encoder that does as usual is foreseen; where the aim is given up, that takes a look at it.
        if isUsual && !plan.attempt.isLast { #expect(tried.count <= 4) }
        for (one, next) in zip(tried, tried.dropFirst()) {
            #expect(next.level >= one.level && next.size.area <= one.size.area)
        }
    }

    @Test func `merged frames last as long together`() {
        let attempt = AnimationAttempt(size: PixelSize(width: 1, height: 1), level: 0, step: 3)
        #expect(attempt.delays([10, 20, 30, 40, 50, 60, 70]) == [60, 150, 70])
        #expect(attempt.counts(of: 7) == [3, 3, 1])
    }
}

extension Double {
    /// e to the power of it.
    fileprivate var exponential: Double {
        var result = 1.0
        var term = 1.0
        let small = self / 32
        for n in 1..<12 {
            term *= small / Double(n)
            result += term
        }
        return (0..<5).reduce(result) { value, _ in value * value }
    }
}
