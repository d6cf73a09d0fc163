/// How often colours occur, by cells of 5 bits a channel.
struct ColourHistogram {
    /// What fell into one cell.
    struct Cell {
        var red: Float = 0
        var green: Float = 0
        var blue: Float = 0
        var weight: Float = 0
        /// The colour that most of the cell has, where one has most of it.
        var common: UInt32 = 0
        var lead: Float = 0
    }

    private var places = [Int16](repeating: -1, count: 1 << 15)
    private(set) var cells: [Cell] = []

    mutating func add(_ pixel: UInt32, weight: Float = 1) {
        let red = pixel >> 3 & 0x1F
        let green = pixel >> 6 & 0x3E0
        let blue = pixel >> 9 & 0x7C00
        let key = Int(red | green | blue)
        var place = Int(places[key])
        if place < 0 {
            place = cells.count
            cells.append(Cell())
            places[key] = Int16(truncatingIfNeeded: place)
        }
        cells[place].red += Float(pixel & 255) * weight
        cells[place].green += Float(pixel >> 8 & 255) * weight
        cells[place].blue += Float(pixel >> 16 & 255) * weight
        cells[place].weight += weight
        if cells[place].common == pixel {
            cells[place].lead += weight
        } else if cells[place].lead < weight {
            cells[place].common = pixel
            cells[place].lead = weight - cells[place].lead
        } else {
            cells[place].lead -= weight
        }
    }
}

/// Chooses the colours of a palette.
package enum Quantiser {
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
    /// The cells of a histogram are divided where the variance is largest, then moved to their means twice. The same
    /// pixels give the same palette.
    package static func palette(of pixels: [UInt32], keeping kept: [UInt32], count: Int, enough: Float) -> [UInt32] {
        precondition(count > 0)
        var histogram = ColourHistogram()
        var opaque: Float = 0
        for pixel in pixels where pixel >> 24 >= 128 {
            histogram.add(pixel | 0xFF00_0000)
            opaque += 1
        }
        // Colours that other frames need count for a quarter of this one.
        let share = max(1, opaque / 4 / Float(max(1, kept.count)))
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

    private static func settle(_ cells: [ColourHistogram.Cell], around means: [SIMD4<Float>]) -> [UInt32] {
        var colours = means.map(pixel)
        for round in 0..<2 {
            var search = ColourSearch(colours)
            var sums = [SIMD4<Float>](repeating: .zero, count: colours.count)
            var commons = [ColourHistogram.Cell](repeating: .init(), count: colours.count)
            for cell in cells {
                let nearest = search.nearest(pixel(cell.sum / cell.weight))
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

extension ColourHistogram.Cell {
    var sum: SIMD4<Float> { SIMD4(red, green, blue, weight) }

    func mean(_ axis: Int) -> Float {
        switch axis {
        case 0: red / weight
        case 1: green / weight
        default: blue / weight
        }
    }
}

/// Finds the nearest colour of a palette, and remembers it for colours alike.
package struct ColourSearch: Sendable {
    private let colours: [UInt32]
    /// Indices by green, and their greens.
    private let order: [UInt8]
    private let greens: [Int32]
    /// Where to begin, by green.
    private let entries: [UInt8]
    /// What was found, by the upper 6 bits of each channel.
    private var cache: [UInt16]
    /// Opaque colours of the palette by their hash, which are found exactly.
    private var exact: [UInt32]
    private var exactIndices: [UInt8]

    /// - Parameter colours: 1…256.
    package init(_ colours: [UInt32]) {
        precondition(!colours.isEmpty && colours.count <= 256)
        self.colours = colours
        func green(_ index: Int) -> Int32 { Int32(colours[index] >> 8 & 255) }
        let sorted = colours.indices.sorted { (green($0), $0) < (green($1), $1) }
        order = sorted.map { UInt8($0) }
        greens = sorted.map(green)
        var entries = [UInt8](repeating: 0, count: 256)
        var place = 0
        for level in 0..<256 {
            while place + 1 < sorted.count, greens[place] < Int32(level) { place += 1 }
            entries[level] = UInt8(place)
        }
        self.entries = entries
        cache = Array(repeating: .max, count: 1 << 18)
        exact = Array(repeating: 0, count: 1024)
        exactIndices = Array(repeating: 0, count: 1024)
        for (index, colour) in colours.enumerated() {
            var slot = Self.slot(colour)
            while exact[slot] != 0, exact[slot] != colour { slot = (slot + 1) & 1023 }
            if exact[slot] == 0 {
                exact[slot] = colour
                exactIndices[slot] = UInt8(index)
            }
        }
    }

    @inline(__always)
    private static func slot(_ colour: UInt32) -> Int { Int((colour &* 0x9E37_79B1) >> 22) }

    /// The index of the palette's colour that is nearest to an opaque pixel: itself, where the palette has it; else what
    /// was found for the first pixel that shares the upper 6 bits of each channel.
    @inline(__always)
    package mutating func nearest(_ pixel: UInt32) -> Int {
        var slot = Self.slot(pixel)
        while exact[slot] != 0 {
            if exact[slot] == pixel { return Int(exactIndices[slot]) }
            slot = (slot &+ 1) & 1023
        }
        let red = pixel >> 2 & 0x3F
        let green = pixel >> 4 & 0xFC0
        let blue = pixel >> 6 & 0x3F000
        let key = Int(red | green | blue)
        let found = cache[key]
        if found != .max { return Int(found) }
        let index = search(pixel)
        cache[key] = UInt16(truncatingIfNeeded: index)
        return index
    }

    /// The index of a colour that the palette has.
    package func exactly(_ colour: UInt32) -> Int? {
        var slot = Self.slot(colour)
        while exact[slot] != 0 {
            if exact[slot] == colour { return Int(exactIndices[slot]) }
            slot = (slot &+ 1) & 1023
        }
        return nil
    }

    /// From the nearest green outwards, until green alone is further away.
    private func search(_ pixel: UInt32) -> Int {
        let green = Int32(pixel >> 8 & 255)
        var up = Int(entries[Int(green)])
        var down = up - 1
        var best = Int32.max
        var index = 0
        while true {
            var isDone = true
            if up < order.count {
                let step = greens[up] - green
                if step * step < best {
                    isDone = false
                    let candidate = Int(order[up])
                    let distance = Self.distance(colours[candidate], pixel)
                    if distance < best { (best, index) = (distance, candidate) }
                    up += 1
                }
            }
            if down >= 0 {
                let step = green - greens[down]
                if step * step < best {
                    isDone = false
                    let candidate = Int(order[down])
                    let distance = Self.distance(colours[candidate], pixel)
                    if distance < best { (best, index) = (distance, candidate) }
                    down -= 1
                }
            }
            if isDone { return index }
        }
    }

    /// The squared distance of two colours, alpha aside.
    @inline(__always)
    static func distance(_ one: UInt32, _ other: UInt32) -> Int32 {
        let red = Int32(truncatingIfNeeded: one & 255) &- Int32(truncatingIfNeeded: other & 255)
        let green = Int32(truncatingIfNeeded: one >> 8 & 255) &- Int32(truncatingIfNeeded: other >> 8 & 255)
        let blue = Int32(truncatingIfNeeded: one >> 16 & 255) &- Int32(truncatingIfNeeded: other >> 16 & 255)
        return red &* red &+ green &* green &+ blue &* blue
    }
}
