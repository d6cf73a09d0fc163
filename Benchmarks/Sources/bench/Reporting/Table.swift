import Foundation

/// Cells in columns, in Markdown, which a terminal shows as well.
struct Table {
    var head: [String]
    var rows: [[String]]

    var text: String {
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.reduce(0, max) }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        return ([line(head), rule] + rows.map(line)).joined(separator: "\n")
    }
}

extension Table {
    init(_ measurements: [Measurement]) {
        head = ["what", "target", "median (min – max)", "met"]
        rows = measurements.map { row in
            let target =
                switch row.target {
                case .atMost(let limit): "at most \(row.unit.text(limit))"
                case .atLeast(let limit): "at least \(row.unit.text(limit))"
                case nil: ""
                }
            return [
                row.title, target, row.spread.text(in: row.unit), row.isMet.map { $0 ? "yes" : "**no**" } ?? "",
            ]
        }
    }

    init(_ comparison: Comparison) {
        head = ["who"] + comparison.columns.map(\.title)
        rows = comparison.rows.filter { $0.absence == nil }.map { row in
            [row.title] + comparison.columns.map { column in row[column.name]?.text(in: column.unit) ?? "" }
        }
    }
}

extension Spread {
    /// The median, and where there is a spread, what it spreads over.
    func text(in unit: Unit) -> String {
        guard most > least else { return unit.text(median) }
        return "\(unit.text(median)) (\(unit.number(least)) – \(unit.number(most)))"
    }
}

extension Unit {
    /// A dash where there is no value: of a quotient with nothing to divide by, or a mean of nothing.
    func text(_ value: Double) -> String {
        guard value.isFinite else { return number(value) }
        return rawValue.isEmpty || self == .similarity ? number(value) : "\(number(value)) \(rawValue)"
    }

    func number(_ value: Double) -> String {
        guard value.isFinite else { return "–" }
        return switch self {
        case .ratio: String(format: "%.2f", value)
        case .similarity: String(format: "%.4f", value)
        case .bytes, .instructions: String(format: "%.0f", value)
        default: String(format: "%.1f", value)
        }
    }
}

extension PartResult {
    /// For a terminal and for a page: what was measured, in tables.
    var text: String {
        var pieces: [String] = []
        if let failure { pieces.append("Not measured: \(failure)") }
        for comparison in probeResult.comparisons {
            pieces.append("**\(comparison.title)**\n\n\(Table(comparison).text)")
            let absent = comparison.rows.compactMap { row in row.absence.map { "No figure for \(row.title): \($0)" } }
            if !absent.isEmpty { pieces.append(absent.joined(separator: "\n\n")) }
        }
        if !measurements.isEmpty { pieces.append(Table(measurements).text) }
        if !probeResult.notes.isEmpty { pieces.append(probeResult.notes.joined(separator: "\n\n")) }
        let day = measuredAt.formatted(.iso8601.year().month().day())
        let files = corpus.map { ", on the files of '\($0)'" } ?? ""
        pieces.append("Measured on \(day), \(rounds) rounds\(files), on \(machine.text).")
        if machine.isBusy {
            let load = String(format: "%.1f", machine.load)
            pieces.append("The machine was busy (load \(load)): wall times and the gain of a second core say little.")
        }
        return pieces.joined(separator: "\n\n")
    }
}
