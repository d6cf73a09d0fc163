import Foundation

/// Whether what was made of clips is what is measured, by ffprobe, and how near it comes to its source, by ffmpeg.
struct ClipJudge: Sendable {
    let workplace: Workplace

    static func columns(_ task: ClipTask) -> [Comparison.Column] {
        guard task.type != nil else { return [] }
        let bytes = Comparison.Column(name: "bytes", title: "bytes", unit: .kilobytes)
        guard task.name == "transcode" else { return [bytes] }
        return [bytes, Comparison.Column(name: "psnr", title: "PSNR to the source", unit: .decibels)]
    }

    /// - Throws: ``CommandFailure`` where something is missing, or has another length or size than it ought to have.
    func figures(_ task: ClipTask, _ sources: [String], in place: URL) throws -> [Comparison.Figure] {
        guard task.type != nil else { return [] }
        var bytes: [Double] = []
        var decibels: [Double] = []
        for source in sources {
            let output = task.output(of: source, in: place)
            try check(output, task)
            let attributes = try FileManager.default.attributesOfItem(atPath: output)
            bytes.append(Double(attributes[.size] as? Int ?? 0) / 1000)
            if task.name == "transcode", decibels.count < 3 { decibels.append(try fidelity(output, source, task)) }
        }
        var figures = [Comparison.Figure(column: "bytes", spread: Spread(bytes))]
        if !decibels.isEmpty { figures.append(Comparison.Figure(column: "psnr", spread: Spread(decibels))) }
        return figures
    }

    private func check(_ output: String, _ task: ClipTask) throws {
        let answer = workplace.scratch.appending(path: "probe-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: answer) }
        var look = Command(
            "ffprobe",
            ["-v", "error", "-show_entries", "format=duration:stream=width,height", "-of", "default=nw=1", output])
        look.output = answer
        try look.run()
        var said: [String: Double] = [:]
        for line in try String(contentsOf: answer, encoding: .utf8).split(separator: "\n") {
            let parts = line.split(separator: "=")
            if parts.count == 2, let value = Double(parts[1]) { said[String(parts[0])] = value }
        }
        if task.name != "poster" {
            guard let seconds = said["duration"], abs(seconds - Double(ClipTask.seconds)) < 0.3 else {
                throw CommandFailure(command: look.line, reason: "it lasts \(said["duration"] ?? 0) s")
            }
        }
        if let side = task.side {
            let longest = max(said["width"] ?? 0, said["height"] ?? 0)
            guard longest == Double(side) else {
                throw CommandFailure(command: look.line, reason: "its longest side has \(longest) pixels")
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
