import Foundation

extension Part {
    static let photographs = Part(
        "photographs", "photographs to 1024 and 300 pixels beside peers and the floor"
    ) { run in
        Findings(try PhotographBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

extension Part {
    static let cores = Part(
        "cores", "what a second core gains"
    ) { run in
        Findings(
            try PhotographBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measureCores())
    }
}

/// What a photograph of 12 megapixels costs beside two calls of `vipsthumbnail`, and what two cores gain.
struct PhotographBenchmark {
    let workplace: Workplace
    /// The last are many, so that a batch's start weighs little beside its rate.
    let sources: (some: Directory, twice: Directory, many: Directory)
    let rounds: Int

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        sources = (
            try inputs.photographs(Self.few), try inputs.photographs(Self.few * 2),
            try inputs.photographs(Self.many)
        )
    }

    func measure() throws -> [Measurement] {
        try check()
        var batches: [Usage] = []
        var marginal: [Double] = []
        var peer: [Usage] = []
        for round in 0..<rounds {
            Progress.say("photographs, round \(round + 1) of \(rounds)")
            let some = try batch(of: sources.some).run()
            let twice = try batch(of: sources.twice).run()
            batches.append(twice)
            marginal.append((twice.cpu - some.cpu) / Double(Self.few) * 1000)
            peer.append(try Loops.run([calls]))
            try workplace.clear()
        }
        let count = Double(Self.few * 2)
        let own = batches.map { $0.cpu / count * 1000 }
        let theirs = peer.map { $0.cpu / count * 1000 }
        func ratios(_ first: [Double], _ second: [Double]) -> [Double] { zip(first, second).map { $0 / $1 } }
        return [
            Measurement(
                "photograph.cpu_ratio", "12-megapixel JPEG: CPU, in terms of two vipsthumbnail calls", .ratio,
                ratios(own, theirs), target: .atMost(0.5)),
            Measurement(
                "photograph.cpu_ratio_marginal", "— the same without the batch's start", .ratio,
                ratios(marginal, theirs)),
            Measurement("photograph.cpu", "— CPU per source, of a batch of \(Int(count))", .milliseconds, own),
            Measurement("photograph.cpu_marginal", "— CPU of one source more", .milliseconds, marginal),
            Measurement("photograph.peer_cpu", "— CPU of two vipsthumbnail calls", .milliseconds, theirs),
            Measurement(
                "photograph.wall", "— wall time per source, all cores", .milliseconds,
                batches.map { $0.wall / count * 1000 }),
            Measurement(
                "photograph.largest_process", "— memory of the largest process", .megabytes,
                batches.map { Double($0.largestProcess) / 1e6 }),
        ]
    }

    /// From one core to two; nothing where there is one.
    func measureCores() throws -> [Measurement] {
        guard Machine.usableCores.count > 1 else { return [] }
        let cores = Array(Machine.usableCores.prefix(2))
        var own: [Double] = []
        var theirs: [Double] = []
        let rounds = min(3, rounds)
        for round in 0..<rounds {
            Progress.say("cores, round \(round + 1) of \(rounds)")
            // More sources than the peer gets, whose rate has no start to make up for.
            let one = try batch(of: sources.many).on([cores[0]]).run()
            let peerOnOne = try Loops.run([try calls.map { $0.on([cores[0]]) }])
            let two = try batch(of: sources.many).on(cores).run()
            // A loop for each core; two loops share the calls evenly, as each source costs the same.
            let peerOnTwo = try Loops.run(
                try cores.indices.map { index in
                    try calls.enumerated().filter { $0.offset / 2 % 2 == index }.map { $0.element.on([cores[index]]) }
                })
            own.append(one.wall / two.wall)
            theirs.append(peerOnOne.wall / peerOnTwo.wall)
            try workplace.clear()
        }
        return [
            Measurement(
                "cores.gain_ratio", "One core to two: gain of a batch, in terms of two vipsthumbnail loops' gain",
                .ratio, zip(own, theirs).map { $0 / $1 }, target: .atLeast(0.95)),
            Measurement("cores.gain", "— throughput of a batch of \(Self.many), as a multiple", .ratio, own),
            Measurement("cores.peer_gain", "— of two vipsthumbnail loops", .ratio, theirs),
        ]
    }

    private static let few = 12
    private static let many = 96

    private func batch(of sources: Directory) -> Command {
        workplace.satchel(["batch", sources.path])
    }

    private var calls: [Command] {
        get throws { try sources.twice.files.flatMap { Peer.calls(for: $0, into: workplace.scratch) } }
    }

    /// Both sides make what is measured; their inputs are in the page cache afterwards.
    private func check() throws {
        Progress.say("photographs, a look at the outputs")
        var command = workplace.satchel(["batch", sources.twice.path, "--format", "jsonl"])
        let lines = workplace.scratch.appending(path: "lines")
        command.output = lines
        try command.run()
        let results = try Data(contentsOf: lines).split(separator: UInt8(ascii: "\n"))
        for result in results {
            let sizes = try JSONDecoder().decode(ResultLine.self, from: result).renditions.mapValues(\.size)
            guard sizes == ["main": "1038x779", "thumbnail": "256x256"] else {
                throw CommandFailure(command: command.line, reason: "made \(sizes)")
            }
        }
        guard results.count == Self.few * 2 else {
            throw CommandFailure(command: command.line, reason: "\(results.count) results")
        }
        for file in try sources.twice.files {
            for call in Peer.calls(for: file, into: workplace.scratch) { try call.run() }
            try Peer.check(file, in: workplace.scratch)
        }
        try workplace.clear()
    }
}

/// What is looked at of a line of `--format jsonl`.
private struct ResultLine: Decodable {
    struct File: Decodable {
        var width: Int
        var height: Int

        var size: String { "\(width)x\(height)" }
    }

    var renditions: [String: File]
}
