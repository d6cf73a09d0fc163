import Foundation

/// SplitMix64: a small generator whose numbers follow from its seed (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    init(state: UInt64) {
        self.state = state
    }

    /// Numbers of their own for each name and index, whatever else is made of the seed.
    init(seed: UInt64, _ name: String, _ index: Int = 0) {
        // FNV-1a over the name.
        let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        state = seed ^ hash
        state = next() ^ UInt64(truncatingIfNeeded: index)
        state = next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// From 0 up to, not including, 1.
    mutating func unit() -> Double {
        Double(next() >> 11) / Double(1 << 53)
    }

    mutating func between(_ least: Double, _ most: Double) -> Double { least + (most - least) * unit() }

    /// Of mean 0 and deviation 1 (Box and Muller).
    mutating func normal() -> Double {
        sqrt(-2 * log(1 - unit())) * cos(2 * .pi * unit())
    }
}
