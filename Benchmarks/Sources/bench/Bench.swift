import Foundation

/// Measures the installed programs against the peers, in alternation.
@main
enum Bench {
    static func main() {
        do {
            switch try Invocation(CommandLine.arguments.dropFirst()) {
            case .help:
                print(Options.help)
            case .list:
                for part in Part.all { print(part.line) }
            case .draw(let options):
                try Publisher(options).draw()
            case .publish(let options, let directory):
                try Publisher(options).publish(into: directory)
            case .measure(let options):
                try measure(options)
            }
        } catch {
            Progress.end()
            FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
            exit(1)
        }
    }

    /// Part by part; the results are written after each, so that what was measured stays whatever happens next.
    private static func measure(_ options: Options) throws {
        let file = options.directory.appending(path: "results.json")
        var results = options.keepsResults ? try Results(of: file) : Results()
        let parts = options.parts.filter { part in !(options.resumes && results.have(part, as: options)) }
        let context = try RunContext(options)
        for part in parts {
            let result = context.measure(part)
            results.merge(result)
            try results.write(to: file)
            Progress.end()
            print("## \(part.name)\n\n\(result.text)\n")
        }
        // Not before: ext4 searches on and on for an inode where many were deleted in the last minutes.
        try? context.workplace.clear()
        try Publisher(options).draw()
        print("Everything is in \(file.path(percentEncoded: false)), the plots beside it.")
        let missed = parts.flatMap { results.result(of: $0)?.measurements ?? [] }.filter { $0.isMet == false }
        if !missed.isEmpty { print("Not every target is met: \(missed.map(\.name).joined(separator: ", ")).") }
        let failed = parts.filter { results.result(of: $0)?.failure != nil }
        guard failed.isEmpty else {
            throw CommandFailure(
                command: ["bench"], reason: "not measured: \(failed.map(\.name).joined(separator: ", "))")
        }
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
