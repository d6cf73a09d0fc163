import Foundation
import Testing

@testable import bench

@Suite struct DrawingTests {
    @Test func `percentiles are values that occur, by rank`() {
        let samples = (1...100).map(Double.init).shuffled()
        let found = Percentiles(samples)
        #expect(found.p50 == 50)
        #expect(found.p95 == 95)
        #expect(found.p99 == 99)
        #expect(Percentiles([3]).p99 == 3)
        #expect(Percentiles.percentile(0, of: [2, 1]) == 1)
        #expect(Percentiles.percentile(0.5, of: []) == .infinity)
    }

    @Test func `a linear axis starts at zero and has room for all`() {
        let scale = Scale([3, 47], isLogarithmic: false)
        #expect(scale.marks == [0, 10, 20, 30, 40, 50])
        #expect(scale.place(0) == 0)
        #expect(scale.place(50) == 1)
    }

    @Test func `a logarithmic axis runs over whole powers of ten`() {
        let scale = Scale([3, 47, 1200], isLogarithmic: true)
        #expect(scale.marks == [1, 10, 100, 1000, 10000])
        #expect(abs(scale.place(100) - 0.5) < 1e-9)
    }

    @Test(arguments: [[Double](), [0], [5, 5], [.infinity, 2]], [false, true])
    func `an axis has room whatever its values are`(values: [Double], isLogarithmic: Bool) {
        let scale = Scale(values, isLogarithmic: isLogarithmic)
        #expect(scale.upper > scale.lower)
        #expect(scale.marks.count > 1 && scale.marks.count < 30)
    }

    @Test(arguments: [
        (0.0, "0"), (0.5, "0.5"), (7, "7"), (12.25, "12.2"), (340, "340"), (25_000, "25k"), (1_000_000, "1M"),
    ])
    func `values are said shortly`(value: Double, text: String) {
        #expect(Scale.label(value) == text)
    }

    @Test func `a drawing is XML whatever its labels say`() throws {
        let bars = Plot(
            name: "bars", title: "a < b & \"c\"",
            form: .bars(
                [Plot.Bar(label: "<script>&", role: .own, value: 3, least: 2, most: 4)], axis: Plot.Axis(label: "ms")))
        let lines = Plot(
            name: "lines", title: "lines",
            form: .lines(
                [Plot.Series(label: "&", role: .peer, points: [Plot.Point(x: 1, y: 2), Plot.Point(x: 10, y: 3)])],
                x: Plot.Axis(label: "x", isLogarithmic: true), y: Plot.Axis(label: "y")))
        for plot in [bars, lines] {
            let file = FileManager.default.temporaryDirectory.appending(path: "plot-\(UUID().uuidString).svg")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(plot.svg.utf8).write(to: file)
            try Command(
                "python3",
                ["-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", file.path(percentEncoded: false)]
            ).run()
            #expect(!plot.svg.contains("<script"))
        }
    }
}
