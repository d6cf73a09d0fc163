import Foundation
import Testing

@testable import bench

@Suite struct ResultsTests {
    private func result(_ part: String, _ value: Double, failure: String? = nil) -> PartResult {
        var result = PartResult(
            part: part, extent: "short", rounds: 3, seed: 7, machine: Machine(satchel: "true"))
        result.probeResult = Findings(
            [Measurement("\(part).cpu", "A title", .milliseconds, [value, value + 1], target: .atMost(5))],
            comparisons: [
                Comparison(
                    name: part, title: "Sides",
                    columns: [Comparison.Column(name: "cpu", title: "CPU", unit: .milliseconds)],
                    rows: [
                        Comparison.Row(
                            name: "own", title: "Satchel", role: .own,
                            figures: [Comparison.Figure(column: "cpu", spread: Spread([value]))]),
                        Comparison.Row(name: "gone", title: "Gone", role: .peer, figures: [], absence: "is missing"),
                    ])
            ])
        result.probeResult.plots = [
            Plot(
                part, "A plot", of: result.probeResult.comparisons[0], column: "cpu",
                axis: Plot.Axis(label: "CPU, ms"))
        ]
        result.failure = failure
        return result
    }

    @Test func `a part's new result takes the place of its old one and of nothing else`() {
        var results = Results()
        results.merge(result("isolation", 1))
        results.merge(result("photographs", 2))
        results.merge(result("isolation", 3))
        #expect(results.parts.map(\.part) == ["photographs", "isolation"])
        #expect(results.parts[1].measurements[0].spread.samples == [3, 4])
    }

    @Test func `results are read back as they were written`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "results-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        var results = Results()
        results.merge(result("photographs", 2))
        try results.write(to: file)
        let read = try Results(of: file)
        #expect(read.parts[0].measurements[0].target == .atMost(5))
        #expect(read.parts[0].measurements[0].spread == Spread([2, 3]))
        #expect(read.parts[0].probeResult.comparisons[0]["own"]?["cpu"] == Spread([2]))
        #expect(read.parts[0].probeResult.plots[0].svg == results.parts[0].probeResult.plots[0].svg)
    }

    @Test func `what is no number is written, as null, and read back`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "results-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        var odd = result("photographs", .nan)
        odd.probeResult.measurements.append(Measurement("photographs.some", "Some", .ratio, [.infinity, 2]))
        odd.probeResult.notes = ["Left out for everybody: a.jpg: it is PNG"]
        var results = Results()
        results.merge(odd)
        try results.write(to: file)
        #expect(try String(contentsOf: file, encoding: .utf8).contains("null"))
        let read = try Results(of: file).parts[0]
        #expect(read.measurements[0].spread.median.isNaN)
        #expect(read.measurements[1].spread.median == 2)
        #expect(read.probeResult.notes == odd.probeResult.notes)
        #expect(read.text.contains("| Satchel | – ") && !read.text.lowercased().contains("nan"))
        #expect(read.text.contains("a.jpg: it is PNG"))
        #expect(!read.probeResult.plots[0].svg.lowercased().contains("nan"))
    }

    @Test func `a file of another kind is refused and not overwritten`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "results-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("{\"measurements\": []}".utf8).write(to: file)
        #expect(throws: CommandFailure.self) { try Results(of: file) }
    }

    @Test func `what failed, or was measured otherwise, is measured again`() throws {
        var results = Results()
        results.merge(result("photographs", 2))
        results.merge(result("cores", 2, failure: "broke"))
        let parts = Dictionary(uniqueKeysWithValues: Part.all.map { ($0.name, $0) })
        let photographs = try #require(parts["photographs"])
        let cores = try #require(parts["cores"])
        var options = Options()
        options.seed = 7
        #expect(results.have(photographs, as: options))
        #expect(!results.have(cores, as: options))
        options.corpus = URL(filePath: "/pictures")
        #expect(!results.have(photographs, as: options))
        options.corpus = nil
        options.isFull = true
        #expect(!results.have(photographs, as: options))
    }

    @Test func `names of parts are unique`() {
        #expect(Set(Part.all.map(\.name)).count == Part.all.count)
    }

    @Test func `every part has its place on the page`() throws {
        let page = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../README.md"),
            encoding: .utf8)
        for part in Part.all {
            #expect(page.contains("<!-- results: \(part.name) -->\n"), "\(part.name) has none")
        }
    }

    @Test func `a page has its figures replaced between the marks, and failed parts leave it alone`() {
        var results = Results()
        results.merge(result("photographs", 2))
        results.merge(result("cores", 2, failure: "broke"))
        let page =
            "a\n<!-- results: photographs -->\nold\n<!-- end -->\nb\n<!-- results: cores -->\nold\n<!-- end -->\nc"
        let filled = Publisher.fill(page, with: results)
        #expect(filled.contains("![A plot](plots/photographs.svg)"))
        #expect(filled.hasSuffix("<!-- end -->\nb\n<!-- results: cores -->\nold\n<!-- end -->\nc"))
        #expect(filled.hasPrefix("a\n<!-- results: photographs -->\n\n**Sides**"))
        #expect(Publisher.fill(filled, with: results) == filled)
    }

    @Test func `what has no figure is named below the table, with the reason`() {
        let text = result("photographs", 2).text
        #expect(text.contains("| Satchel | 2.0 ms |"))
        #expect(text.contains("No figure for Gone: is missing"))
        #expect(!text.contains("| Gone"))
    }
}
