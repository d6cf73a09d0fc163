/// A drawing as values, from which it can be drawn again without measuring.
struct Plot: Sendable, Codable {
    /// Of its file, without `.svg`.
    var name: String
    var title: String
    var form: Form

    enum Form: Sendable, Codable {
        case bars([Bar], axis: Axis)
        case lines([Series], x: Axis, y: Axis)
    }

    struct Axis: Sendable, Codable {
        /// With the unit: `CPU per photograph, ms`.
        var label: String
        var isLogarithmic = false
    }

    struct Bar: Sendable, Codable {
        var label: String
        var role: Comparison.Role
        var value: Double
        var least: Double
        var most: Double
    }

    struct Series: Sendable, Codable {
        var label: String
        var role: Comparison.Role
        var points: [Point]
    }

    struct Point: Sendable, Codable {
        var x: Double
        var y: Double
    }
}

extension Plot {
    /// Bars of one column, the best first; without those that have no figure.
    init(
        _ name: String, _ title: String, of comparison: Comparison, column: String, axis: Axis,
        lessIsBetter: Bool = false
    ) {
        self.name = name
        self.title = title
        let bars = comparison.rows.compactMap { row in
            row[column].flatMap { spread in
                spread.median.isFinite
                    ? Bar(
                        label: row.title, role: row.role, value: spread.median, least: spread.least, most: spread.most)
                    : nil
            }
        }
        form = .bars(bars.sorted { lessIsBetter ? $0.value < $1.value : $0.value > $1.value }, axis: axis)
    }
}
