import Foundation

/// Shows results: draws their plots, and writes their tables into a page.
struct Publisher {
    private let directory: URL
    private let results: Results

    init(_ options: Options) throws {
        directory = options.directory
        results = try Results(of: options.directory.appending(path: "results.json"))
    }

    /// Draws every plot, beside the results.
    func draw() throws {
        try draw(into: directory.appending(path: "plots", directoryHint: .isDirectory))
    }

    /// Draws them into `plots` of a directory, and puts each part's tables into its README.
    func publish(into place: URL) throws {
        guard !results.parts.isEmpty else {
            throw CommandFailure(
                command: ["bench", "--publish"], reason: "there are no results: 'make bench' makes some")
        }
        try draw(into: place.appending(path: "plots", directoryHint: .isDirectory))
        let page = place.appending(path: "README.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        try Data(Self.fill(text, with: results).utf8).write(to: page, options: .atomic)
    }

    /// Replaces what stands between `<!-- results: PART -->` and `<!-- end -->`, for every part that has results.
    static func fill(_ page: String, with results: Results) -> String {
        results.parts.reduce(page) { page, result in
            let mark = "<!-- results: \(result.part) -->"
            guard result.failure == nil, let start = page.range(of: mark),
                let end = page.range(of: "<!-- end -->", range: start.upperBound..<page.endIndex)
            else { return page }
            let plots = result.probeResult.plots.map { "![\($0.title)](plots/\($0.name).svg)" }
            let pieces = [result.text] + plots
            return page.replacingCharacters(
                in: start.upperBound..<end.lowerBound, with: "\n\n\(pieces.joined(separator: "\n\n"))\n\n")
        }
    }

    private func draw(into place: URL) throws {
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for plot in results.parts.flatMap(\.probeResult.plots) {
            let file = place.appending(path: "\(plot.name).svg")
            try Data(plot.svg.utf8).write(to: file, options: .atomic)
        }
    }
}
