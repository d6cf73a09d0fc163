import Foundation

/// Numbers formatted for people.
enum Quantity {
    /// Decimal units, three digits: `184 kB`, `3.1 MB`.
    static func bytes(_ count: Int64?) -> String {
        guard let count else { return "-" }
        var value = Double(count)
        for unit in ["B", "kB", "MB", "GB"] {
            if value < 999.5 || unit == "GB" {
                return unit == "B" || value >= 99.95
                    ? "\(Int(value.rounded())) \(unit)" : "\(tenths(value)) \(unit)"
            }
            value /= 1000
        }
        return "\(count) B"
    }

    /// `0.15 s`, `12.3 s`, `4 min 10 s`.
    static func seconds(_ seconds: Double?) -> String {
        guard let seconds else { return "-" }
        if seconds < 9.995 { return String(format: "%.2f s", seconds) }
        if seconds < 99.95 { return String(format: "%.1f s", seconds) }
        let whole = Int(seconds.rounded())
        if whole < 3600 { return "\(whole / 60) min \(whole % 60) s" }
        return "\(whole / 3600) h \(whole % 3600 / 60) min"
    }

    /// Seconds for programs, rounded to milliseconds.
    static func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }

    /// A rough estimate: `under 5 s`, `40 s`, `3 min`, `2 h 10 min`.
    static func roughly(_ seconds: Double) -> String {
        switch seconds {
        case ..<5: "under 5 s"
        case ..<57.5: "\(Int((seconds / 5).rounded()) * 5) s"
        case ..<3570: "\(max(1, Int((seconds / 60).rounded()))) min"
        case ..<360_000: "\(Int((seconds / 60).rounded()) / 60) h \(Int((seconds / 60).rounded()) % 60) min"
        default: "days"
        }
    }

    static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        number == 1 ? "1 \(singular)" : "\(number) \(plural ?? singular + "s")"
    }

    /// `4.2`.
    static func tenths(_ value: Double) -> String {
        String(format: "%.1f", value)
    }
}
