/// What several rounds came to.
struct Spread: Hashable, Sendable {
    var samples: [Double]

    /// - Parameter samples: At least one.
    init(_ samples: [Double]) {
        precondition(!samples.isEmpty, "no round was measured")
        self.samples = samples
    }

    var median: Double {
        let sorted = samples.sorted()
        let middle = sorted.count / 2
        return sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
    }

    var least: Double { samples.reduce(samples[0], min) }
    var most: Double { samples.reduce(samples[0], max) }
}

extension Spread: Codable {
    private enum Key: String, CodingKey {
        case median, minimum, maximum, samples
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let samples = try container.decode([Double].self, forKey: .samples)
        guard !samples.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .samples, in: container, debugDescription: "is empty")
        }
        self.init(samples)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(median, forKey: .median)
        try container.encode(least, forKey: .minimum)
        try container.encode(most, forKey: .maximum)
        try container.encode(samples, forKey: .samples)
    }
}
