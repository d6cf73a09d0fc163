/// Finds the nearest colour of a palette.
package struct ColourSearch: Sendable {
    private let colours: [UInt32]
    /// By green: red, green and blue, and which index they have; and by index, which place.
    private let sorted: [SIMD4<Float>]
    private let order: [UInt8]
    private let places: [UInt8]
    /// Where to begin, by green: the first that isn't less, or the last.
    private let entries: [UInt8]
    /// By the upper 6 bits of each channel: where the candidates of the cell begin, and in the lower 9 bits how many there
    /// are; 0 until it was met.
    private var cells: [UInt32] = []
    /// Red, green, blue and index.
    private var candidates: [UInt32] = []

    /// Whether a cell without a colour has only that which is nearest to its middle.
    private let isRough: Bool

    /// - Parameter colours: 1…256.
    package init(_ colours: [UInt32], isRough: Bool = false) {
        precondition(!colours.isEmpty && colours.count <= 256)
        let indices = colours.indices.sorted { (colours[$0] >> 8 & 255, $0) < (colours[$1] >> 8 & 255, $1) }
        self.colours = colours
        self.isRough = isRough
        order = indices.map { UInt8($0) }
        var places = [UInt8](repeating: 0, count: colours.count)
        for (place, index) in indices.enumerated() { places[index] = UInt8(place) }
        self.places = places
        sorted = indices.map { Self.channels(colours[$0]) }
        var entries = [UInt8](repeating: 0, count: 256)
        var place = 0
        for level in 0..<256 {
            while place + 1 < sorted.count, sorted[place].y < Float(level) { place += 1 }
            entries[level] = UInt8(place)
        }
        self.entries = entries
    }

    /// The index of the palette's colour that is nearest to an opaque pixel.
    ///
    /// The colours that can be nearest to anything in a cell of 4 × 4 × 4 are gathered when the cell is first met.
    @inline(__always)
    package mutating func nearest(_ pixel: UInt32) -> Int {
        let red = pixel >> 2 & 0x3F
        let green = pixel >> 4 & 0xFC0
        let blue = pixel >> 6 & 0x3F000
        let key = Int(red | green | blue)
        if cells.isEmpty { cells = Array(repeating: 0, count: 1 << 18) }
        var cell = cells[key]
        if cell == 0 {
            cell = gather(pixel & 0xFC_FCFC)
            cells[key] = cell
        }
        let first = Int(cell &>> 9)
        var best = candidates[first]
        let count = Int(cell & 511)
        if count > 1 {
            var least = Self.distance(best, pixel)
            for at in first &+ 1..<first &+ count {
                let distance = Self.distance(candidates[at], pixel)
                if distance < least { (least, best) = (distance, candidates[at]) }
            }
        }
        return Int(best &>> 24)
    }

    /// The index of a colour that the palette has.
    package mutating func exactly(_ colour: UInt32) -> Int? {
        let index = nearest(colour)
        return colours[index] == colour ? index : nil
    }

    /// Notes which colours can be nearest to one of a cell: those whose least distance to it isn't over the greatest one of
    /// what is nearest to its middle.
    ///
    /// - Parameter corner: The darkest colour of the cell.
    private mutating func gather(_ corner: UInt32) -> UInt32 {
        let first = candidates.count
        let (low, high) = (Self.channels(corner), Self.channels(corner | 0x03_0303))
        let index = nearest(to: (low + high) / 2, from: nil)
        let middle = sorted[Int(places[index])]
        let reach = Self.greater(middle - low, high - middle)
        let bound = isRough ? 0 : (reach * reach).sum()
        let steps = bound.squareRoot().rounded(.up)
        var place = Int(entries[Int(max(0, low.y - steps))])
        while place < sorted.count, sorted[place].y <= high.y + steps {
            let gap = Self.greater(Self.greater(low - sorted[place], sorted[place] - high), .zero)
            if (gap * gap).sum() <= bound { addCandidate(Int(order[place])) }
            place += 1
        }
        if candidates.count == first { addCandidate(index) }
        return UInt32(truncatingIfNeeded: first << 9 | (candidates.count - first))
    }

    private mutating func addCandidate(_ index: Int) {
        candidates.append(colours[index] & 0xFF_FFFF | UInt32(index) << 24)
    }

    /// The index of the colour that is nearest: from the same green outwards, until green alone is further away.
    ///
    /// - Parameter from: An index that is likely.
    func nearest(to wanted: SIMD4<Float>, from: Int?) -> Int {
        var up = Int(entries[Int(max(0, min(255, wanted.y)))])
        var down = up - 1
        var best = Float.infinity
        var found = 0
        if let from {
            found = Int(places[from])
            let step = sorted[found] - wanted
            best = (step * step).sum()
        }
        while true {
            var isDone = true
            if up < sorted.count {
                let step = sorted[up] - wanted
                if step.y * step.y < best {
                    isDone = false
                    let distance = (step * step).sum()
                    if distance < best { (best, found) = (distance, up) }
                    up += 1
                }
            }
            if down >= 0 {
                let step = sorted[down] - wanted
                if step.y * step.y < best {
                    isDone = false
                    let distance = (step * step).sum()
                    if distance < best { (best, found) = (distance, down) }
                    down -= 1
                }
            }
            if isDone { return Int(order[found]) }
        }
    }

    /// As `pointwiseMax`, which is a call for each vector.
    @inline(__always)
    private static func greater(_ one: SIMD4<Float>, _ other: SIMD4<Float>) -> SIMD4<Float> {
        one.replacing(with: other, where: one .< other)
    }

    static func channels(_ colour: UInt32) -> SIMD4<Float> {
        SIMD4(Float(colour & 255), Float(colour >> 8 & 255), Float(colour >> 16 & 255), 0)
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
