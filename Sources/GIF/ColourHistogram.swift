/// How often colours occur, by cells of 5 or 6 bits a channel.
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
