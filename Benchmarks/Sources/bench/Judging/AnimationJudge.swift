import Foundation

/// How near animations come to a full-colour scaling of their sources, frame by frame; `judge_animations.py` says how it
/// looks.
struct AnimationJudge: Sendable {
    let script: URL
    /// Where its references are kept.
    let cache: URL
    let workplace: Workplace

    init(_ options: Options, _ workplace: Workplace) {
        script = options.peerFiles.appending(path: "judge_animations.py")
        cache = options.directory.appending(path: "references")
        self.workplace = workplace
    }

    struct Verdict: Hashable, Sendable {
        var bytes: Int
        /// Of the source.
        var frames: Int
        /// The mean over the frames, and the least.
        var decibels: Double
        var leastDecibels: Double
    }

    /// - Parameter side: What the longest side has to be.
    /// - Throws: ``CommandFailure`` where one is missing, isn't as large or doesn't last as long as it ought to.
    func verdicts(_ pairs: [(source: String, output: String)], side: Int) throws -> [Verdict] {
        let id = UUID().uuidString
        let list = workplace.scratch.appending(path: "cases-\(id)")
        let answers = workplace.scratch.appending(path: "verdicts-\(id)")
        defer { for file in [list, answers] { try? FileManager.default.removeItem(at: file) } }
        try Data(pairs.map { "\($0.source)\t\($0.output)\t\(side)\n" }.joined().utf8).write(to: list)
        var command = Command("/usr/bin/python3", [script, cache, list].map { $0.path(percentEncoded: false) })
        command.output = answers
        try command.run()
        let lines = try String(contentsOf: answers, encoding: .utf8).split(separator: "\n")
        guard lines.count == pairs.count else {
            throw CommandFailure(command: command.line, reason: "judged \(lines.count) of \(pairs.count) animations")
        }
        return try zip(pairs, lines).map { pair, line in
            let words = line.split(separator: " ")
            guard words.count == 3, let frames = Int(words[0]), let mean = Double(words[1]),
                let least = Double(words[2])
            else {
                throw CommandFailure(command: [pair.output], reason: "is wrong: \(line.dropFirst("wrong ".count))")
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: pair.output)
            return Verdict(
                bytes: attributes[.size] as? Int ?? 0, frames: frames, decibels: mean, leastDecibels: least)
        }
    }
}
