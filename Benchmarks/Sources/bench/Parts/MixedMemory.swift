import Foundation

/// The memory of everything at once, under a mix of costly sources: `--memory` is what codec processes may have together.
struct MixedMemory {
    let workplace: Workplace
    let inputs: Inputs
    let rounds: Int

    /// Gigabytes.
    private static let grants = [1, 2]

    func measure() throws -> [Measurement] {
        let mix = try gathered(try inputs.costlySources())
        var measurements: [Measurement] = []
        for grant in Self.grants {
            var parts: [Double] = []
            for round in 0..<rounds {
                Progress.say("memory of a mix under --memory \(grant)G, round \(round + 1) of \(rounds)")
                let command = workplace.satchel(["batch", mix.path, "--memory", "\(grant)G", "--profile", "message"])
                let (_, bytes) = try MemoryWatch.peak { try command.run() }
                parts.append(Double(bytes) / Double(grant << 30))
                try workplace.clear()
            }
            measurements.append(
                Measurement(
                    "memory.mix_\(grant)",
                    "A mix of costly sources under --memory \(grant)G: all processes together, in terms of that",
                    .ratio,
                    parts, target: .atMost(1)))
        }
        return measurements
    }

    /// Those, and the same once more, alone in a directory.
    private func gathered(_ sources: [URL]) throws -> Directory {
        let place = workplace.directory.appending(path: "inputs/costly-mix", directoryHint: .isDirectory)
        try? FileManager.default.removeItem(at: place)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for (index, source) in sources.enumerated() {
            try FileManager.default.linkItem(
                at: source, to: place.appending(path: "\(index)-\(source.lastPathComponent)"))
        }
        return Directory(url: place)
    }
}
