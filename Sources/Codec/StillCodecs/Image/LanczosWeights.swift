import CScaling

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
    /// Pixels of the line.
    let length: Int
    /// Pixels of the result.
    let count: Int
    /// By pixel of the result: the first pixel that it takes.
    private(set) var starts: [Int32] = []
    /// By pixel of the result: how many pixels it takes, at least one.
    private(set) var counts: [Int32] = []
    /// By pixel of the result, ``taps`` of them; 0 beyond its count. Their sum is 1.
    private(set) var weights: [Float] = []
    /// A multiple of 8.
    let taps: Int

    /// - Parameters:
    ///   - span: What is shown of the line. Pixels outside it are taken no notice of, so that what a crop cut off doesn't
    ///     come back at the rim.
    ///   - length: Of the line; positive.
    ///   - count: Of the result; positive.
    init(_ span: Span, of length: Int, to count: Int) {
        let scale = span.length / Double(count)
        let reach = 3 * max(scale, 1)
        let (first, end) = span.pixels(of: length)
        self.length = length
        self.count = count
        taps = (min(Int(reach * 2) + 2, end - first) + 7) / 8 * 8
        weights = [Float](repeating: 0, count: count * taps)
        for index in 0..<count {
            let centre = span.start + (Double(index) + 0.5) * scale
            let from = min(max(first, Int((centre - reach + 0.5).rounded(.down))), end - 1)
            let to = min(max(from + 1, Int((centre + reach + 0.5).rounded(.down))), end)
            starts.append(Int32(from))
            counts.append(Int32(min(to - from, taps)))
        }
        unsafe satchel_lanczos_weights(
            span.start, scale, starts, counts, Int32(taps), &weights, Int32(count))
    }

    /// For a line with half as many samples, between which a decoder would have put one more on each side: three parts of
    /// the nearest and one of the next, which are the weights of libjpeg's "fancy upsampling". One pass does both.
    ///
    /// - Parameter length: Samples of the line: as many as the longer one's pixels, halved and rounded up.
    func halved(_ length: Int) -> LanczosWeights {
        LanczosWeights(halving: self, to: length)
    }

    private init(halving full: LanczosWeights, to length: Int) {
        self.length = length
        count = full.count
        // Every two pixels are two samples, and one more at each end.
        taps = (min(full.taps / 2 + 3, length) + 7) / 8 * 8
        weights = [Float](repeating: 0, count: count * taps)
        starts.reserveCapacity(count)
        counts.reserveCapacity(count)
        for index in 0..<count {
            let pixels = Int(full.starts[index])..<Int(full.starts[index] + full.counts[index])
            let first = max(0, (pixels.lowerBound - 1) >> 1)
            let last = min(length - 1, pixels.upperBound >> 1)
            starts.append(Int32(first))
            counts.append(Int32(last - first + 1))
            for pixel in pixels {
                let weight = full.weights[index * full.taps + pixel - pixels.lowerBound]
                let near = min(pixel >> 1, length - 1)
                let far = min(max(pixel & 1 == 0 ? near - 1 : near + 1, 0), length - 1)
                weights[index * taps + near - first] += weight * 0.75
                weights[index * taps + far - first] += weight * 0.25
            }
        }
    }

    /// The most pixels of the result that `chunk` pixels of the line go into, where the line comes in such chunks.
    func overlap(chunk: Int) -> Int {
        var most = 1
        var oldest = 0
        for index in 0..<count {
            let top = Int(starts[index]) / chunk * chunk
            // What ended in the chunk before is done with.
            while Int(starts[oldest] + counts[oldest]) <= top { oldest += 1 }
            most = max(most, index - oldest + 1)
        }
        return most
    }
}
