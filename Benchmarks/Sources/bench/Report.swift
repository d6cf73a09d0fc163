import Foundation

/// What a run measured, for people and for programs.
struct Report: Sendable {
    var machine: Machine
    var rounds: Int
    var measurements: [Measurement]

    var areAllMet: Bool { !measurements.contains { $0.isMet == false } }
}

extension Report {
    /// A table in Markdown, which a terminal shows as well.
    var table: String {
        let head = ["what", "target", "median (min – max)", "met"]
        let rows = measurements.map { row in
            [row.title, row.targetText, row.resultText, row.isMet.map { $0 ? "yes" : "**no**" } ?? ""]
        }
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.reduce(0, max) }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
    }
}

extension Measurement {
    fileprivate var targetText: String {
        switch target {
        case .atMost(let limit): "at most \(text(limit))"
        case .atLeast(let limit): "at least \(text(limit))"
        case nil: ""
        }
    }

    fileprivate var resultText: String {
        "\(text(spread.median)) (\(number(spread.least)) – \(number(spread.most)))"
    }

    private func text(_ value: Double) -> String {
        unit == .ratio ? number(value) : "\(number(value)) \(unit.rawValue)"
    }

    private func number(_ value: Double) -> String {
        String(format: unit == .ratio ? "%.2f" : "%.1f", value)
    }
}

extension Report: Encodable {
    private enum Key: String, CodingKey {
        case machine, rounds, measurements
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(machine, forKey: .machine)
        try container.encode(rounds, forKey: .rounds)
        try container.encode(measurements, forKey: .measurements)
    }

    func write(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        try encoder.encode(self).write(to: url)
    }
}

extension Measurement: Encodable {
    private enum Key: String, CodingKey {
        case name, title, unit, result, atMost, atLeast, met
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(title, forKey: .title)
        try container.encode(unit.rawValue, forKey: .unit)
        try container.encode(spread, forKey: .result)
        switch target {
        case .atMost(let limit): try container.encode(limit, forKey: .atMost)
        case .atLeast(let limit): try container.encode(limit, forKey: .atLeast)
        case nil: break
        }
        try container.encodeIfPresent(isMet, forKey: .met)
    }
}
