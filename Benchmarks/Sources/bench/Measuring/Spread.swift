/// What several rounds came to.
struct Spread: Hashable, Sendable {
    var samples: [Double]

    /// - Parameter samples: At least one; those that are no numbers, quotients with nothing to divide by, count for nothing.
    init(_ samples: [Double]) {
        precondition(!samples.isEmpty, "no round was measured")
        self.samples = samples
    }

    private var numbers: [Double] { samples.filter(\.isFinite) }

    /// Not a number where no sample is one.
    var median: Double {
        let sorted = numbers.sorted()
        guard !sorted.isEmpty else { return .nan }
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    var least: Double { numbers.min() ?? .nan }
    var most: Double { numbers.max() ?? .nan }
}

extension Spread: Codable {
    private enum Key: String, CodingKey {
        case median, minimum, maximum, samples
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let samples = try container.decode([Double?].self, forKey: .samples)
        guard !samples.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .samples, in: container, debugDescription: "is empty")
        }
        self.init(samples.map { $0 ?? .nan })
    }

    /// JSON has no word for what is no number but `null`.
    func encode(to encoder: any Encoder) throws {
        func known(_ value: Double) -> Double? { value.isFinite ? value : nil }
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(known(median), forKey: .median)
        try container.encode(known(least), forKey: .minimum)
        try container.encode(known(most), forKey: .maximum)
        try container.encode(samples.map(known), forKey: .samples)
    }
}

/// Divisions that may have nothing to divide by: not a number then, which tables show as a dash.
enum Quotient {
    static func of(_ value: Double, by other: Double) -> Double {
        let quotient = value / other
        return quotient.isFinite ? quotient : .nan
    }

    static func of(_ value: Int, by other: Int) -> Double { of(Double(value), by: Double(other)) }

    static func mean(_ values: [Double]) -> Double { of(values.reduce(0, +), by: Double(values.count)) }
}
