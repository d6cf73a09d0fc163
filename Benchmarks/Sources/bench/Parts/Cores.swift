import Foundation

extension Part {
    static let cores = Part("cores", "what a second core gains, beside loops of vipsthumbnail") { run in
        Findings(try CoreBenchmark(run).measure())
    }
}

/// From one core to two: what a batch gains beside loops of `vipsthumbnail`.
private struct CoreBenchmark {
    private let workplace: Workplace
    private let task = StillTask.photographs
    private let stills: SatchelStills
    /// More than the peer gets, whose rate has no start to make up for.
    private let sources: [String]
    private let peerSources: [String]
    private let rounds: Int

    init(_ run: RunContext) throws {
        workplace = run.workplace
        stills = try SatchelStills(task, run.workplace)
        let few = try run.inputs.photographs(group: 0).files
        sources = try few + run.inputs.photographs(group: 1).files
        peerSources = few
        rounds = min(3, run.rounds)
    }

    /// Nothing where there is one core.
    func measure() throws -> [Measurement] {
        guard Machine.usableCores.count > 1 else { return [] }
        let cores = Array(Machine.usableCores.prefix(2))
        var own: [Double] = []
        var theirs: [Double] = []
        for round in 0..<rounds {
            Progress.say("cores, round \(round + 1) of \(rounds)")
            let one = try batch.on([cores[0]]).run()
            let peerOnOne = try Loops.run([calls(of: peerSources).map { $0.on([cores[0]]) }])
            let two = try batch.on(cores).run()
            // A loop for each core; two loops share the sources evenly, as both have all sizes.
            let peerOnTwo = try Loops.run(
                cores.indices.map { index in
                    let share = stride(from: index, to: peerSources.count, by: 2).map { peerSources[$0] }
                    return calls(of: share).map { $0.on([cores[index]]) }
                })
            own.append(one.wall / two.wall)
            theirs.append(peerOnOne.wall / peerOnTwo.wall)
        }
        return [
            Measurement(
                "cores.gain_ratio", "One core to two: gain of a batch, in terms of two vipsthumbnail loops' gain",
                .ratio, zip(own, theirs).map { $0 / $1 }, target: .atLeast(0.95)),
            Measurement("cores.gain", "— throughput of a batch of \(sources.count), as a multiple", .ratio, own),
            Measurement("cores.peer_gain", "— of two vipsthumbnail loops", .ratio, theirs),
        ]
    }

    private var batch: Command { stills.command(sources, 1, .standard) }

    private func calls(of sources: [String]) -> [Command] {
        sources.flatMap { StillPeers.vipsthumbnailCalls(task, $0, workplace.scratch) }
    }
}
