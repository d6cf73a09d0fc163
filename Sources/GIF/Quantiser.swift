/// Chooses the colours of a palette.
package enum Quantiser {
    /// How much work is put into a palette.
    package enum Effort: Hashable, Sendable {
        case quick
        case thorough

        /// Of a channel, by which cells are told apart.
        var bits: Int { self == .quick ? 5 : 6 }
        /// How often colours are moved to the mean of what they stand for.
        var rounds: Int { self == .quick ? 2 : 3 }
        /// What colours that other frames need count for, beside the frame itself.
        var share: Float { self == .quick ? 0.25 : 0.1 }
    }

    /// The colours of opaque pixels, each once; nil where there are more than `most`.
    package static func distinct(_ pixels: [UInt32], most: Int) -> [UInt32]? {
        // A table with room for three times as many; 0 is no opaque pixel.
        var table = [UInt32](repeating: 0, count: 1024)
        var colours: [UInt32] = []
        var last: UInt32 = 0
        for pixel in pixels where pixel != last && pixel >> 24 >= 128 {
            last = pixel
            let colour = pixel | 0xFF00_0000
            var slot = Int((colour &* 0x9E37_79B1) >> 22)
            while table[slot] != 0, table[slot] != colour { slot = (slot + 1) & 1023 }
            if table[slot] == 0 {
                guard colours.count < min(most, 256) else { return nil }
                table[slot] = colour
                colours.append(colour)
            }
        }
        return colours
    }

    /// At most `count` colours for what is opaque among `pixels`, and for `kept`, colours of a palette that the pixels were
    /// mixed from; fewer, once the mean squared error is down to `enough`.
    ///
    /// The cells of a histogram are divided where the variance is largest, then moved to their means. The same
    /// pixels give the same palette.
    package static func palette(
        of pixels: [UInt32], keeping kept: [UInt32], count: Int, enough: Float, effort: Effort
    ) -> [UInt32] {
        precondition(count > 0)
        var histogram = ColourHistogram(bits: effort.bits)
        var opaque: Float = 0
        for pixel in pixels where pixel >> 24 >= 128 {
            histogram.add(pixel | 0xFF00_0000)
            opaque += 1
        }
        let share = max(1, opaque * effort.share / Float(max(1, kept.count)))
        for colour in kept { histogram.add(colour, weight: share) }
        var cells = histogram.cells
        let means = divide(&cells, into: count, enough: enough)
        return settle(cells, around: means, rounds: effort.rounds)
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
                squares += values * values / cell.weight
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
            let limit = box.mean[box.axis]
            var end = box.range.lowerBound
            for index in box.range where cells[index].mean(box.axis) < limit {
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

    private static func settle(_ cells: [ColourHistogram.Cell], around means: [SIMD4<Float>], rounds: Int) -> [UInt32] {
        var colours = means.map(pixel)
        let wanted = cells.map { cell in
            var mean = cell.sum / cell.weight
            mean.w = 0
            return mean
        }
        var indices = [Int?](repeating: nil, count: cells.count)
        for round in 0..<rounds {
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
                let isFlat = round == rounds - 1 && commons[index].lead * 2 > sums[index].w
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
