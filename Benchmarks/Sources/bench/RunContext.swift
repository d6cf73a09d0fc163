import Foundation

/// What a part has to measure with.
struct RunContext: Sendable {
    let options: Options
    let workplace: Workplace
    let inputs: Inputs
    /// Versions of the peers that there are.
    let tools: [Machine.Tool]

    init(_ options: Options) throws {
        self.options = options
        workplace = try Workplace(options.directory, programs: options.programs)
        inputs = try Inputs(
            in: options.directory.appending(path: "inputs"),
            from: options.samples.appending(path: "jpeg/earth-12-megapixels.jpg"), seed: options.seed)
        tools = Tools.versions(
            environments: PythonEnvironment.names.map { PythonEnvironment($0, in: options.directory) })
    }

    /// What the user wants measured instead of the synthetic inputs.
    var corpus: NamedCorpus? {
        options.corpus.map { NamedCorpus(directory: $0, place: options.directory.appending(path: "corpus")) }
    }

    /// `libvips 8.14.1`: vipsthumbnail and pyvips of the system differ much from version to version.
    var libvips: String { version(of: "libvips").map { "libvips \($0)" } ?? "libvips" }

    func version(of tool: String) -> String? { tools.first { $0.name == tool }?.version }

    var rounds: Int { options.rounds }
    var isFull: Bool { options.isFull }
    /// The sample files of every kind, good and bad.
    var samples: URL { options.samples }

    /// A virtual environment with peers in it.
    func environment(_ name: String) -> PythonEnvironment { PythonEnvironment(name, in: options.directory) }

    /// A part that fails has a result too, which says why.
    func measure(_ part: Part) -> PartResult {
        var result = PartResult(
            part: part.name, extent: options.extent, rounds: rounds, seed: options.seed,
            corpus: options.corpus?.lastPathComponent, machine: Machine(satchel: workplace.satchel, peers: tools))
        let start = ContinuousClock.now
        Progress.say(part.name)
        do {
            result.probeResult = try part.measure(self)
        } catch {
            result.failure = "\(error)"
            Progress.note("bench: \(part.name): \(error)")
        }
        result.seconds = (ContinuousClock.now - start) / .seconds(1)
        return result
    }
}
