import Foundation

extension Part {
    static let soak = Part(
        "soak", "what 1,000 mixed jobs leave behind", isInShortRun: false
    ) { run in
        Findings(try SoakBenchmark(workplace: run.workplace, samples: run.samples).measure())
    }
}

/// A thousand mixed jobs: what the service holds afterwards must be what it held before.
struct SoakBenchmark {
    let workplace: Workplace
    let samples: [URL]

    private static let jobs = 1000
    private static let clients = 8

    /// - Parameter samples: The directory of sample files of every kind, good and bad.
    init(workplace: Workplace, samples: URL) throws {
        self.workplace = workplace
        self.samples = SampleFiles.all(in: samples)
    }

    func measure() throws -> [Measurement] {
        Progress.say("a soak of \(Self.jobs) jobs")
        let service = try RunningService(workplace)
        defer { service.stop() }
        // What is made on first use (caches, connections, threads) is no leak.
        try run(service, jobs: 200)
        let before = try settled(service)
        try run(service, jobs: Self.jobs)
        let after = try settled(service)
        try workplace.clear()
        func growth(_ figure: (Footprint) -> Double) -> [Double] { [figure(after) - figure(before)] }
        return [
            Measurement(
                "soak.memory", "A soak of \(Self.jobs) mixed jobs: growth of the service's memory", .megabytes,
                growth { Double($0.memory) / 1e6 }, target: .atMost(16)),
            Measurement(
                "soak.descriptors", "— of its descriptors", .count, growth { Double($0.descriptors) },
                target: .atMost(0)),
            Measurement(
                "soak.children", "— of its processes", .count, growth { Double($0.children) }, target: .atMost(0)),
            Measurement(
                "soak.files", "— of files in the spool and in the making", .count, growth { Double($0.files) },
                target: .atMost(0)),
        ]
    }

    private func run(_ service: RunningService, jobs: Int) throws {
        let next = Counter()
        try Clients.run(Self.clients) { [samples] _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < jobs {
                let body = try Data(contentsOf: samples[index % samples.count]).unlike(index)
                let answer = try connection.send(
                    "POST", "/v1/jobs?profile=notification",
                    headers: service.authorization.merging(
                        ["Content-Type": "application/octet-stream", "Prefer": "wait=60"]) { $1 }, body: body)
                guard answer.status == 200 else {
                    throw CommandFailure(command: ["POST", "/v1/jobs"], reason: "answered \(answer.status)")
                }
            }
        }
    }

    /// When nothing is underway any more.
    private func settled(_ service: RunningService) throws -> Footprint {
        var last = try service.footprint
        for _ in 0..<40 {
            usleep(250_000)
            let now = try service.footprint
            if now.descriptors == last.descriptors && now.children == last.children && now.files == last.files {
                return now
            }
            last = now
        }
        return last
    }
}
