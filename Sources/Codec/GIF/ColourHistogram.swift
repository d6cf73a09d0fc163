/// How often colours occur, by cells of 5 or 6 bits a channel.
struct ColourHistogram {
    /// What fell into one cell.
    struct Cell {
        /// Red, green, blue, and the weight of all.
        var sum = SIMD4<Float>.zero
        /// The colour that most of the cell has, where one has most of it.
        var common: UInt32 = 0
        var lead: Float = 0
    }

    /// Of each cell, by the upper bits of its colours; -1 where there is none.
    private var places: [Int32]
    private(set) var cells: [Cell] = []
    private let bits: UInt32

    init(bits: Int) {
        self.bits = UInt32(bits)
        places = Array(repeating: -1, count: 1 << (bits * 3))
    }

    mutating func add(_ pixel: UInt32, weight: Float = 1) {
        let mask = (1 as UInt32) &<< bits &- 1
        let red = pixel &>> (8 &- bits) & mask
        let green = pixel &>> (16 &- bits) & mask
        let blue = pixel &>> (24 &- bits) & mask
        let key = Int(red | green &<< bits | blue &<< (2 &* bits))
        var place = Int(places[key])
        if place < 0 {
            place = cells.count
            cells.append(Cell())
            places[key] = Int32(truncatingIfNeeded: place)
        }
        cells[place].sum += (ColourSearch.channels(pixel) + SIMD4(0, 0, 0, 1)) * weight
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
