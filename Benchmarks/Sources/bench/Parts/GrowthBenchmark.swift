import Foundation

extension Part {
    static let growth = Part(
        "growth", "cost against pixels, frames and seconds, which should be linear"
    ) { run in
        try GrowthBenchmark(run).measure()
    }
}

/// How CPU grows with the source: of `satchel batch` over one file, less that over a picture of 64 by 64.
struct GrowthBenchmark {
    private let workplace: Workplace
    private let inputs: Inputs
    private let rounds: Int
    private let kinds: [GrowingSources]

    init(_ run: RunContext) throws {
        workplace = run.workplace
        inputs = run.inputs
        rounds = run.rounds
        kinds = GrowingSources.all(isFull: run.isFull)
    }

    /// No faster than this with the size: 1 is linear, and what every source costs makes it less.
    private static let limit = 1.1
    /// Of the sizes, how many of the largest the figures are about.
    private static let considered = 4

    func measure() throws -> Findings {
        let profiles = try profiles()
        let bare = try inputs.tinyPictures(1)
        var sources: [[Directory]] = []
        for kind in kinds { sources.append(try kind.sizes.map { try kind.sources($0, of: inputs) }) }
        // By kind, size and round: seconds.
        var costs = kinds.map { kind in kind.sizes.map { _ in [Double]() } }
        for round in 0..<rounds {
            let start = try cost(of: bare, profiles)
            for (kind, directories) in sources.enumerated() {
                Progress.say("growth of \(kinds[kind].title), round \(round + 1) of \(rounds)")
                for (size, directory) in directories.enumerated() {
                    let cost = (try cost(of: directory, profiles) - start) / Double(kinds[kind].count)
                    costs[kind][size].append(max(cost, 1e-4))
                }
            }
            try workplace.clear()
        }
        var measurements: [Measurement] = []
        var series: [GrowingSources.Unit: [Plot.Series]] = [:]
        for (kind, found) in zip(kinds, costs) {
            let sizes = kind.sizes.map(Double.init)
            // Of small ones so little is left beside the start that it says nothing.
            let large = sizes.count - Self.considered
            let exponents = (0..<rounds).map { round in
                Self.exponent(of: found[large...].map { $0[round] }, over: Array(sizes[large...]))
            }
            measurements.append(
                Measurement(
                    "growth.\(kind.name)",
                    "CPU of \(kind.title), as a power of its \(kind.unit.rawValue)", .ratio, exponents,
                    target: .atMost(Self.limit)))
            let medians = found.map { Spread($0).median }
            measurements.append(
                Measurement(
                    "growth.\(kind.name).worst",
                    "— the most that a part of it costs, in terms of what a part of a smaller one costs", .ratio,
                    [Self.worst(Array(medians[large...]), over: Array(sizes[large...]))]))
            measurements.append(
                Measurement(
                    "growth.\(kind.name).largest",
                    "— CPU with \(kind.sizes[kind.sizes.count - 1]) \(kind.unit.rawValue)",
                    .milliseconds, found[found.count - 1].map { $0 * 1000 }))
            series[kind.unit, default: []].append(
                Plot.Series(
                    label: kind.title, role: .own,
                    points: zip(sizes, medians).map { Plot.Point(x: $0, y: $1 * 1000) }))
        }
        let plots = GrowingSources.Unit.allCases.compactMap { unit in
            series[unit].map { lines in
                Plot(
                    name: "growth-\(unit.rawValue)", title: "CPU against \(unit.rawValue)",
                    form: .lines(
                        lines, x: Plot.Axis(label: unit.rawValue, isLogarithmic: true),
                        y: Plot.Axis(label: "CPU, ms", isLogarithmic: true)))
            }
        }
        return Findings(measurements, plots: plots)
    }

    /// Seconds of processors.
    private func cost(of directory: Directory, _ profiles: String) throws -> Double {
        try workplace.satchel(
            ["batch", directory.path, "--profiles", profiles, "--profile", "growth"]
        ).run().cpu
    }

    /// A profile under which nothing has to be tried twice.
    private func profiles() throws -> String {
        let url = workplace.directory.appending(path: "growth.yaml")
        let text = """
            profiles:
              growth:
                based_on: message
                animation: {longest_side: 240, aim: 100000000, cap: 100000000}
                video: {aim: 1000000000, cap: 1000000000, maximum_duration: 900}
                audio: {aim: 100000000, cap: 100000000, maximum_duration: 900}
            """
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }
}

extension GrowthBenchmark {
    /// Of the power law that is nearest to the costs: the slope between their logarithms.
    static func exponent(of costs: [Double], over sizes: [Double]) -> Double {
        let (x, y) = (sizes.map { log($0) }, costs.map { log($0) })
        let (meanX, meanY) = (x.reduce(0, +) / Double(x.count), y.reduce(0, +) / Double(y.count))
        let above = zip(x, y).reduce(0) { $0 + ($1.0 - meanX) * ($1.1 - meanY) }
        return above / x.reduce(0) { $0 + ($1 - meanX) * ($1 - meanX) }
    }

    /// By how much a part of a larger source costs more than a part of a smaller one, at the worst.
    static func worst(_ costs: [Double], over sizes: [Double]) -> Double {
        let parts = zip(costs, sizes).map { $0 / $1 }
        var (least, worst) = (parts[0], 0.0)
        for part in parts.dropFirst() {
            worst = max(worst, part / least)
            least = min(least, part)
        }
        return worst
    }
}
