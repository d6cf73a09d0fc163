import Glibc

/// How often something took how long, in bins each of which reaches 1.5 times as far as the one before: from a millisecond
/// to three hours.
public struct Histogram: Hashable, Sendable {
    /// Where the first bin ends, in seconds.
    private static let least = 0.001
    private static let factor = 1.5
    /// Where each bin ends but the last, which has all that took longer.
    private static let bounds = (0..<40).map { least * pow(factor, Double($0)) }
    static let size = bounds.count + 1

    /// By bin; what is missing at the end is zero.
    public private(set) var counts: [Int64]

    public init() {
        counts = []
    }

    /// - Parameter counts: By bin. More than there are bins are left out, as are those below zero.
    public init(counts: [Int64]) {
        self.counts = counts.prefix(Self.size).map { max($0, 0) }
        while self.counts.last == 0 { self.counts.removeLast() }
    }

    public var total: Int64 { counts.reduce(0, +) }

    static func bin(of seconds: Double) -> Int {
        bounds.firstIndex { seconds <= $0 } ?? bounds.count
    }

    /// Counts one that took so many seconds.
    public mutating func add(_ seconds: Double) {
        add(1, to: Self.bin(of: seconds))
    }

    public mutating func add(_ other: Histogram) {
        for (bin, count) in other.counts.enumerated() where count > 0 { add(count, to: bin) }
    }

    private mutating func add(_ count: Int64, to bin: Int) {
        while counts.count <= bin { counts.append(0) }
        counts[bin] += count
    }

    /// In how many seconds a part of all was done, by the bins to within a factor of 1.5: where that part ends in a bin, as
    /// if those in it lay evenly in the logarithm of time. Nil where there is none.
    ///
    /// - Parameter part: 0.5 for the median, 0.95 for what one in twenty exceeds.
    public func quantile(_ part: Double) -> Double? {
        let total = total
        guard total > 0 else { return nil }
        let rank = max(part * Double(total), 1)
        var before: Int64 = 0
        for (bin, count) in counts.enumerated() where count > 0 {
            if Double(before + count) >= rank {
                let share = (rank - Double(before)) / Double(count)
                return Self.least * pow(Self.factor, Double(bin) - 1 + share)
            }
            before += count
        }
        return nil
    }
}

extension Histogram {
    /// Reads the counts, with commas between: `0,0,3`. What is no number is zero.
    public init(text: String) {
        self.init(
            counts: text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                .map { digits in
                    digits.reduce(0) { (0x30...0x39).contains($1) ? $0 &* 10 &+ Int64($1 - 0x30) : $0 }
                })
    }
}
