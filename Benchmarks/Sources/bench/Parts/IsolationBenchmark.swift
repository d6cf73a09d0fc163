extension Part {
    static let isolation = Part(
        "isolation", "what a process of its own costs each source"
    ) { run in
        Findings(try IsolationBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// What it costs to give each source a confined process of its own.
struct IsolationBenchmark {
    let workplace: Workplace
    let sources: Directory
    let count: Int
    let rounds: Int

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        count = 400
        sources = try inputs.tinyPictures(count)
    }

    func measure() throws -> [Measurement] {
        var alone: [Usage] = []
        var shared: [Usage] = []
        for round in 0..<rounds {
            Progress.say("isolation, round \(round + 1) of \(rounds)")
            alone.append(try batch(sourcesPerProcess: 1).run())
            shared.append(try batch(sourcesPerProcess: 1000).run())
        }
        func each(_ usages: [Usage], _ figure: (Usage) -> Double) -> [Double] {
            usages.map { figure($0) / Double(count) * 1000 }
        }
        let cost = each(alone, \.cpu)
        let warm = each(shared, \.cpu)
        return [
            Measurement(
                "isolation.cpu", "A process per source: CPU over the same work in a warm process", .milliseconds,
                zip(cost, warm).map { $0 - $1 }, target: .atMost(8)),
            Measurement("isolation.cpu_alone", "— CPU per picture of 64 × 64, a process each", .milliseconds, cost),
            Measurement("isolation.cpu_shared", "— CPU per picture, shared processes", .milliseconds, warm),
            Measurement(
                "isolation.rate_alone", "— pictures, a process each", .perSecond,
                alone.map { Double(count) / $0.wall }),
            Measurement(
                "isolation.rate_shared", "— pictures, shared processes", .perSecond,
                shared.map { Double(count) / $0.wall }),
        ]
    }

    private func batch(sourcesPerProcess: Int) -> Command {
        workplace.satchel(["batch", sources.path, "--sources-per-process", "\(sourcesPerProcess)"])
    }
}
