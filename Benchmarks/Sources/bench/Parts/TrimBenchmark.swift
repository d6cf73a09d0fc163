import Foundation

extension Part {
    static let trims = Part(
        "trims", "cutting 10 s out of a minute, copied and at a frame"
    ) { run in
        Findings(try TrimBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// What cutting 10 s out of a minute costs: on keyframes beside a bare remux, between them beside encoding it all again.
struct TrimBenchmark {
    let workplace: Workplace
    let clips: Directory
    let rounds: Int

    private static let count = 6
    private static let seconds = 10.0
    /// On a keyframe, and 0.4 s after one: there is one in each second.
    private static let (onKeyframe, betweenKeyframes) = (20.0, 20.4)

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        clips = try inputs.clips(Self.count)
    }

    private struct Cut {
        /// Milliseconds: of processors in all, and of looking at the source and cutting it alone.
        var cpu: Double
        var cutting: Double
    }

    func measure() throws -> [Measurement] {
        var copies: [Cut] = []
        var remuxes: [Cut] = []
        var smart: [Cut] = []
        var whole: [Cut] = []
        var ffmpeg: [Double] = []
        for round in 0..<rounds {
            Progress.say("trims, round \(round + 1) of \(rounds)")
            copies.append(try own(from: Self.onKeyframe, limit: Self.width, method: "copy"))
            remuxes.append(try remux())
            smart.append(try own(from: Self.betweenKeyframes, limit: Self.width, method: "smart"))
            // Two pixels less make it encode everything, by the same code and with the same settings.
            whole.append(try own(from: Self.betweenKeyframes, limit: Self.width - 2, method: "encode"))
            ffmpeg.append(try encodeWithFFmpeg())
        }
        func ratios(_ first: [Double], _ second: [Double]) -> [Double] { zip(first, second).map { $0 / $1 } }
        return [
            Measurement(
                "trims.copy_ratio", "A copy trim, looked at and cut: time in terms of a bare libavformat remux", .ratio,
                ratios(copies.map(\.cutting), remuxes.map(\.cutting)), target: .atMost(1.3)),
            Measurement(
                "trims.copy_cpu_ratio", "— all CPU of it, with the frame that the placeholder is made of", .ratio,
                ratios(copies.map(\.cpu), remuxes.map(\.cpu))),
            Measurement("trims.copy", "— a copy trim of 10 s", .milliseconds, copies.map(\.cutting)),
            Measurement("trims.remux", "— the remux", .milliseconds, remuxes.map(\.cutting)),
            Measurement(
                "trims.smart_ratio", "A smart trim: CPU in terms of encoding the part anew", .ratio,
                ratios(smart.map(\.cpu), whole.map(\.cpu)), target: .atMost(1.0 / 3)),
            Measurement("trims.smart", "— a smart trim of 10 s", .milliseconds, smart.map(\.cpu)),
            Measurement("trims.encode", "— encoding it anew", .milliseconds, whole.map(\.cpu)),
            Measurement(
                "trims.smart_ffmpeg_ratio", "— in terms of ffmpeg encoding it anew", .ratio,
                ratios(smart.map(\.cpu), ffmpeg)),
        ]
    }

    private static let width = 1280

    /// A mean over the clips.
    private func own(from start: Double, limit: Int, method: String) throws -> Cut {
        let output = workplace.scratch.appending(path: "trimmed.mp4").path(percentEncoded: false)
        let piece = try InnerPiece(
            workplace.innerBench, ["trim", "\(start)", "\(Self.seconds)", "\(limit)", output] + clips.files)
        return try mean(piece, method: method, output: output)
    }

    private func remux() throws -> Cut {
        let output = workplace.scratch.appending(path: "remuxed.mp4").path(percentEncoded: false)
        let piece = try InnerPiece(
            workplace.remux, ["\(Self.onKeyframe)", "\(Self.seconds)", output] + clips.files)
        return try mean(piece, method: "copy", output: output)
    }

    private func mean(_ piece: InnerPiece, method: String, output: String) throws -> Cut {
        var sum = Cut(cpu: 0, cutting: 0)
        for line in try piece.lines(Self.count, in: workplace) {
            guard line.count == 3, line[0] == method, let cpu = Double(line[1]), let cutting = Double(line[2]) else {
                throw CommandFailure(
                    command: piece.command.line, reason: "answered '\(line.joined(separator: " "))', not '\(method) …'")
            }
            sum.cpu += cpu / Double(Self.count)
            sum.cutting += cutting / Double(Self.count)
        }
        try check(output)
        return sum
    }

    /// What came out lasts as long as it should.
    private func check(_ file: String) throws {
        let answer = workplace.scratch.appending(path: "duration")
        var look = Command("ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file])
        look.output = answer
        try look.run()
        let text = try String(contentsOf: answer, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let seconds = Double(text), abs(seconds - Self.seconds) < 0.3 else {
            throw CommandFailure(command: look.line, reason: "the part lasts \(text) s")
        }
    }

    /// Milliseconds of processors for each clip, the start of the program included, with the settings of the codec.
    private func encodeWithFFmpeg() throws -> Double {
        let output = workplace.scratch.appending(path: "encoded.mp4").path(percentEncoded: false)
        var cpu = 0.0
        for file in try clips.files {
            cpu += try Command(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-ss", "\(Self.betweenKeyframes)", "-t", "\(Self.seconds)", "-i", file,
                    "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-c:a", "copy", output,
                ]
            ).run().cpu
        }
        return cpu * 1000 / Double(Self.count)
    }
}
