import Foundation

/// Whether what was made of clips is what is measured, by ffprobe, and how near it comes to its source, by ffmpeg.
struct ClipJudge: Sendable {
    let workplace: Workplace

    /// Seconds that lengths may differ by: a packet, a group of priming samples.
    private static let tolerance = 0.3

    static func columns(_ task: ClipTask) -> [Comparison.Column] {
        guard task.type != nil else { return [] }
        let bytes = Comparison.Column(name: "bytes", title: "bytes", unit: .kilobytes)
        guard task.name == "transcode" else { return [bytes] }
        return [bytes, Comparison.Column(name: "psnr", title: "PSNR to the source", unit: .decibels)]
    }

    /// - Parameter sources: Of which something was made; none of a floor, which leaves what it made last.
    /// - Throws: ``CommandFailure`` where something is missing, or has another length or size than it ought to have.
    func figures(_ task: ClipTask, _ sources: [String], in place: URL) throws -> [Comparison.Figure] {
        guard task.type != nil else {
            for source in sources { try checkAnswer(task.output(of: source, in: place), about: source) }
            return []
        }
        if sources.isEmpty { try check(task.output(of: "last", in: place), task) }
        var bytes: [Double] = []
        var decibels: [Double] = []
        for source in sources {
            let output = task.output(of: source, in: place)
            try check(output, task)
            let attributes = try FileManager.default.attributesOfItem(atPath: output)
            bytes.append(Double(attributes[.size] as? Int ?? 0) / 1000)
            if task.name == "transcode", decibels.count < 3 { decibels.append(try fidelity(output, source, task)) }
        }
        var figures: [Comparison.Figure] = []
        if !bytes.isEmpty { figures.append(Comparison.Figure(column: "bytes", spread: Spread(bytes))) }
        if !decibels.isEmpty { figures.append(Comparison.Figure(column: "psnr", spread: Spread(decibels))) }
        return figures
    }

    /// Whether somebody's words on a source have its sides and its seconds in them.
    private func checkAnswer(_ answer: String, about source: String) throws {
        let (facts, _) = try facts(of: source)
        let words = try String(contentsOfFile: answer, encoding: .utf8)
        let numbers = words.matches(of: #/[0-9]+(\.[0-9]+)?/#).compactMap { Double($0.0) }
        for (name, tolerance) in [("width", 0.0), ("height", 0), ("duration", Self.tolerance)] {
            guard let fact = facts[name], numbers.contains(where: { abs($0 - fact) <= tolerance }) else {
                throw CommandFailure(command: [answer], reason: "it doesn't tell the \(name), \(facts[name] ?? 0)")
            }
        }
    }

    /// What ffprobe says of a file, by name.
    private func facts(of file: String) throws -> (facts: [String: Double], line: [String]) {
        let answer = workplace.scratch.appending(path: "probe-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: answer) }
        var look = Command(
            "ffprobe",
            ["-v", "error", "-show_entries", "format=duration:stream=width,height", "-of", "default=nw=1", file])
        look.output = answer
        try look.run()
        var said: [String: Double] = [:]
        for line in try String(contentsOf: answer, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: "=")
            if parts.count == 2, let value = Double(parts[1]) { said[String(parts[0])] = value }
        }
        return (said, look.line)
    }

    private func check(_ output: String, _ task: ClipTask) throws {
        let (said, line) = try facts(of: output)
        if task.name != "poster" {
            guard let seconds = said["duration"], abs(seconds - Double(ClipTask.seconds)) < Self.tolerance else {
                throw CommandFailure(command: line, reason: "it lasts \(said["duration"] ?? 0) s")
            }
        }
        if let side = task.side {
            let longest = max(said["width"] ?? 0, said["height"] ?? 0)
            guard longest == Double(side) else {
                throw CommandFailure(command: line, reason: "its longest side has \(longest) pixels")
            }
        }
    }

    /// Over all frames, to a bicubic scaling of the source's.
    private func fidelity(_ output: String, _ source: String, _ task: ClipTask) throws -> Double {
        let answer = workplace.scratch.appending(path: "psnr-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: answer) }
        let path = answer.path(percentEncoded: false)
        try Command(
            "ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", output, "-t", "\(ClipTask.seconds)", "-i", source, "-lavfi",
                "[1:v]scale=\(task.side ?? 0):-2[r];[0:v][r]psnr=stats_file=\(path)", "-f", "null", "-",
            ]
        ).run()
        let values = try String(contentsOf: answer, encoding: .utf8).split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/psnr_avg:([0-9.]+)/#).flatMap { Double($0.1) }
        }
        guard !values.isEmpty else { throw CommandFailure(command: ["psnr", output], reason: "no frame was compared") }
        return values.reduce(0, +) / Double(values.count)
    }
}
