import Foundation

extension Part {
    static let lanes = Part(
        "lanes", "latency of small pictures beside 4K videos", isInShortRun: false
    ) { run in
        Findings(try LaneBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// Whether costly sources hold up small ones: the latency of small pictures alone, and beside 4K videos.
struct LaneBenchmark {
    let workplace: Workplace
    let pictures: Directory
    let video: URL
    let rounds: Int

    private static let count = 300

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = min(3, rounds)
        pictures = try inputs.smallPictures(Self.count * 2)
        video = try inputs.largeVideo()
    }

    func measure() throws -> [Measurement] {
        var alone: [Double] = []
        var beside: [Double] = []
        for round in 0..<rounds {
            Progress.say("small pictures beside 4K videos, round \(round + 1) of \(rounds)")
            let service = try RunningService(workplace)
            defer { service.stop() }
            let bodies = try pictures.files.map { try Data(contentsOf: URL(filePath: $0)) }
            alone.append(try latency(of: Array(bodies.prefix(Self.count)), at: service) * 1000)
            try submitVideos(to: service)
            beside.append(try latency(of: Array(bodies.suffix(Self.count)), at: service) * 1000)
        }
        return [
            Measurement(
                "lanes.ratio", "Small pictures beside 4K videos: p99 of their latency in terms of that alone", .ratio,
                zip(beside, alone).map { $0 / $1 }, target: .atMost(3)),
            Measurement("lanes.alone", "— p99 of small pictures alone", .milliseconds, alone),
            Measurement("lanes.beside", "— p99 beside 4K videos", .milliseconds, beside),
        ]
    }

    /// Seconds: the 99th percentile over one client's submissions.
    private func latency(of bodies: [Data], at service: RunningService) throws -> Double {
        let figures = Figures()
        let connection = HTTPConnection(port: service.port)
        for body in bodies {
            figures.add(try service.deliver(body, type: "image/jpeg", over: connection).seconds)
        }
        return figures.percentile(0.99)
    }

    /// More of them than are carried out while the pictures are measured; each cut differently, so that none is the
    /// same work as another.
    private func submitVideos(to service: RunningService) throws {
        let body = try Data(contentsOf: video, options: .alwaysMapped)
        let connection = HTTPConnection(port: service.port)
        for index in 0..<12 {
            let answer = try connection.send(
                "POST", "/v1/jobs?profile=notification&trim_start=0.\(10 + index)&trim_duration=9&deadline=600",
                headers: service.authorization.merging(["Content-Type": "video/mp4"]) { $1 }, body: body)
            guard answer.status == 202 else {
                throw CommandFailure(
                    command: ["POST", "/v1/jobs"],
                    reason: "a video was answered \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
            }
        }
    }
}
