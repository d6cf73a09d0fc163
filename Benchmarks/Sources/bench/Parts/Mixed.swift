import Foundation

extension Part {
    static let mixed = Part("mixed", "a directory of photographs, pictures, clips, sounds and junk") { run in
        try MixedBenchmark(run).measure()
    }
}

/// A directory as people have them: how soon it is done, and how long each file takes.
private struct MixedBenchmark {
    private let workplace: Workplace
    private let sources: Directory
    private let rounds: Int
    /// How many can be made something of; nil where nobody knows.
    private let media: Int?

    init(_ run: RunContext) throws {
        workplace = run.workplace
        rounds = run.rounds
        if let corpus = run.corpus {
            sources = try corpus.sources(.all).directory
            media = nil
        } else {
            let count = run.isFull ? 400 : 120
            sources = try run.inputs.mixed(count)
            media = (0..<count).filter { Inputs.mixedKind($0).isMedia }.count
        }
    }

    func measure() throws -> Findings {
        let files = try sources.files.count
        let memory = try MemoryWatch.peak { try pass(sourcesPerProcess: 1) }.bytes
        var found: [Measurement] = []
        var alone: [BatchReport] = []
        var shared: [BatchReport] = []
        for round in 0..<rounds {
            Progress.say("a mixed directory, round \(round + 1) of \(rounds)")
            alone.append(try pass(sourcesPerProcess: 1))
            shared.append(try pass(sourcesPerProcess: 1000))
            try workplace.clear()
        }
        func add(_ name: String, _ title: String, _ unit: Unit, _ samples: [Double]) {
            found.append(Measurement("mixed.\(name)", title, unit, samples))
        }
        let count = Double(files)
        add(
            "rate", "A mixed directory of \(files) files, a process each", .perSecond,
            alone.map { count / $0.usage.wall })
        add("rate_shared", "— shared processes", .perSecond, shared.map { count / $0.usage.wall })
        add("cpu", "— CPU per file, a process each", .milliseconds, alone.map { $0.usage.cpu / count * 1000 })
        add("cpu_shared", "— CPU per file, shared processes", .milliseconds, shared.map { $0.usage.cpu / count * 1000 })
        let latencies = alone.map { pass in
            Percentiles(pass.lines.filter { $0.isDelivered }.map { $0.seconds * 1000 })
        }
        add("latency_p50", "— time of a file, p50", .milliseconds, latencies.map(\.p50))
        add("latency_p95", "— p95", .milliseconds, latencies.map(\.p95))
        add("latency_p99", "— p99", .milliseconds, latencies.map(\.p99))
        add("memory", "— peak memory of all processes", .megabytes, [Double(memory) / 1e6])
        add(
            "undelivered", "— not delivered, as they are no media or damaged", .count,
            alone.map { Double($0.lines.filter { !$0.isDelivered }.count) })
        return Findings(found)
    }

    private func pass(sourcesPerProcess: Int) throws -> BatchReport {
        let report = try BatchReport(
            workplace.satchel(["batch", sources.path, "--sources-per-process", "\(sourcesPerProcess)"]), workplace)
        try check(report.lines, report.command)
        return report
    }

    /// Media is delivered and nothing else is, else it is something else that was measured.
    private func check(_ lines: [BatchReport.Line], _ command: Command) throws {
        guard let media else { return }
        for line in lines {
            let name = URL(filePath: line.path).deletingPathExtension().lastPathComponent
            guard let index = Int(name), Inputs.mixedKind(index).isMedia == line.isDelivered else {
                throw CommandFailure(command: command.line, reason: "\(line.path) came out as \(line.state)")
            }
        }
        let delivered = lines.filter { $0.isDelivered }.count
        guard delivered == media else {
            throw CommandFailure(command: command.line, reason: "delivered \(delivered) of \(media)")
        }
    }
}
