import Foundation
import TestSupport
import Testing

@testable import ClipCodecs
@testable import StillCodecs
@testable import GIF

/// The one kernel of stills and animations.
@Suite struct LanczosTests {
    /// The kernel as textbooks have it, for samples from `first` on around `centre`; the sum is 1.
    private func textbook(_ first: Int, _ count: Int, around centre: Double, stretch: Double) -> [Double] {
        let values = (first..<first + count).map { sample -> Double in
            let x: Double = (Double(sample) + 0.5 - centre) / stretch
            if abs(x) < 1e-9 { return 1 }
            let sinc: Double = sin(.pi * x) / (.pi * x)
            let window: Double = sin(.pi * x / 3) / (.pi * x / 3)
            return abs(x) < 3 ? sinc * window : 0
        }
        let sum = values.reduce(0, +)
        return values.map { $0 / sum }
    }

    @Test func `weights are those of Lanczos 3, for planes and for animations`() {
        var random = SeededGenerator()
        for _ in 0..<100 {
            let length = Int.random(in: 2...600, using: &random)
            let count = Int.random(in: 1...length, using: &random)
            let scale = Double(length) / Double(count)
            let line = LanczosWeights(Span(start: 0, length: Double(length)), of: length, to: count)
            let taps = Taps(from: length, to: count, filter: .lanczos)
            var worst = 0.0
            for index in 0..<count {
                func compare(_ first: Int, _ weights: ArraySlice<Float>) {
                    let centre = (Double(index) + 0.5) * scale
                    let expected = textbook(first, weights.count, around: centre, stretch: scale)
                    for (weight, expected) in zip(weights, expected) {
                        worst = max(worst, abs(Double(weight) - expected))
                    }
                }
                let from = index * line.taps
                compare(Int(line.starts[index]), line.weights[from..<from + Int(line.counts[index])])
                compare(taps.starts[index], taps.weights[index * taps.count..<(index + 1) * taps.count])
            }
            #expect(worst < 1e-6, "from \(length) to \(count)")
        }
    }
}
