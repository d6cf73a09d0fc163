import Foundation

extension Part {
    static let storm = Part("storm", "small pictures in thousands, beside a bare loop of libvips") { run in
        try StormBenchmark(run).measure()
    }
}

/// 10,000 distinct pictures of 20 kB (1,000 in the short run): a batch, durable commits included, beside libvips in a loop
/// that writes files and syncs nothing.
private struct StormBenchmark {
    private let run: RunContext
    private let task = StillTask.photographs
    private let set: SourceSet
    private let stills: SatchelStills

    init(_ run: RunContext) throws {
        self.run = run
        stills = try SatchelStills(task, run.workplace)
        set = try run.sources(
            .photographs, synthetic: { try run.inputs.storm(run.isFull ? 10_000 : 1_000) }, refusals: stills.refusals)
    }

    func measure() throws -> Findings {
        let sources = set.files
        let judge = StillJudge(run.options, run.workplace)
        // All are made; a hundred are looked at.
        let looked = stride(from: 0, to: sources.count, by: max(1, sources.count / 100)).map { sources[$0] }
        let comparison = try Contest(
            name: "storm", title: "\(set.pictures) to 1024 (no larger than they are) and 300 pixels",
            item: "picture",
            contenders: [
                stills.batch(sourcesPerProcess: 1000, .fast), stills.batch(sourcesPerProcess: 1, .fast),
                stills.batch(sourcesPerProcess: 1000, .standard), stills.batch(sourcesPerProcess: 1, .standard),
            ] + StillPeers.libraries(task, run).filter { ["pyvips", "pillow-simd"].contains($0.name) },
            sources: sources, measure: "pyvips", rounds: run.rounds, workplace: run.workplace,
            lookColumns: StillJudge.columns(task)
        ).hold { _, place in
            for source in sources {
                for size in task.sizes {
                    let output = task.output(of: source, size, in: place)
                    guard FileManager.default.fileExists(atPath: output) else {
                        throw CommandFailure(command: [output], reason: "was not made")
                    }
                }
            }
            return try judge.figures(task, looked, in: place)
        }
        func ratio(_ row: String) -> [Double] {
            zip(comparison[row]?["rate"]?.samples ?? [], comparison["pyvips"]?["rate"]?.samples ?? []).map { $0 / $1 }
        }
        let figures: [(name: String, title: String, row: String, target: Target?)] = [
            (
                "shared", "Small pictures, fast, shared processes: rate in terms of a bare loop of libvips",
                "satchel-fast-1000", .atLeast(0.6)
            ),
            ("alone", "— a process for each source", "satchel-fast-1", .atLeast(0.35)),
            ("shared_standard", "— at full quality, shared processes", "satchel-standard-1000", nil),
            ("alone_standard", "— at full quality, a process for each source", "satchel-standard-1", nil),
        ]
        return Findings(
            figures.compactMap { figure in
                let samples = ratio(figure.row)
                return samples.isEmpty
                    ? nil : Measurement("storm.\(figure.name)", figure.title, .ratio, samples, target: figure.target)
            }, comparisons: [comparison],
            plots: [
                Plot(
                    "storm-rate", "Pictures a second of \(set.pictures), \(Machine.usableCores.count) cores",
                    of: comparison,
                    column: "rate", axis: Plot.Axis(label: "pictures per second"))
            ], notes: set.notes)
    }
}
