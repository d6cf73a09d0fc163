import Foundation

/// How near pictures come to a full decode of their source, scaled with Lanczos 3; `judge.py` says how it looks.
struct StillJudge: Sendable {
    let script: URL
    /// Where its references are kept.
    let cache: URL
    let workplace: Workplace

    init(_ options: Options, _ workplace: Workplace) {
        script = options.peerFiles.appending(path: "judge.py")
        cache = options.directory.appending(path: "references")
        self.workplace = workplace
    }

    /// A picture and what it ought to be.
    struct Case: Sendable {
        var source: String
        var output: String
        /// Pixels of the longest side.
        var size: Int
    }

    struct Verdict: Hashable, Sendable {
        var bytes: Int
        var decibels: Double
        var similarity: Double
    }

    /// - Returns: A verdict for each case, in order.
    /// - Throws: ``CommandFailure`` where one is missing, can't be decoded, or hasn't the size that it ought to have.
    func verdicts(_ cases: [Case]) throws -> [Verdict] {
        let id = UUID().uuidString
        let list = workplace.scratch.appending(path: "cases-\(id)")
        let answers = workplace.scratch.appending(path: "verdicts-\(id)")
        defer { for file in [list, answers] { try? FileManager.default.removeItem(at: file) } }
        let text = cases.map { "\($0.source)\t\($0.output)\t\($0.size)\n" }.joined()
        try Data(text.utf8).write(to: list)
        var command = Command(
            "/usr/bin/python3", [script, cache, list].map { $0.path(percentEncoded: false) })
        command.output = answers
        try command.run()
        let lines = try String(contentsOf: answers, encoding: .utf8).split(separator: "\n")
        guard lines.count == cases.count else {
            throw CommandFailure(command: command.line, reason: "judged \(lines.count) of \(cases.count) pictures")
        }
        return try zip(cases, lines).map { try Self.verdict(on: $0, String($1)) }
    }

    private static func verdict(on picture: Case, _ line: String) throws -> Verdict {
        let words = line.split(separator: " ")
        guard words.count == 4, let decibels = Double(words[2]), let similarity = Double(words[3]) else {
            throw CommandFailure(command: [picture.output], reason: "is wrong: \(line.dropFirst("wrong ".count))")
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: picture.output)
        return Verdict(bytes: attributes[.size] as? Int ?? 0, decibels: decibels, similarity: similarity)
    }

    /// Columns of ``figures(_:_:in:)``.
    static func columns(_ task: StillTask) -> [Comparison.Column] {
        [Comparison.Column(name: "bytes", title: "bytes out", unit: .kilobytes)]
            + task.sizes.flatMap { size in
                [
                    Comparison.Column(name: "psnr_\(size)", title: "PSNR, \(size) px", unit: .decibels),
                    Comparison.Column(name: "ssim_\(size)", title: "SSIM, \(size) px", unit: .similarity),
                ]
            }
    }

    /// What is to be said of everything that a contender made; means over the sources.
    func figures(_ task: StillTask, _ sources: [String], in place: URL) throws -> [Comparison.Figure] {
        let cases = sources.flatMap { source in
            task.sizes.map { Case(source: source, output: task.output(of: source, $0, in: place), size: $0) }
        }
        let verdicts = zip(cases, try verdicts(cases))
        // Pictures that are smaller than its window have no SSIM.
        func mean(_ values: [Double]) -> Spread { Spread([Quotient.mean(values.filter(\.isFinite))]) }
        var figures = [
            Comparison.Figure(
                column: "bytes",
                spread: Spread([Quotient.of(verdicts.reduce(0) { $0 + $1.1.bytes }, by: sources.count * 1000)]))
        ]
        for size in task.sizes {
            let these = verdicts.filter { $0.0.size == size }.map(\.1)
            figures.append(Comparison.Figure(column: "psnr_\(size)", spread: mean(these.map(\.decibels))))
            figures.append(Comparison.Figure(column: "ssim_\(size)", spread: mean(these.map(\.similarity))))
        }
        return figures
    }
}
