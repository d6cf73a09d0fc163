import Foundation

extension Part {
    static let placeholders = Part(
        "placeholders", "ThumbHash and BlurHash of a picture"
    ) { run in
        Findings(
            try PlaceholderBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// What ThumbHash and BlurHash cost together, for pictures of the size that they are made from.
struct PlaceholderBenchmark {
    let workplace: Workplace
    let frames: URL
    let rounds: Int

    private static let count = 200
    private static let width = 100
    private static let height = 75

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        frames = try inputs.rawFrames(Self.count, width: Self.width, height: Self.height)
    }

    func measure() throws -> [Measurement] {
        let piece = try InnerPiece(
            workplace.innerBench,
            ["hashes", "\(Self.width)", "\(Self.height)", frames.path(percentEncoded: false)])
        var medians: [Double] = []
        var worst: [Double] = []
        for round in 0..<rounds {
            Progress.say("placeholders, round \(round + 1) of \(rounds)")
            let lines = try piece.lines(Self.count, in: workplace)
            guard Set(lines.map { $0.dropFirst().joined() }).count > Self.count / 2 else {
                throw CommandFailure(command: piece.command.line, reason: "hashed pictures that are alike")
            }
            let times = Spread(lines.compactMap { $0.first.flatMap(Double.init) })
            medians.append(times.median)
            worst.append(times.most)
        }
        return [
            Measurement(
                "placeholders.cpu", "ThumbHash and BlurHash of a picture together: CPU", .milliseconds, medians,
                target: .atMost(2)),
            Measurement("placeholders.cpu_worst", "— of the slowest of \(Self.count)", .milliseconds, worst),
        ]
    }
}
