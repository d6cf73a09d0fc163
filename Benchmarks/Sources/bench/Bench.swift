import Foundation

/// Measures the installed programs against the peers, in alternation.
@main
enum Bench {
    static func main() {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            let report = try run(options)
            Progress.end()
            print("Measured on \(report.machine.text); \(report.rounds) rounds.\n")
            print(report.table)
            if report.machine.isBusy {
                let load = String(format: "%.1f", report.machine.load)
                print("\nThe machine was busy (load \(load)): wall times and the gain of a second core say little.")
            }
            let file = options.directory.appending(path: "results.json")
            try report.write(to: file)
            print("\nEvery round is in \(file.path(percentEncoded: false)).")
            if !report.areAllMet { print("Not every target is met.") }
        } catch {
            Progress.end()
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(1)
        }
    }

    private static func run(_ options: Options) throws -> Report {
        let programs = options.programs.appending(path: "satchel").path(percentEncoded: false)
        let machine = Machine(satchel: programs)
        let workplace = try Workplace(options.directory, programs: options.programs)
        let inputs = try Inputs(in: options.directory.appending(path: "inputs"), from: options.photograph)
        Progress.say("making the inputs")
        var measurements: [Measurement] = []
        if options.parts.contains(.photographs) || options.parts.contains(.cores) {
            let photographs = try PhotographBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds)
            if options.parts.contains(.photographs) { measurements += try photographs.measure() }
            if options.parts.contains(.cores) { measurements += try photographs.measureCores() }
        }
        if options.parts.contains(.memory) {
            let memory = try MemoryBenchmark(workplace: workplace, inputs: inputs, rounds: min(3, options.rounds))
            measurements += try memory.measure()
        }
        if options.parts.contains(.isolation) {
            let isolation = try IsolationBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds)
            measurements += try isolation.measure()
        }
        if options.parts.contains(.animations) {
            let animations = try AnimationBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds)
            measurements += try animations.measure()
        }
        if options.parts.contains(.trims) {
            measurements += try TrimBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds).measure()
        }
        if options.parts.contains(.placeholders) {
            let placeholders = try PlaceholderBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds)
            measurements += try placeholders.measure()
        }
        if options.parts.contains(.delivery) {
            let delivery = try DeliveryBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds)
            measurements += try delivery.measure()
        }
        if options.parts.contains(.jobs) {
            measurements += try JobsBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds).measure()
        }
        if options.parts.contains(.lanes) {
            measurements += try LaneBenchmark(workplace: workplace, inputs: inputs, rounds: options.rounds).measure()
        }
        if options.parts.contains(.soak) {
            let samples = options.photograph.deletingLastPathComponent().deletingLastPathComponent()
            measurements += try SoakBenchmark(workplace: workplace, samples: samples).measure()
        }
        if options.parts.contains(.deadline) {
            let samples = options.photograph.deletingLastPathComponent().deletingLastPathComponent()
            measurements += try DeadlineBenchmark(
                workplace: workplace, inputs: inputs, samples: samples, rounds: options.rounds
            ).measure()
        }
        if options.parts.contains(.overload) {
            measurements += try OverloadBenchmark(workplace: workplace, inputs: inputs).measure()
        }
        try workplace.clear()
        return Report(machine: machine, rounds: options.rounds, measurements: measurements)
    }
}

/// What a run measures, and where.
struct Options {
    enum Part: String, CaseIterable {
        case photographs, cores, memory, isolation, animations, trims, placeholders, jobs, lanes, delivery, soak,
            overload, deadline
    }

    var programs: URL
    var directory: URL
    var photograph: URL
    var rounds = 5
    var parts = Set(Part.allCases)

    /// - Throws: ``CommandFailure``, which says how it is called.
    init(_ arguments: some Collection<String>) throws {
        var rest = Array(arguments)
        func usage(_ reason: String) -> CommandFailure {
            let parts = Part.allCases.map(\.rawValue).joined(separator: "|")
            return CommandFailure(
                command: ["bench"],
                reason: "\(reason)\nusage: bench PROGRAMS PHOTOGRAPH DIRECTORY [--rounds N] [--only \(parts)]…")
        }
        var places: [URL] = []
        var only: Set<Part> = []
        while !rest.isEmpty {
            let argument = rest.removeFirst()
            switch argument {
            case "--rounds":
                guard let text = rest.first, let number = Int(text), number > 0 else { throw usage("how many rounds?") }
                rounds = number
                rest.removeFirst()
            case "--only":
                guard let text = rest.first, let part = Part(rawValue: text) else { throw usage("only what?") }
                only.insert(part)
                rest.removeFirst()
            default:
                places.append(URL(filePath: argument))
            }
        }
        guard places.count == 3 else { throw usage("three paths are needed") }
        (programs, photograph, directory) = (places[0], places[1], places[2])
        if !only.isEmpty { parts = only }
    }
}

/// A line on a terminal that says what is being measured.
enum Progress {
    static func say(_ text: String) {
        guard isatty(2) != 0 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text) …".utf8))
    }

    /// Something that explains a figure.
    static func note(_ text: String) {
        end()
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }

    static func end() {
        guard isatty(2) != 0 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}
