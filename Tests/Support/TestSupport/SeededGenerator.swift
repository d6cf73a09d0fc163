import Foundation

/// Random numbers that are the same in every run, so that a failure can be looked at again.
///
/// With `SATCHEL_TEST_SEED=7` in the environment they are others: a way to try more than a run of the tests does.
///
/// SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    private static let offset = ProcessInfo.processInfo.environment["SATCHEL_TEST_SEED"].flatMap(UInt64.init) ?? 0

    public init(seed: UInt64 = 1) {
        // Neighbouring seeds would have most of their numbers in common.
        state = (seed &+ Self.offset) &* 0xD134_2543_DE82_EF95
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
