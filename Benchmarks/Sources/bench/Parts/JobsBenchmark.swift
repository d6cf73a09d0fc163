import Foundation

extension Part {
    static let jobs = Part(
        "jobs", "photographs over HTTP beside a batch of them; latency against load"
    ) { run in
        let jobs = try JobsBenchmark(
            workplace: run.workplace, inputs: run.inputs, rounds: run.rounds, isFull: run.isFull)
        let (loads, plot) = try LoadBenchmark(run).measure()
        return Findings(try jobs.measure() + loads, plots: [plot])
    }
}

/// Jobs over HTTP beside a batch over the same files: what the network side of the service costs.
struct JobsBenchmark {
    let workplace: Workplace
    let sources: Directory
    let rounds: Int

    private let count: Int
    private static let clients = [1, 2, 32]

    init(workplace: Workplace, inputs: Inputs, rounds: Int, isFull: Bool) throws {
        self.workplace = workplace
        self.rounds = min(3, rounds)
        count = isFull ? 96 : 48
        sources = try inputs.photographs(count)
    }

    /// What some clients found.
    private struct Round {
        /// Photographs a second, from the first request to the last answer.
        var rate: Double
        /// Milliseconds from a request to its answer.
        var latency: Percentiles
    }

    func measure() throws -> [Measurement] {
        let bodies = try sources.files.map { try Data(contentsOf: URL(filePath: $0), options: .alwaysMapped) }
        var batches: [Double] = []
        var services: [Int: [Round]] = [:]
        for round in 0..<rounds {
            Progress.say("jobs over HTTP, round \(round + 1) of \(rounds)")
            batches.append(Double(count) / (try workplace.satchel(["batch", sources.path]).run().wall))
            for clients in Self.clients {
                services[clients, default: []].append(try submit(bodies, clients: clients))
            }
        }
        var measurements: [Measurement] = []
        for clients in Self.clients {
            let found = services[clients] ?? []
            let who = clients == 1 ? "1 client" : "\(clients) clients"
            measurements.append(
                Measurement(
                    "jobs.ratio_\(clients)",
                    "Jobs over HTTP, \(who): throughput in terms of a batch of the same photographs", .ratio,
                    zip(found, batches).map { $0.rate / $1 },
                    // A single client waits for each: the second core has little to do.
                    target: clients == 1 ? nil : .atLeast(0.95)))
            measurements.append(
                Measurement("jobs.rate_\(clients)", "— photographs", .perSecond, found.map(\.rate)))
            for (name, value) in [("p50", \Percentiles.p50), ("p95", \.p95), ("p99", \.p99)] {
                measurements.append(
                    Measurement(
                        "jobs.\(name)_\(clients)", "— \(name) of a job's latency", .milliseconds,
                        found.map { $0.latency[keyPath: value] }))
            }
        }
        return measurements + [Measurement("jobs.rate_batch", "Photographs of a batch", .perSecond, batches)]
    }

    private func submit(_ bodies: [Data], clients: Int) throws -> Round {
        let service = try RunningService(workplace)
        defer { service.stop() }
        let next = Counter()
        let figures = Figures()
        let start = ContinuousClock.now
        try Clients.run(clients) { _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < bodies.count {
                figures.add(
                    try service.deliver(bodies[index], type: "image/jpeg", over: connection).seconds * 1000)
            }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        return Round(rate: Double(bodies.count) / seconds, latency: Percentiles(figures.all))
    }
}
