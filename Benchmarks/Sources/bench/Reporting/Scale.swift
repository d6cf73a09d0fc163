import Foundation

/// From values to places along an axis, with round values to mark.
struct Scale {
    let lower: Double
    let upper: Double
    let isLogarithmic: Bool
    let marks: [Double]

    /// - Parameter values: What must have a place. A linear axis starts at zero where nothing is below it.
    init(_ values: [Double], isLogarithmic: Bool) {
        let finite = values.filter { $0.isFinite && (!isLogarithmic || $0 > 0) }
        let least = finite.min() ?? 0
        let most = finite.max() ?? 1
        self.isLogarithmic = isLogarithmic
        if isLogarithmic {
            // An axis of whole powers of ten, at least one of them long.
            let first = log10(least > 0 ? least : 1).rounded(.down)
            let last = max(first + 1, log10(most > 0 ? most : 10).rounded(.up))
            (lower, upper) = (pow(10, first), pow(10, last))
            marks = stride(from: first, through: last, by: 1).map { pow(10, $0) }
        } else {
            let bottom = min(0, least)
            let top = most > bottom ? most : bottom + 1
            let step = Self.step((top - bottom) / 5)
            lower = (bottom / step).rounded(.down) * step
            upper = (top / step).rounded(.up) * step
            let count = Int(((upper - lower) / step).rounded())
            marks = (0...count).map { [lower] in lower + Double($0) * step }
        }
    }

    /// From 0 at the lower end to 1 at the upper.
    func place(_ value: Double) -> Double {
        guard isLogarithmic else { return (value - lower) / (upper - lower) }
        return (log10(max(value, lower)) - log10(lower)) / (log10(upper) - log10(lower))
    }

    /// The next of 1, 2 and 5 times a power of ten.
    private static func step(_ wanted: Double) -> Double {
        let power = pow(10, log10(wanted).rounded(.down))
        let factor = [1.0, 2, 5, 10].first { $0 * power >= wanted * 0.999_999 } ?? 10
        return factor * power
    }

    /// As short as it can be said: 0.5, 20, 3,000, 10⁶ as 1M.
    static func label(_ value: Double) -> String {
        let size = abs(value)
        func short(_ value: Double, _ unit: String) -> String {
            let text = String(format: "%.2f", value)
            let trimmed = text.replacing(#/\.?0+$/#, with: "")
            return (trimmed.isEmpty ? "0" : trimmed) + unit
        }
        if size >= 1e6 { return short(value / 1e6, "M") }
        if size >= 1e4 { return short(value / 1e3, "k") }
        if size >= 100 { return String(format: "%.0f", value) }
        if size >= 10 { return String(format: "%.1f", value).replacing(".0", with: "") }
        if size >= 0.01 || size == 0 {
            return value == value.rounded() ? String(format: "%.0f", value) : short(value, "")
        }
        return String(format: "%.0e", value)
    }
}
