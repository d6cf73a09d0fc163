import Glibc

/// A stretch of a line of pixels, in pixels and parts of them.
struct Span: Hashable, Sendable {
    var start: Double
    var length: Double

    /// The first pixel of a line of `count` that it touches, and the one behind the last: at least one pixel.
    func pixels(of count: Int) -> (first: Int, end: Int) {
        let first = min(max(0, Int(start.rounded(.down))), count - 1)
        return (first, min(max(first + 1, Int((start + length).rounded(.up))), count))
    }
}

/// Which pixels of a line make up each pixel of a shorter one, and with what weight.
///
/// Lanczos 3, stretched by the scale where the line becomes shorter; the kernel's centre is the centre of the pixel.
struct LanczosWeights: Hashable, Sendable {
    /// Pixels of the result.
    let count: Int
    /// By pixel of the result: the first pixel that it takes.
    private(set) var starts: [Int32] = []
    /// By pixel of the result: how many pixels it takes, at least one.
    private(set) var counts: [Int32] = []
    /// By pixel of the result, ``taps`` of them; 0 beyond its count. Their sum is 1.
    private(set) var weights: [Float] = []
    /// A multiple of 4.
    let taps: Int

    /// - Parameters:
    ///   - span: What is shown of the line. Pixels outside it are taken no notice of, so that what a crop cut off doesn't
    ///     come back at the rim.
    ///   - length: Of the line; positive.
    ///   - count: Of the result; positive.
    init(_ span: Span, of length: Int, to count: Int) {
        let scale = span.length / Double(count)
        let stretch = max(scale, 1)
        let reach = 3 * stretch
        let (first, end) = span.pixels(of: length)
        self.count = count
        taps = (min(Int(reach * 2) + 2, end - first) + 3) / 4 * 4
        starts.reserveCapacity(count)
        counts.reserveCapacity(count)
        weights = [Float](repeating: 0, count: count * taps)
        for index in 0..<count {
            let centre = span.start + (Double(index) + 0.5) * scale
            let from = min(max(first, Int((centre - reach + 0.5).rounded(.down))), end - 1)
            let to = min(max(from + 1, Int((centre + reach + 0.5).rounded(.down))), end)
            let values = (from..<min(to, from + taps)).map { Self.kernel((Double($0) + 0.5 - centre) / stretch) }
            let sum = values.reduce(0, +)
            starts.append(Int32(from))
            counts.append(Int32(values.count))
            for (at, value) in values.enumerated() {
                // A line of one pixel lies outside every kernel's middle.
                weights[index * taps + at] = sum > 0.01 ? Float(value / sum) : 1 / Float(values.count)
            }
        }
    }

    private static func kernel(_ x: Double) -> Double {
        if x == 0 { return 1 }
        guard abs(x) < 3 else { return 0 }
        let angle = Double.pi * x
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }

    /// The most pixels of the result that one pixel of the line goes into, and one more.
    var overlap: Int {
        var most = 1
        var oldest = 0
        for index in 0..<count {
            while starts[oldest] + counts[oldest] <= starts[index] { oldest += 1 }
            most = max(most, index - oldest + 1)
        }
        return most
    }
}
