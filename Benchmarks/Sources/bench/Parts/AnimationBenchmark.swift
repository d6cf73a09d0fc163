import Foundation

extension Part {
    static let animations = Part(
        "animations", "GIFs to 320 pixels: CPU, bytes and fidelity"
    ) { run in
        Findings(try AnimationBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: run.rounds).measure())
    }
}

/// What making GIFs smaller costs beside `vipsthumbnail` and gifsicle: processor time, bytes, and how near the frames
/// come to a full-colour scaling of the source.
struct AnimationBenchmark {
    let workplace: Workplace
    let animations: Directory
    let rounds: Int

    private static let count = 8
    private static let side = 320

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        animations = try inputs.animations(Self.count)
    }

    /// Someone who makes small GIFs of large ones.
    private enum Maker: CaseIterable {
        case satchel, vipsthumbnail, gifsicle
    }

    func measure() throws -> [Measurement] {
        let fidelity = try Dictionary(uniqueKeysWithValues: Maker.allCases.map { ($0, try look(at: $0)) })
        var cpu: [Maker: [Double]] = [:]
        for round in 0..<rounds {
            Progress.say("animations, round \(round + 1) of \(rounds)")
            for maker in Maker.allCases {
                cpu[maker, default: []].append(
                    try run(maker, into: workplace.scratch) / Double(Self.count) * 1000)
            }
            try workplace.clear()
        }
        func times(_ maker: Maker) -> [Double] { cpu[maker] ?? [] }
        func ratios(_ first: Maker, _ second: Maker) -> [Double] {
            zip(times(first), times(second)).map { $0 / $1 }
        }
        func bytes(_ other: Maker) -> [Double] {
            zip(fidelity[.satchel] ?? [], fidelity[other] ?? []).map { $0.bytes / $1.bytes }
        }
        func decibels(_ other: Maker) -> [Double] {
            zip(fidelity[.satchel] ?? [], fidelity[other] ?? []).map { $0.decibels - $1.decibels }
        }
        return [
            Measurement(
                "animations.speed", "GIF to 320 pixels: CPU of vipsthumbnail, in terms of Satchel's", .ratio,
                ratios(.vipsthumbnail, .satchel), target: .atLeast(4)),
            Measurement(
                "animations.fidelity", "— PSNR to full colour over vipsthumbnail's, by source", .decibels,
                decibels(.vipsthumbnail), target: .atLeast(0)),
            Measurement("animations.bytes", "— bytes, in terms of vipsthumbnail's", .ratio, bytes(.vipsthumbnail)),
            Measurement(
                "animations.gifsicle_speed", "— CPU in terms of gifsicle's (--resize-method mix -O2)", .ratio,
                ratios(.satchel, .gifsicle)),
            Measurement(
                "animations.gifsicle_fidelity", "— PSNR to full colour over gifsicle's, by source", .decibels,
                decibels(.gifsicle)),
            Measurement("animations.gifsicle_bytes", "— bytes, in terms of gifsicle's", .ratio, bytes(.gifsicle)),
            Measurement(
                "animations.cpu", "— CPU for a GIF of 60 frames, the batch's start included", .milliseconds,
                times(.satchel)),
            Measurement("animations.peer_cpu", "— of vipsthumbnail", .milliseconds, times(.vipsthumbnail)),
            Measurement("animations.gifsicle_cpu", "— of gifsicle", .milliseconds, times(.gifsicle)),
        ]
    }

    /// Makes all of them.
    ///
    /// - Returns: Seconds of processors.
    private func run(_ maker: Maker, into directory: URL) throws -> Double {
        if maker == .satchel {
            let profiles = try profileFile()
            return try workplace.satchel([
                "batch", animations.path, "--profiles", profiles, "--profile", "small", "--output",
                directory.path(percentEncoded: false),
            ]).run().cpu
        }
        return try animations.files.reduce(0) { sum, file in
            let output = output(of: file, by: maker, in: directory).path(percentEncoded: false)
            let command =
                maker == .vipsthumbnail
                ? Command(
                    "vipsthumbnail", ["\(file)[n=-1]", "--size", "\(Self.side)", "-o", output],
                    environment: ["VIPS_CONCURRENCY": "1"])
                : Command(
                    "gifsicle",
                    [
                        "--no-warnings", "--resize-method=mix", "-O2", "--resize-fit", "\(Self.side)x\(Self.side)",
                        "-o",
                        output, file,
                    ])
            return try sum + command.run().cpu
        }
    }

    private func output(of file: String, by maker: Maker, in directory: URL) -> URL {
        let name = URL(filePath: file).lastPathComponent
        return directory.appending(path: maker == .satchel ? "\(name).main.gif" : "\(maker)-\(name)")
    }

    /// A profile that makes nothing but the animation.
    private func profileFile() throws -> String {
        let url = workplace.directory.appending(path: "small.yaml")
        let text = """
            profiles:
              small:
                animation:
                  type: image/gif
                  longest_side: \(Self.side)
                  cap: 50000000
            """
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }

    // MARK: What comes out

    private struct Look {
        var bytes: Double
        /// Against a full-colour Lanczos 3 scaling of the source's frames.
        var decibels: Double
    }

    private func look(at maker: Maker) throws -> [Look] {
        Progress.say("animations, a look at what \(maker) makes")
        let directory = workplace.scratch.appending(path: "looked-\(maker)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        _ = try run(maker, into: directory)
        let looks = try animations.files.map { file in
            let made = output(of: file, by: maker, in: directory)
            let path = made.path(percentEncoded: false)
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
            let scaled = try frames(
                of: file, filter: "scale=\(Self.side):-1:flags=lanczos+accurate_rnd+full_chroma_int")
            return Look(bytes: Double(size), decibels: try PSNR.of(try frames(of: path), scaled, from: path))
        }
        try FileManager.default.removeItem(at: directory)
        return looks
    }

    /// All frames as raw RGB, each as it is shown, by ffmpeg.
    private func frames(of file: String, filter: String? = nil) throws -> Data {
        let raw = workplace.scratch.appending(path: "raw-\(UUID().uuidString)")
        let path = raw.path(percentEncoded: false)
        let filters = filter.map { "format=rgb24,\($0)" } ?? "format=rgb24"
        try Command(
            "ffmpeg",
            [
                "-v", "error", "-y", "-i", file, "-vf", filters, "-fps_mode", "passthrough", "-f", "rawvideo",
                "-pix_fmt",
                "rgb24", path,
            ]
        ).run()
        defer { try? FileManager.default.removeItem(at: raw) }
        return try Data(contentsOf: raw)
    }
}

/// How near two sequences of pictures are.
enum PSNR {
    /// Decibels over all samples.
    ///
    /// - Parameter name: Whose frames the first are, for the error.
    /// - Throws: ``CommandFailure`` where they have not the same number of samples.
    static func of(_ first: Data, _ second: Data, from name: String) throws -> Double {
        guard first.count == second.count, !first.isEmpty else {
            throw CommandFailure(
                command: [name], reason: "has \(first.count) samples in all frames, not \(second.count)")
        }
        let squares = zip(first, second).reduce(0) { sum, pair in
            let distance = Int(pair.0) - Int(pair.1)
            return sum + distance * distance
        }
        guard squares > 0 else { return 100 }
        return min(100, 10 * log10(255 * 255 * Double(first.count) / Double(squares)))
    }
}
