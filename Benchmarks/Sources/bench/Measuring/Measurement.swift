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

/// What a figure counts.
enum Unit: String, Sendable, Codable {
    /// A quotient.
    case ratio = ""
    case microseconds = "µs"
    case milliseconds = "ms"
    case seconds = "s"
    case bytes = "B"
    case kilobytes = "kB"
    case megabytes = "MB"
    case perSecond = "per s"
    case count = "in all"
    case perThousand = "of 1,000"
    case decibels = "dB"
    /// Structural similarity: 1 where two pictures are alike.
    case similarity = "SSIM"
    case instructions = "instructions"
}

/// One line of the result.
struct Measurement: Sendable {
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

    /// By the median; nil where there is no target, or no figure.
    var isMet: Bool? { spread.median.isFinite ? target?.isMet(by: spread.median) : nil }
}

extension Measurement: Codable {
    private enum Key: String, CodingKey {
        case name, title, unit, result, atMost, atLeast, met
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        title = try container.decode(String.self, forKey: .title)
        unit = try container.decode(Unit.self, forKey: .unit)
        spread = try container.decode(Spread.self, forKey: .result)
        if let limit = try container.decodeIfPresent(Double.self, forKey: .atMost) {
            target = .atMost(limit)
        } else {
            target = try container.decodeIfPresent(Double.self, forKey: .atLeast).map { .atLeast($0) }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(title, forKey: .title)
        try container.encode(unit, forKey: .unit)
        try container.encode(spread, forKey: .result)
        switch target {
        case .atMost(let limit): try container.encode(limit, forKey: .atMost)
        case .atLeast(let limit): try container.encode(limit, forKey: .atLeast)
        case nil: break
        }
        try container.encodeIfPresent(isMet, forKey: .met)
    }
}
