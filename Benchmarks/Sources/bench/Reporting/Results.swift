import Foundation

/// What one part came to, and on what.
struct PartResult: Sendable {
    var part: String
    /// `short` or `full`.
    var extent: String
    var rounds: Int
    var seed: UInt64
    /// The name of the user's directory; nil where inputs were synthetic.
    var corpus: String?
    var machine: Machine
    var measuredAt = Date()
    /// How long it took, with the making of its inputs.
    var seconds = 0.0
    var probeResult = Findings()
    /// Why it has no findings.
    var failure: String?

    var measurements: [Measurement] { probeResult.measurements }
}

/// Everything that is kept of runs, by part.
struct Results: Sendable {
    private(set) var parts: [PartResult] = []

    init() {}

    /// - Returns: Nothing where there is no such file.
    /// - Throws: ``CommandFailure`` where it can't be read.
    init(of file: URL) throws {
        guard FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) else { return }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        do {
            parts = try decoder.decode(Results.self, from: Data(contentsOf: file)).parts
        } catch {
            throw CommandFailure(
                command: [file.path(percentEncoded: false)],
                reason: "is of another version; move it away, and measure all parts (\(error))")
        }
    }

    /// Takes the place of an earlier result of the same part.
    mutating func merge(_ result: PartResult) {
        parts.removeAll { $0.part == result.part }
        parts.append(result)
        let order = Part.all.map(\.name)
        parts.sort { (order.firstIndex(of: $0.part) ?? .max) < (order.firstIndex(of: $1.part) ?? .max) }
    }

    func result(of part: Part) -> PartResult? { parts.first { $0.part == part.name } }

    /// Whether the part was measured already as these options would measure it.
    func have(_ part: Part, as options: Options) -> Bool {
        guard let result = result(of: part) else { return false }
        return result.failure == nil && result.extent == options.extent && result.seed == options.seed
            && result.rounds == options.rounds && result.corpus == options.corpus?.lastPathComponent
    }

    /// Replaces the file in one step.
    func write(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        try encoder.encode(self).write(to: url, options: .atomic)
    }
}

extension Results: Codable {}

extension PartResult: Codable {
    private enum Key: String, CodingKey {
        case part, extent, rounds, seed, corpus, machine, measuredAt, seconds, measurements, comparisons, plots, notes,
            failure
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        part = try container.decode(String.self, forKey: .part)
        extent = try container.decode(String.self, forKey: .extent)
        rounds = try container.decode(Int.self, forKey: .rounds)
        seed = try container.decode(UInt64.self, forKey: .seed)
        corpus = try container.decodeIfPresent(String.self, forKey: .corpus)
        machine = try container.decode(Machine.self, forKey: .machine)
        measuredAt = try container.decode(Date.self, forKey: .measuredAt)
        seconds = try container.decode(Double.self, forKey: .seconds)
        probeResult = Findings(
            try container.decode([Measurement].self, forKey: .measurements),
            comparisons: try container.decode([Comparison].self, forKey: .comparisons),
            plots: try container.decode([Plot].self, forKey: .plots),
            notes: try container.decodeIfPresent([String].self, forKey: .notes) ?? [])
        failure = try container.decodeIfPresent(String.self, forKey: .failure)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(part, forKey: .part)
        try container.encode(extent, forKey: .extent)
        try container.encode(rounds, forKey: .rounds)
        try container.encode(seed, forKey: .seed)
        try container.encodeIfPresent(corpus, forKey: .corpus)
        try container.encode(machine, forKey: .machine)
        try container.encode(measuredAt, forKey: .measuredAt)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(probeResult.measurements, forKey: .measurements)
        try container.encode(probeResult.comparisons, forKey: .comparisons)
        try container.encode(probeResult.plots, forKey: .plots)
        if !probeResult.notes.isEmpty { try container.encode(probeResult.notes, forKey: .notes) }
        try container.encodeIfPresent(failure, forKey: .failure)
    }
}
