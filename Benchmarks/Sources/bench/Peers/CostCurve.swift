import Foundation

/// What one source more costs, by how large sources are.
struct CostCurve {
    /// Of the measurements and the plot.
    var name: String
    var contenders: [Contender]
    var points: [Point]
    var rounds: Int
    let workplace: Workplace

    /// Sources of one size. The directories of `some` and `more` are different ones, as some take directories.
    struct Point {
        /// In the unit of the axis.
        var x: Double
        var some: [String]
        var more: [String]
    }

    /// - Returns: For each contender in order, milliseconds of CPU by point; nobody who fails has a curve.
    func measure() -> [(contender: Contender, values: [Spread])] {
        var samples = contenders.map { _ in points.map { _ in [Double]() } }
        var failed = Set<Int>()
        for round in 0..<rounds {
            for (index, contender) in contenders.enumerated() where !failed.contains(index) {
                Progress.say("\(name), round \(round + 1) of \(rounds): \(contender.title)")
                do {
                    for (place, point) in points.enumerated() {
                        samples[index][place].append(try cost(of: contender, point))
                    }
                } catch {
                    failed.insert(index)
                    Progress.note("\(name): no figure for \(contender.title): \(error)")
                }
            }
        }
        return contenders.indices.filter { !failed.contains($0) }.map { index in
            (contenders[index], samples[index].map { Spread($0) })
        }
    }

    /// Milliseconds for one source.
    private func cost(of contender: Contender, _ point: Point) throws -> Double {
        let some = try cpu(of: contender, point.some)
        guard contender.startsOnce else { return some / Double(point.some.count) * 1000 }
        return (try cpu(of: contender, point.some + point.more) - some) / Double(point.more.count) * 1000
    }

    private func cpu(of contender: Contender, _ sources: [String]) throws -> Double {
        let place = workplace.scratch.appending(path: "curve-\(UUID().uuidString)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        return try contender.make(sources, place).cpu
    }
}

extension Findings {
    /// A curve's plot, and a figure for each of its points.
    ///
    /// - Parameters:
    ///   - title: Of the plot.
    ///   - unit: Of the points: `megapixels`.
    init(_ curve: CostCurve, title: String, axis: Plot.Axis, costAxis: Plot.Axis, unit: String) {
        let measured = curve.measure()
        let measurements = measured.flatMap { contender, values in
            zip(curve.points, values).map { point, spread in
                Measurement(
                    "\(curve.name).\(contender.name)_\(Int(point.x))",
                    "\(title), \(Int(point.x)) \(unit): \(contender.title)", .milliseconds, spread.samples)
            }
        }
        let series = measured.map { contender, values in
            Plot.Series(
                label: contender.title, role: contender.role,
                points: zip(curve.points, values).filter(\.1.median.isFinite).map {
                    Plot.Point(x: $0.x, y: $1.median)
                })
        }
        self.init(
            measurements, plots: [Plot(name: curve.name, title: title, form: .lines(series, x: axis, y: costAxis))])
    }
}
