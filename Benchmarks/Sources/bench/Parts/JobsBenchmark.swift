import Foundation

extension Part {
    static let jobs = Part(
        "jobs", "photographs over HTTP beside a batch of them", isInShortRun: false
    ) { run in
        Findings(try JobsBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// Jobs over HTTP beside a batch over the same files: what the network side of the service costs.
struct JobsBenchmark {
    let workplace: Workplace
    let sources: Directory
    let rounds: Int

    private static let count = 96
    private static let clients = [2, 32]

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = min(3, rounds)
        sources = try inputs.photographs(Self.count)
    }

    func measure() throws -> [Measurement] {
        let bodies = try sources.files.map { try Data(contentsOf: URL(filePath: $0), options: .alwaysMapped) }
        var batches: [Double] = []
        var services: [Int: [Double]] = [:]
        for round in 0..<rounds {
            Progress.say("jobs over HTTP, round \(round + 1) of \(rounds)")
            batches.append(Double(Self.count) / (try workplace.satchel(["batch", sources.path]).run().wall))
            for clients in Self.clients {
                services[clients, default: []].append(try throughput(of: bodies, clients: clients))
            }
            try workplace.clear()
        }
        return Self.clients.map { clients in
            Measurement(
                "jobs.ratio_\(clients)",
                "Jobs over HTTP, \(clients) clients: throughput in terms of a batch of the same photographs", .ratio,
                zip(services[clients] ?? [], batches).map { $0 / $1 }, target: .atLeast(0.9))
        }
            + Self.clients.map { clients in
                Measurement(
                    "jobs.rate_\(clients)", "— photographs over HTTP, \(clients) clients", .perSecond,
                    services[clients] ?? [])
            } + [Measurement("jobs.rate_batch", "— photographs of a batch", .perSecond, batches)]
    }

    /// Photographs a second, from the first request to the last answer.
    private func throughput(of bodies: [Data], clients: Int) throws -> Double {
        let service = try RunningService(workplace)
        defer { service.stop() }
        let next = Counter()
        let start = ContinuousClock.now
        try Clients.run(clients) { _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < bodies.count {
                _ = try service.deliver(bodies[index], type: "image/jpeg", over: connection)
            }
        }
        return Double(bodies.count) / ((ContinuousClock.now - start) / .seconds(1))
    }
}
