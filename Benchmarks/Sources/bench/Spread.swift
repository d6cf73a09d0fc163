/// What several rounds came to.
struct Spread: Hashable, Sendable, Encodable {
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

    private enum Key: String, CodingKey {
        case median, minimum, maximum, samples
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(median, forKey: .median)
        try container.encode(least, forKey: .minimum)
        try container.encode(most, forKey: .maximum)
        try container.encode(samples, forKey: .samples)
    }
}

/// What a figure is to keep to.
enum Target: Hashable, Sendable {
    case atMost(Double)
    case atLeast(Double)

    func isMet(by value: Double) -> Bool {
        switch self {
        case .atMost(let limit): value <= limit
        case .atLeast(let limit): value >= limit
        }
    }
}

/// One line of the result.
struct Measurement: Sendable {
    enum Unit: String, Sendable {
        /// A quotient.
        case ratio = ""
        case milliseconds = "ms"
        case megabytes = "MB"
        case perSecond = "per s"
        case count = "in all"
        case perThousand = "of 1,000"
        case decibels = "dB"
    }

    /// For programs: never reworded.
    var name: String
    /// For people.
    var title: String
    var unit: Unit
    var spread: Spread
    /// Nil where the figure only explains another.
    var target: Target?

    init(_ name: String, _ title: String, _ unit: Unit, _ samples: [Double], target: Target? = nil) {
        self.name = name
        self.title = title
        self.unit = unit
        spread = Spread(samples)
        self.target = target
    }

    /// By the median; nil where there is no target.
    var isMet: Bool? { target?.isMet(by: spread.median) }
}
