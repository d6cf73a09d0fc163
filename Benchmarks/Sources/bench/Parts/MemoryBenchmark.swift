import Foundation

extension Part {
    static let memory = Part(
        "memory", "what a source of 1 GB adds to the memory of the service; all memory under a mix of costly sources"
    ) { run in
        let rounds = min(3, run.rounds)
        return Findings(
            try MixedMemory(workplace: run.workplace, inputs: run.inputs, rounds: rounds).measure()
                + MemoryBenchmark(workplace: run.workplace, inputs: run.inputs, rounds: rounds).measure())
    }
}

/// What a source of 1 GB adds to the service side's memory, over a small one of the same kind.
///
/// The service side is the process `satchel`: its codec processes are granted memory by themselves.
struct MemoryBenchmark {
    let workplace: Workplace
    let small: URL
    let large: URL
    let rounds: Int

    init(workplace: Workplace, inputs: Inputs, rounds: Int) throws {
        self.workplace = workplace
        self.rounds = rounds
        small = try inputs.recording(bytes: 1_000_000)
        large = try inputs.recording(bytes: 1_000_000_000)
    }

    func measure() throws -> [Measurement] {
        let server = try LoopbackServer(serving: [small, large])
        let profiles = try keepingProfile()
        let ways: [(String, String, (URL) -> [String])] = [
            (
                "file", "A source of 1 GB: the service's memory over one of 1 MB, from a file",
                { [$0.path(percentEncoded: false)] }
            ),
            (
                "kept", "— from a file, when the source itself is kept",
                { [$0.path(percentEncoded: false), "--profiles", profiles, "--profile", "kept"] }
            ),
            (
                "url", "— from a URL",
                { ["\(server.address)/\($0.lastPathComponent)", "--fetch-allow", "127.0.0.1"] }
            ),
        ]
        var measurements: [Measurement] = []
        var levels: [Double] = []
        for (name, title, arguments) in ways {
            var growth: [Double] = []
            for round in 0..<rounds {
                Progress.say("memory, \(name), round \(round + 1) of \(rounds)")
                let least = try peak(arguments(small))
                let most = try peak(arguments(large))
                growth.append(most - least)
                levels.append(most)
                try workplace.clear()
            }
            measurements.append(Measurement("memory.\(name)", title, .megabytes, growth, target: .atMost(16)))
        }
        measurements.append(Measurement("memory.peak", "— the service's peak with 1 GB", .megabytes, levels))
        return measurements
    }

    /// Megabytes.
    private func peak(_ arguments: [String]) throws -> Double {
        let usage = try workplace.satchel(["add"] + arguments).run(watchingMemory: true)
        return Double(usage.ownPeak ?? 0) / 1e6
    }

    /// A file of profiles with one that keeps its sources.
    private func keepingProfile() throws -> String {
        let url = workplace.directory.appending(path: "profiles.yaml")
        let text = """
            profiles:
              kept:
                based_on: notification
                keeps_original: true
                deadline: null
            """
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }
}
