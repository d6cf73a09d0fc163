import Attachments

/// Counts what became of the files of a run, and says it at the end.
struct Summary {
    private(set) var counts: [ResultLine.State: Int] = [:]
    private var codes: [LineError.Code: Int] = [:]
    private var failures: [(path: String, error: LineError)] = []
    /// Delivered, but not in full, with the reason.
    private var shortfalls: [(path: String, reason: String)] = []
    private var reduced = 0
    /// Looked at and not taken, by what is said of them, with the first paths.
    private var skips: [(paths: [String], reason: String, count: Int)] = []
    private var unchangedFailures = 0
    /// Without a look.
    private var passedOver = 0
    private var trimmed = 0
    private var bytesIn: Int64 = 0
    private var bytesOut: Int64 = 0

    /// Failures, and what was delivered with less, that are listed one by one; the report and the store have them all.
    private static let listed = 20
    /// Files that are named of those that were skipped for one reason.
    private static let named = 5

    mutating func add(_ line: ResultLine) {
        counts[line.state, default: 0] += 1
        if line.state == .delivered {
            bytesIn += line.source.bytes ?? 0
            // What the rows say, without what is made beside: a thumbnail isn't what a file became.
            bytesOut += line.deliveredBytes ?? 0
            if line.trim != nil { trimmed += 1 }
            if let reason = line.reason {
                reduced += 1
                if shortfalls.count < Self.listed { shortfalls.append((line.shownPath, reason)) }
            }
        }
        if line.state == .skipped { line.isNews ? addSkip(line) : (passedOver += 1) }
        if line.isFailure, let error = line.error {
            codes[error.code, default: 0] += 1
            if line.state == .unchanged { unchangedFailures += 1 }
            if failures.count < Self.listed { failures.append((line.shownPath, error)) }
        }
    }

    private mutating func addSkip(_ line: ResultLine) {
        guard let reason = line.error?.message else { return }
        if let index = skips.firstIndex(where: { $0.reason == reason }) {
            skips[index].count += 1
            if skips[index].paths.count < Self.named { skips[index].paths.append(line.shownPath) }
        } else {
            skips.append(([line.shownPath], reason, 1))
        }
    }

    var failed: Int { codes.values.reduce(0, +) }
    var total: Int { counts.values.reduce(0, +) }

    /// The sentences that end a run, one a line.
    ///
    /// - Parameter isQuiet: Only where something was not delivered, or not in full.
    func lines(profile: Profile, elapsed: Duration, isQuiet: Bool = false) -> [String] {
        if isQuiet && failed == 0 && reduced == 0 { return [] }
        var lines = failures.map { "  \($0.path): \($0.error.code.rawValue). \($0.error.message)" }
        if !lines.isEmpty { lines.insert("Not delivered:", at: 0) }
        if failed > failures.count {
            lines.append("  … and \(failed - failures.count) more; --format jsonl or --report has all of them.")
        }
        if !shortfalls.isEmpty { lines.append("Delivered, but not in full:") }
        lines += shortfalls.map { "  \($0.path): \($0.reason)." }
        if reduced > shortfalls.count { lines.append("  … and \(reduced - shortfalls.count) more.") }
        if !isQuiet, !skips.isEmpty {
            lines.append("Skipped:")
            lines += skips.prefix(Self.listed).map { skip in
                let rest = skip.count - skip.paths.count
                return "  \(skip.paths.joined(separator: ", "))\(rest > 0 ? " and \(rest) more" : ""): \(skip.reason)"
            }
            let rest = skips.dropFirst(Self.listed).reduce(0) { $0 + $1.count }
            if rest > 0 { lines.append("  … and \(rest) more.") }
        }
        let delivered = counts[.delivered] ?? 0
        let unchanged = counts[.unchanged] ?? 0
        if total == 0 {
            lines.append("There was no file to look at.")
        } else if unchanged > 0, unchanged + passedOver == total {
            lines.append(
                "Nothing was left to do: \(Quantity.count(unchanged, "file")) unchanged since an earlier run"
                    + (passedOver > 0 ? ", \(passedOver) skipped (links and the like)." : "."))
        } else {
            var parts = ["\(delivered) delivered"]
            let fresh = counts[.failed] ?? 0
            if fresh > 0 { parts.append("\(fresh) failed") }
            let skipped = (counts[.skipped] ?? 0) - passedOver
            if skipped > 0 { parts.append("\(skipped) skipped (no media, or empty)") }
            if passedOver > 0 { parts.append("\(passedOver) passed over (links and the like)") }
            if unchanged > 0 { parts.append("\(unchanged) unchanged") }
            lines.append("\(Quantity.count(total, "file")): " + parts.joined(separator: ", ") + ".")
        }
        if delivered > 0 {
            lines.append(
                "\(Quantity.bytes(bytesIn)) became \(Quantity.bytes(bytesOut)) in \(Quantity.seconds(elapsed.inSeconds))."
            )
        }
        if trimmed > 0 {
            lines.append(
                "\(Quantity.count(trimmed, "clip")) trimmed to what the profile '\(profile.name)' takes; 'satchel profile list' shows others."
            )
        }
        if unchangedFailures > 0 {
            lines.append(
                "\(Quantity.count(unchangedFailures, "file")) failed in an earlier run; --retry-failed tries again.")
        }
        return lines
    }
}
