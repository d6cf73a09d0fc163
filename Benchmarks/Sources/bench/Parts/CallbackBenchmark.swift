import Foundation

extension Part {
    static let callbacks = Part(
        "callbacks", "calls to callbacks a second, alone and beside a receiver that doesn't answer"
    ) { run in
        Findings(
            try CallbackBenchmark(
                workplace: run.workplace, inputs: run.inputs, rounds: run.rounds, isFull: run.isFull
            ).measure())
    }
}

/// How fast what is due is called: many callbacks that become due within a second, to a receiver that answers in 20 ms, alone and
/// beside one that never answers; and how long after its job's end a call comes while jobs are submitted.
struct CallbackBenchmark {
    let workplace: Workplace
    let pictures: Directory
    let rounds: Int

    private let count: Int
    private static let clients = 8
    /// Of the receiver.
    private static let answerTime: UInt32 = 20
    /// Calls to the receiver that doesn't answer: more than it is given places for.
    private static let silent = 300

    init(workplace: Workplace, inputs: Inputs, rounds: Int, isFull: Bool) throws {
        self.workplace = workplace
        self.rounds = min(3, rounds)
        count = isFull ? 6000 : 2000
        pictures = try inputs.tinyPictures(1)
    }

    func measure() throws -> [Measurement] {
        let body = try Data(contentsOf: URL(filePath: pictures.files[0]))
        var alone: [Double] = []
        var beside: [Double] = []
        var lags: [Double] = []
        for round in 0..<rounds {
            Progress.say("callbacks, round \(round + 1) of \(rounds)")
            let (rate, lag) = try call(body, besideSilence: false)
            alone.append(rate)
            lags.append(lag)
            beside.append(try call(body, besideSilence: true).rate)
        }
        return [
            Measurement(
                "callbacks.rate", "Callbacks that are due, to a receiver that answers in 20 ms", .perSecond, alone,
                target: .atLeast(500)),
            Measurement(
                "callbacks.beside", "— beside a receiver that doesn't answer", .perSecond, beside,
                target: .atLeast(500)),
            Measurement(
                "callbacks.lag", "— p99 from a job's end to its call, while 8 clients submit", .milliseconds, lags),
        ]
    }

    /// Submits jobs whose receiver asks for all calls again at one time, and counts what comes then.
    private func call(_ body: Data, besideSilence: Bool) throws -> (rate: Double, lag: Double) {
        let service = try RunningService(workplace, settings: ["--callback-allow", "127.0.0.1"])
        defer { service.stop() }
        let patience: Duration = .seconds(count / 40)
        let due = ContinuousClock.now + patience
        let receiver = try CallbackReceiver(.postponing(until: due))
        if besideSilence {
            let silent = try CallbackReceiver(.silent)
            try submit(Self.silent, body, to: service, query: silent.parameter)
        }
        try submit(count, body, to: service, query: receiver.parameter)
        try receiver.wait(for: count, within: 30)
        let lag = Percentiles(receiver.calls.map { $0.lag * 1000 }).p99
        guard ContinuousClock.now + .seconds(1) < due else {
            throw CommandFailure(
                command: ["callbacks"], reason: "submitting \(count) jobs took longer than \(patience)")
        }
        receiver.change(to: .taking(milliseconds: Self.answerTime))
        try receiver.wait(for: count, within: Int(patience / .seconds(1)) + 60)
        let times = receiver.calls.map(\.at)
        let seconds = (times.max() ?? due) - (times.min() ?? due)
        return (Double(times.count) / (seconds / .seconds(1)), lag)
    }

    private func submit(_ count: Int, _ body: Data, to service: RunningService, query: String) throws {
        let next = Counter()
        try Clients.run(Self.clients) { _ in
            let connection = HTTPConnection(port: service.port)
            while next.next() < count {
                _ = try service.deliver(body, type: "image/jpeg", over: connection, query: query)
            }
        }
    }
}
