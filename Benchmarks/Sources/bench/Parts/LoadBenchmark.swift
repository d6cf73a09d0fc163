import Foundation

/// Latency of jobs over HTTP against the rate at which they come: pictures of 20 kB, up to what the service can do and
/// beyond.
///
/// They come when they come (a Poisson process from the seed), not when one before is answered, and latency counts from
/// the moment at which one was to come: a service that falls behind can't slow down those who ask.
struct LoadBenchmark {
    private let workplace: Workplace
    private let inputs: Inputs
    private let seed: UInt64
    /// Of each rate.
    private let seconds: Double

    /// In terms of what 32 busy clients reach.
    private static let loads = [0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1, 1.1]
    private static let clients = 128
    private static let pictures = 200

    init(_ run: RunContext) throws {
        workplace = run.workplace
        inputs = run.inputs
        seed = run.options.seed
        seconds = run.isFull ? 20 : 6
    }

    func measure() throws -> ([Measurement], Plot) {
        let bodies = try inputs.smallPictures(Self.pictures).files.map { try Data(contentsOf: URL(filePath: $0)) }
        Progress.say("jobs over HTTP, how many there can be")
        let most = try capacity(bodies)
        var found: [(rate: Double, latency: Percentiles)] = []
        for load in Self.loads {
            Progress.say("jobs over HTTP, at \(Int(load * 100)) % of what there can be")
            found.append((most * load, try latency(at: most * load, bodies)))
        }
        try workplace.clear()
        let lines = [("p50", \Percentiles.p50), ("p95", \.p95), ("p99", \.p99)].map { name, value in
            Plot.Series(
                label: name, role: .own, points: found.map { Plot.Point(x: $0.rate, y: $0.latency[keyPath: value]) })
        }
        let plot = Plot(
            name: "load", title: "Latency of jobs over HTTP against load",
            form: .lines(
                lines, x: Plot.Axis(label: "pictures of 20 kB a second"),
                y: Plot.Axis(label: "from request to finished job, ms", isLogarithmic: true)))
        var measurements = [
            Measurement("jobs.capacity", "Pictures of 20 kB over HTTP, 32 busy clients", .perSecond, [most])
        ]
        for (load, one) in zip(Self.loads, found) where [0.4, 0.8, 1].contains(load) {
            for (name, value) in [("p50", one.latency.p50), ("p95", one.latency.p95), ("p99", one.latency.p99)] {
                measurements.append(
                    Measurement(
                        "jobs.\(name)_at_\(Int(load * 100))",
                        "— \(name) of their latency at \(Int(load * 100)) % of that",
                        .milliseconds, [value]))
            }
        }
        return (measurements, plot)
    }

    /// Pictures a second.
    private func capacity(_ bodies: [Data]) throws -> Double {
        let service = try RunningService(workplace)
        defer { service.stop() }
        let next = Counter()
        let start = ContinuousClock.now
        let length = seconds
        try Clients.run(32) { _ in
            let connection = HTTPConnection(port: service.port)
            while (ContinuousClock.now - start) / .seconds(1) < length {
                let index = next.next()
                let body = bodies[index % bodies.count].unlike(index)
                _ = try service.deliver(body, type: "image/jpeg", over: connection)
            }
        }
        let done = Double(next.next())
        return done / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Milliseconds.
    private func latency(at rate: Double, _ bodies: [Data]) throws -> Percentiles {
        var random = SplitMix(seed: seed, "arrivals", Int(rate))
        var arrivals: [Double] = []
        var time = 0.0
        while time < seconds {
            time -= log(1 - random.unit()) / rate
            arrivals.append(time)
        }
        let service = try RunningService(workplace)
        defer { service.stop() }
        // The first ones find what is started only once.
        let warming = HTTPConnection(port: service.port)
        for index in 0..<8 {
            _ = try service.deliver(bodies[index].unlike(index), type: "image/jpeg", over: warming)
        }
        let next = Counter()
        let figures = Figures()
        let start = ContinuousClock.now
        try Clients.run(Self.clients) { [arrivals] _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < arrivals.count {
                let body = bodies[index % bodies.count].unlike(index)
                let early = arrivals[index] - (ContinuousClock.now - start) / .seconds(1)
                if early > 0 { Thread.sleep(forTimeInterval: early) }
                _ = try service.deliver(body, type: "image/jpeg", over: connection)
                figures.add(((ContinuousClock.now - start) / .seconds(1) - arrivals[index]) * 1000)
            }
        }
        return Percentiles(figures.all)
    }
}
