/// Chooses the colours of a palette.
package enum Quantiser {
    /// The colours of opaque pixels, each once; nil where there are more than `most`.
    static func distinct(_ pixels: [UInt32], most: Int) -> [UInt32]? {
        var found: Set<UInt32> = []
        let colours = pixels.filter { $0 >> 24 >= 128 }.map { $0 | 0xFF00_0000 }.filter { found.insert($0).inserted }
        return colours.count > most ? nil : colours
    }

    /// At most `count` colours for what is opaque among `pixels`, and for `kept`, colours of a palette that the pixels were
    /// mixed from; fewer, once the mean squared error is down to `enough`.
    ///
    /// The cells of a histogram are divided where the variance is largest, then moved to their means twice. The same
    /// pixels give the same palette.
    package static func palette(
        of pixels: [UInt32], keeping kept: [UInt32], count: Int, enough: Float, isThorough: Bool
    ) -> [UInt32] {
        precondition(count > 0)
        var histogram = ColourHistogram(bits: isThorough ? 6 : 5)
        var opaque: Float = 0
        for pixel in pixels where pixel >> 24 >= 128 {
            histogram.add(pixel | 0xFF00_0000)
            opaque += 1
        }
        // What other frames need counts for a part of this one.
        let share = max(1, opaque * (isThorough ? 0.1 : 0.25) / Float(max(1, kept.count)))
        for colour in kept { histogram.add(colour, weight: share) }
        var cells = histogram.cells
        let means = divide(&cells, into: count, enough: enough)
        return settle(cells, around: means)
    }

    // MARK: Dividing

    private struct Box {
        var range: Range<Int>
        var sum = SIMD4<Float>.zero
        var axis = 0
        /// Squared distances from the mean, all together.
        var spread: Float = 0

        init(_ cells: [ColourHistogram.Cell], _ range: Range<Int>) {
            self.range = range
            var squares = SIMD4<Float>.zero
            for cell in cells[range] {
                let values = cell.sum
                sum += values
                squares += values * values / values.w
            }
            let variances = squares - sum * sum / sum.w
            for channel in 0..<3 where variances[channel] > variances[axis] { axis = channel }
            spread = range.count > 1 ? variances[0] + variances[1] + variances[2] : 0
        }

        var mean: SIMD4<Float> { sum / sum.w }
    }

    private static func divide(_ cells: inout [ColourHistogram.Cell], into count: Int, enough: Float) -> [SIMD4<Float>]
    {
        var boxes = [Box(cells, cells.indices)]
        var spread = boxes[0].spread
        let weight = boxes[0].sum.w
        while boxes.count < count, spread > enough * weight {
            guard let widest = boxes.indices.max(by: { boxes[$0].spread < boxes[$1].spread }), boxes[widest].spread > 0
            else { break }
            let box = boxes[widest]
            let (axis, limit) = (box.axis, box.mean[box.axis])
            var end = box.range.lowerBound
            for index in box.range where cells[index].sum[axis] < limit * cells[index].sum.w {
                cells.swapAt(index, end)
                end += 1
            }
            guard end > box.range.lowerBound, end < box.range.upperBound else {
                spread -= boxes[widest].spread
                boxes[widest].spread = 0
                continue
            }
            boxes[widest] = Box(cells, box.range.lowerBound..<end)
            boxes.append(Box(cells, end..<box.range.upperBound))
            spread += boxes[widest].spread + boxes[boxes.count - 1].spread - box.spread
        }
        return boxes.map(\.mean)
    }

    private static func settle(_ cells: [ColourHistogram.Cell], around means: [SIMD4<Float>]) -> [UInt32] {
        var colours = means.map(pixel)
        let wanted = cells.map { cell in
            var mean = cell.sum / cell.sum.w
            mean.w = 0
            return mean
        }
        var indices = [Int?](repeating: nil, count: cells.count)
        for round in 0..<2 {
            let search = ColourSearch(colours)
            var sums = [SIMD4<Float>](repeating: .zero, count: colours.count)
            var commons = [ColourHistogram.Cell](repeating: .init(), count: colours.count)
            for (place, cell) in cells.enumerated() {
                let nearest = search.nearest(to: wanted[place], from: indices[place])
                indices[place] = nearest
                sums[nearest] += cell.sum
                if cell.lead > commons[nearest].lead { commons[nearest] = cell }
            }
            for index in colours.indices where sums[index].w > 0 {
                // A colour that half of them have is met exactly: flat areas stay as they are.
                let isFlat = round == 1 && commons[index].lead * 2 > sums[index].w
                colours[index] = isFlat ? commons[index].common : pixel(sums[index] / sums[index].w)
            }
        }
        return colours
    }

    private static func pixel(_ mean: SIMD4<Float>) -> UInt32 {
        func byte(_ value: Float) -> UInt32 { UInt32(max(0, min(255, value.rounded()))) }
        return byte(mean[0]) | byte(mean[1]) << 8 | byte(mean[2]) << 16 | 0xFF00_0000
    }
}
