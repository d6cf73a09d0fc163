import Foundation

extension Part {
    static let fairness = Part(
        "fairness", "answers to one tenant beside another's flood and its slow origins", isInShortRun: false
    ) { run in
        Findings(try FairnessBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// Whether one tenant's flood of bulk work, and origins that never answer, hold up another's photographs.
struct FairnessBenchmark {
    let workplace: Workplace
    let photographs: Directory
    let rounds: Int

    /// Photographs whose latency is measured, alone and beside the flood.
    private static let count = 100
    private static let floods = 400
    private static let silent = 200
    private static let payloads = 20

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = min(3, rounds)
        photographs = try inputs.photographs(group: 0)
    }

    func measure() throws -> [Measurement] {
        let bodies = try photographs.files.map { try Data(contentsOf: URL(filePath: $0)) }
        let origin = try SlowOrigin(files: bodies)
        var alone: [Double] = []
        var beside: [Double] = []
        var payloads: [Double] = []
        for round in 0..<rounds {
            Progress.say("photographs beside another tenant's flood, round \(round + 1) of \(rounds)")
            let service = try RunningService(workplace, settings: ["--fetch-allow", "127.0.0.1"])
            defer { service.stop() }
            alone.append(try latency(of: bodies, at: service) * 1000)
            try flood(service, bodies, origin)
            beside.append(try latency(of: bodies, at: service) * 1000)
            payloads.append(try payloadLatency(at: service, origin))
        }
        return [
            Measurement(
                "fairness.ratio",
                "Photographs beside another tenant's flood: p99 of their latency in terms of that alone",
                .ratio, zip(beside, alone).map { $0 / $1 }, target: .atMost(2)),
            Measurement("fairness.alone", "— p99 of photographs alone", .milliseconds, alone),
            Measurement("fairness.beside", "— p99 beside the flood", .milliseconds, beside),
            Measurement(
                "fairness.payload", "— p99 of push payloads beside the flood, with their pictures", .seconds, payloads,
                target: .atMost(1)),
        ]
    }

    /// Seconds: the 99th percentile over one client's submissions.
    private func latency(of bodies: [Data], at service: RunningService) throws -> Double {
        let figures = Figures()
        let connection = HTTPConnection(port: service.port)
        for index in 0..<Self.count {
            let body = bodies[index % bodies.count].unlike(index)
            figures.add(try service.deliver(body, type: "image/jpeg", over: connection).seconds)
        }
        return figures.percentile(0.99)
    }

    /// Seconds: the 99th percentile over one client's payloads, each with a photograph of its own.
    private func payloadLatency(at service: RunningService, _ origin: SlowOrigin) throws -> Double {
        let figures = Figures()
        let connection = HTTPConnection(port: service.port)
        for index in 0..<Self.payloads {
            let url = origin.address(of: index, .prompt, within: 60, unlike: index)
            let answer = try connection.send(
                "POST", "/v1/payloads/apns",
                headers: service.authorization.merging(["Content-Type": "application/json"]) { $1 },
                body: Data(#"{"aps":{"alert":{"body":"A"},"mutable-content":1},"att":{"a":"\#(url)"}}"#.utf8))
            // With its picture, or it would be no feat.
            guard answer.status == 200, String(decoding: answer.body, as: UTF8.self).contains("/c/") else {
                throw Self.failure("/v1/payloads/apns", answer)
            }
            figures.add(answer.seconds)
        }
        return figures.percentile(0.99)
    }

    /// More bulk work of another tenant than is carried out while the rest is measured.
    private func flood(_ service: RunningService, _ bodies: [Data], _ origin: SlowOrigin) throws {
        let key = try service.makeKey(of: "flood", workplace)
        let connection = HTTPConnection(port: service.port)
        for index in 0..<Self.silent {
            let url = origin.address(of: 0, .silent, within: 600, unlike: index)
            let answer = try connection.send(
                "POST", "/v1/jobs", headers: key.merging(["Content-Type": "application/json"]) { $1 },
                body: Data(
                    #"{"profile":"archive","priority":"bulk","attachments":[{"url":"\#(url)"}]}"#.utf8))
            guard answer.status == 202 else { throw Self.failure("/v1/jobs", answer) }
        }
        for index in 0..<Self.floods {
            let answer = try connection.send(
                "POST", "/v1/jobs?profile=archive&priority=bulk",
                headers: key.merging(["Content-Type": "image/jpeg"]) { $1 },
                body: bodies[index % bodies.count].unlike(index))
            guard answer.status == 202 else { throw Self.failure("/v1/jobs", answer) }
        }
    }

    private static func failure(_ path: String, _ answer: HTTPConnection.Answer) -> CommandFailure {
        CommandFailure(
            command: ["POST", path],
            reason: "answered \(answer.status): \(String(decoding: answer.body.prefix(800), as: UTF8.self))")
    }
}
