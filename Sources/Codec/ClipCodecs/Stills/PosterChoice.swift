import StillCodecs

/// A small grey picture of one of a video's pictures, and what it tells.
struct FrameStatistics: Hashable, Sendable {
    /// Longest side in pixels.
    static let side = 256

    /// When it is shown, on the stream's clock, in seconds.
    var time: Double
    var width: Int
    var height: Int
    /// 0…255, row after row.
    var luminance: [UInt8]
    /// 0…1.
    let brightness: Double
    /// The standard deviation of brightness: 0 for one even colour, 0.5 for half black and half white.
    let contrast: Double
    /// How much of the contrast is between neighbours.
    let sharpness: Double

    init(time: Double, width: Int, height: Int, luminance: [UInt8]) {
        self.time = time
        self.width = width
        self.height = height
        self.luminance = luminance
        var sum = 0
        var squares = 0
        for value in luminance {
            sum += Int(value)
            squares += Int(value) * Int(value)
        }
        let count = Double(max(1, luminance.count))
        let mean = Double(sum) / count
        let deviation = max(0, Double(squares) / count - mean * mean).squareRoot()
        brightness = mean / 255
        contrast = deviation / 255

        var edges = 0
        var inner = 0
        if width > 2, height > 2, luminance.count == width * height {
            for y in 1..<height - 1 {
                for x in 1..<width - 1 {
                    let at = y * width + x
                    let around =
                        Int(luminance[at - 1]) + Int(luminance[at + 1]) + Int(luminance[at - width])
                        + Int(luminance[at + width])
                    edges += abs(4 * Int(luminance[at]) - around)
                    inner += 1
                }
            }
        }
        // Four levels of noise count for nothing.
        sharpness = inner == 0 ? 0 : Double(edges) / Double(inner) / (deviation + 4)
    }

    /// There is nothing to see: it is of one colour, black or white.
    var isDull: Bool { contrast < 0.04 || brightness < 0.06 || brightness > 0.95 }

    /// The mean difference to another of the same size, 0…255.
    func difference(_ other: FrameStatistics) -> Double {
        guard luminance.count == other.luminance.count, !luminance.isEmpty else { return 255 }
        var sum = 0
        for (a, b) in zip(luminance, other.luminance) { sum += abs(Int(a) - Int(b)) }
        return Double(sum) / Double(luminance.count)
    }
}

/// Which of a video's pictures stands for it: not black, not white, not empty, not blurred, in no transition; of equals
/// the earliest. A value without input or output.
struct PosterChoice: Hashable, Sendable {
    private let candidates: [FrameStatistics]
    private var isInTransition: [Bool]

    init(_ candidates: [FrameStatistics]) {
        self.candidates = candidates
        isInTransition = candidates.map { _ in false }
    }

    /// Scores this near to the best are equal.
    private static let tie = 0.85
    /// Of less contrast there is nothing to see.
    static let lively = 0.2
    /// How much of a score is left in a transition.
    private static let transition = 0.25

    mutating func markTransition(_ index: Int) { isInTransition[index] = true }

    /// The index of the best; nil of none.
    var best: Int? {
        let scores = candidates.indices.map(score)
        guard let highest = scores.max() else { return nil }
        return scores.firstIndex { $0 >= highest * Self.tie }
    }

    /// 0 for nothing to see, up to 1.
    func score(_ index: Int) -> Double {
        let statistics = candidates[index]
        let contrast = min(1, statistics.contrast / Self.lively)
        let exposure = statistics.brightness < 0.06 || statistics.brightness > 0.95 ? 0.2 : 1
        let sharpest = candidates.lazy.filter { $0.contrast > 0.02 }.map(\.sharpness).max() ?? 0
        let sharpness = sharpest > 0 ? min(1, statistics.sharpness / sharpest) : 1
        return contrast * exposure * (0.1 + 0.9 * sharpness) * (isInTransition[index] ? Self.transition : 1)
    }

    /// Why it was chosen, as a clause.
    func reason(_ index: Int) -> String {
        guard candidates.count > 1 else { return "the only one that was looked at" }
        let dull = candidates.count(where: \.isDull)
        let crossing = isInTransition.count { $0 }
        var reason = "the first good one of \(candidates.count)"
        if dull > 0 { reason += ", \(dull) of them empty" }
        if crossing > 0 { reason += ", \(crossing) in a transition" }
        return reason
    }

    /// Whether the middle one is a mixture of the others, as in a dissolve or a fade: in a scene that moves, what is at one
    /// place is not between what was there and what will be there.
    static func isTransition(_ before: FrameStatistics, _ middle: FrameStatistics, _ after: FrameStatistics) -> Bool {
        guard before.luminance.count == middle.luminance.count, after.luminance.count == middle.luminance.count,
            !middle.luminance.isEmpty
        else { return false }
        let change = before.difference(after)
        guard change > 5 else { return false }
        var off = 0
        for index in middle.luminance.indices {
            let mean = (Int(before.luminance[index]) + Int(after.luminance[index])) / 2
            off += abs(Int(middle.luminance[index]) - mean)
        }
        return Double(off) / Double(middle.luminance.count) < change * 0.25
    }
}
