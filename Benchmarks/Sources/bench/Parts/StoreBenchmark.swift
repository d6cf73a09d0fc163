import Foundation

extension Part {
    static let store = Part(
        "store", "what a store is asked, by how much it holds: up to 1,000,000 with --full"
    ) { run in
        try StoreBenchmark(workplace: run.workplace, isFull: run.isFull).measure()
    }
}

/// What a store is asked all the time, while it holds from 1,000 to 1,000,000 pending jobs, attachments and live leases:
/// that should cost the same.
struct StoreBenchmark {
    let workplace: Workplace
    let isFull: Bool

    /// As `inner-bench` names them.
    private static let questions = [
        ("submit", "submit a job"), ("claim", "claim a job"), ("deliver", "deliver it"),
        ("list", "list 50 attachments"), ("list.jobs", "list 50 pending jobs"),
        ("list.filtered", "list 50 images from the middle"), ("read", "read an attachment"),
        ("lease-check", "check a lease"), ("lease.start", "start a lease"), ("lease.stop", "stop it"),
        ("statistics", "count all for health and metrics"),
    ]
    /// The dearest is not to cost this much more at the largest size than at the smallest: trees are two levels deeper.
    private static let limit = 1.5

    private var counts: [Int] { [1000, 10_000, 100_000] + (isFull ? [1_000_000] : []) }

    /// Microseconds: what one round found for one question.
    private struct Answer {
        var median: Double
        var slow: Double
        var cpu: Double
    }

    func measure() throws -> Findings {
        Progress.say("a store that holds up to \(counts[counts.count - 1]) of everything")
        let answers = try ask()
        func spread(_ count: Int, _ question: String, _ value: (Answer) -> Double) throws -> Spread {
            guard let found = answers[count]?[question], !found.isEmpty else {
                throw CommandFailure(command: ["inner-bench", "store"], reason: "said nothing of '\(question)'")
            }
            return Spread(found.map(value))
        }
        let (least, most) = (counts[0], counts[counts.count - 1])
        var growth: [Measurement] = []
        var series: [Plot.Series] = []
        for (name, title) in Self.questions {
            let small = try spread(least, name, \.cpu)
            let large = try spread(most, name, \.cpu)
            growth.append(
                Measurement(
                    "store.growth.\(name)",
                    "To \(title): CPU with \(most) of everything, in terms of that with \(least)",
                    .ratio, large.samples.map { $0 / small.median }, target: .atMost(Self.limit)))
            series.append(
                Plot.Series(
                    label: title, role: .own,
                    points: try counts.map { Plot.Point(x: Double($0), y: try spread($0, name, \.cpu).median) }))
        }
        let plot = Plot(
            name: "store", title: "A question to the records, by how much they hold",
            form: .lines(
                series, x: Plot.Axis(label: "pending jobs, attachments and leases, each", isLogarithmic: true),
                y: Plot.Axis(label: "CPU, µs", isLogarithmic: true)))
        return Findings(growth, comparisons: [try table(spread)], plots: [plot])
    }

    /// Every question at every size.
    private func table(
        _ spread: (Int, String, (Answer) -> Double) throws -> Spread
    ) throws -> Comparison {
        let columns = counts.flatMap { count in
            [
                Comparison.Column(name: "cpu.\(count)", title: "CPU with \(count)", unit: .microseconds),
                Comparison.Column(name: "p50.\(count)", title: "p50", unit: .microseconds),
                Comparison.Column(name: "p99.\(count)", title: "p99", unit: .microseconds),
            ]
        }
        let rows = try Self.questions.map { name, title in
            Comparison.Row(
                name: name, title: title, role: .own,
                figures: try counts.flatMap { count in
                    [
                        Comparison.Figure(column: "cpu.\(count)", spread: try spread(count, name, \.cpu)),
                        Comparison.Figure(column: "p50.\(count)", spread: try spread(count, name, \.median)),
                        Comparison.Figure(column: "p99.\(count)", spread: try spread(count, name, \.slow)),
                    ]
                })
        }
        return Comparison(
            name: "store", title: "A store of many pending jobs, attachments and live leases", columns: columns,
            rows: rows)
    }

    /// By size and question, a value for each round.
    private func ask() throws -> [Int: [String: [Answer]]] {
        let place = workplace.scratch.appending(path: "many", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let piece = try InnerPiece(
            workplace.innerBench, ["store", place.path(percentEncoded: false)] + counts.map(String.init))
        let lines = try piece.lines(counts.count * Self.questions.count * 3, in: workplace)
        var answers: [Int: [String: [Answer]]] = [:]
        for line in lines {
            let figures = line.dropFirst(3).compactMap(Double.init)
            guard line.count == 6, let count = Int(line[0]), figures.count == 3 else {
                throw CommandFailure(
                    command: piece.command.line, reason: "answered '\(line.joined(separator: " "))'")
            }
            answers[count, default: [:]][line[1], default: []].append(
                Answer(median: figures[0], slow: figures[1], cpu: figures[2]))
        }
        return answers
    }
}
