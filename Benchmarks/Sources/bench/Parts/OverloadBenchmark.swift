import Foundation
import Synchronization

extension Part {
    static let overload = Part(
        "overload", "ten times as much as the service can do, for a minute", isInShortRun: false
    ) { run in
        Findings(try OverloadBenchmark(workplace: run.workplace, inputs: run.inputs).measure())
    }
}

/// Ten times as much as the service can do, for a minute: what it takes it finishes, what it can't it refuses quickly, and
/// its health is to be had all the time.
struct OverloadBenchmark {
    let workplace: Workplace
    let pictures: Directory

    private static let seconds = 60.0
    /// What the service may have waiting; the rest is refused.
    private static let queue = 64

    init(workplace: Workplace, inputs: Inputs) throws {
        self.workplace = workplace
        pictures = try inputs.smallPictures(600)
    }

    func measure() throws -> [Measurement] {
        Progress.say("ten times as much as it can do, for a minute")
        let service = try RunningService(workplace, settings: ["--set", "intake.queue=\(Self.queue)"])
        defer { service.stop() }
        let bodies = try pictures.files.map { try Data(contentsOf: URL(filePath: $0)) }
        let capacity = try self.capacity(of: service, bodies)
        let load = try overload(service, bodies, rate: capacity * 10)
        try workplace.clear()
        return [
            Measurement(
                "overload.refusal", "Ten times overload for a minute: p99 of a refusal (429)", .milliseconds,
                [load.refusals.percentile(0.99) * 1000], target: .atMost(50)),
            Measurement(
                "overload.health", "— p99 of /livez meanwhile", .milliseconds,
                [load.health.percentile(0.99) * 1000], target: .atMost(20)),
            Measurement(
                "overload.lost", "— accepted jobs that did not finish", .count, [Double(load.lost)], target: .atMost(0)),
            Measurement("overload.offered", "— submissions", .perSecond, [load.offered]),
            Measurement("overload.accepted", "— of these accepted", .perSecond, [load.accepted]),
            Measurement("overload.capacity", "— what it can do", .perSecond, [capacity]),
        ]
    }

    /// Jobs a second with enough clients to keep it busy.
    private func capacity(of service: RunningService, _ bodies: [Data]) throws -> Double {
        let next = Counter()
        let start = ContinuousClock.now
        try Clients.run(8) { _ in
            let connection = HTTPConnection(port: service.port)
            while case let index = next.next(), index < 300 {
                _ = try service.deliver(
                    bodies[index % bodies.count], type: "image/jpeg", over: connection, query: "&deadline=\(60 + index)"
                )
            }
        }
        return 300 / ((ContinuousClock.now - start) / .seconds(1))
    }

    private struct Load {
        var refusals: Figures
        var health: Figures
        var lost: Int
        var offered: Double
        var accepted: Double
    }

    /// An open load: submissions come at their times, whether the ones before were answered or not.
    private func overload(_ service: RunningService, _ bodies: [Data], rate: Double) throws -> Load {
        let refusals = Figures()
        let health = Figures()
        let accepted = Names()
        let offered = Counter()
        let next = Counter()
        let start = ContinuousClock.now
        let total = Int(rate * Self.seconds)
        let headers = service.authorization.merging(["Content-Type": "image/jpeg"]) { $1 }
        try Clients.run(65) { client in
            let connection = HTTPConnection(port: service.port)
            if client == 64 {
                while ContinuousClock.now - start < .seconds(Self.seconds) {
                    let answer = try connection.send("GET", "/livez")
                    guard answer.status == 200 else {
                        throw CommandFailure(command: ["GET", "/livez"], reason: "answered \(answer.status)")
                    }
                    health.add(answer.seconds)
                    usleep(20_000)
                }
                return
            }
            while case let index = next.next(), index < total {
                let due = start + .seconds(Double(index) / rate)
                let wait = (due - .now) / .seconds(1)
                if wait > 0 { usleep(UInt32(wait * 1e6)) }
                if ContinuousClock.now - start > .seconds(Self.seconds) { return }
                let answer = try connection.send(
                    "POST", "/v1/jobs?profile=notification", headers: headers,
                    body: bodies[index % bodies.count].unlike(index))
                _ = offered.next()
                switch answer.status {
                case 202:
                    accepted.add(try JSONDecoder().decode(RunningService.Job.self, from: answer.body).id)
                case 429: refusals.add(answer.seconds)
                default:
                    throw CommandFailure(
                        command: ["POST", "/v1/jobs"],
                        reason: "answered \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
                }
            }
        }
        let all = accepted.all
        return Load(
            refusals: refusals, health: health, lost: try unfinished(all, at: service),
            offered: Double(offered.next()) / Self.seconds, accepted: Double(all.count) / Self.seconds)
    }

    /// How many have not finished within another minute.
    private func unfinished(_ jobs: [String], at service: RunningService) throws -> Int {
        let connection = HTTPConnection(port: service.port)
        let end = ContinuousClock.now + .seconds(60)
        var left = jobs
        while !left.isEmpty, ContinuousClock.now < end {
            left = try left.filter { job in
                let answer = try connection.send("GET", "/v1/jobs/\(job)", headers: service.authorization)
                let state = try? JSONDecoder().decode(RunningService.Job.self, from: answer.body).state
                return state != "delivered"
            }
            if !left.isEmpty { usleep(200_000) }
        }
        return left.count
    }

    private final class Names: Sendable {
        private let names = Mutex<[String]>([])

        func add(_ name: String) {
            names.withLock { $0.append(name) }
        }

        var all: [String] { names.withLock { $0 } }
    }
}
