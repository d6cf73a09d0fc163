import SatchelCore

/// Counts the results of a run and summarizes them.
struct Summary: Codable, Sendable {
    private(set) var counts: [ResultLine.State: Int] = [:]
    private var codes: [LineError.Code: Int] = [:]
    private var failures: [Failure] = []
    /// Files that were not delivered in full, with the reasons.
    private var incomplete: [Incomplete] = []
    private var reduced = 0
    /// Files delivered in full, grouped by what the profile omits.
    private var notes = Named()
    /// Skipped files, grouped by reason.
    private var skips = Named()
    private var unchangedFailures = 0
    /// Files that were not opened, with the first paths.
    private var passedOver = 0
    private var passedOverPaths: [String] = []
    private var trimmed = 0
    private var bytesIn: Int64 = 0
    private var bytesOut: Int64 = 0

    /// The number of failures and losses listed one by one. The report and the store have all.
    static let listed = 20

    private struct Failure: Codable, Sendable {
        var path: String
        var error: LineError
    }

    private struct Incomplete: Codable, Sendable {
        var path: String
        var reason: String
    }

    /// A text that applies to several files, with the first of their paths.
    private struct Named: Codable, Sendable {
        private struct Entry: Codable, Sendable {
            var paths: [String]
            var text: String
            var count: Int
        }

        private var entries: [Entry] = []

        /// The number of paths listed for a text.
        static let most = 5

        var isEmpty: Bool { entries.isEmpty }

        mutating func add(_ text: String, of path: String) {
            if let index = entries.firstIndex(where: { $0.text == text }) {
                entries[index].count += 1
                if entries[index].paths.count < Self.most { entries[index].paths.append(path) }
            } else {
                entries.append(Entry(paths: [path], text: text, count: 1))
            }
        }

        var lines: [String] {
            let rest = entries.dropFirst(Summary.listed).reduce(0) { $0 + $1.count }
            return entries.prefix(Summary.listed).map { "  \(Self.names($0.paths, of: $0.count)): \($0.text)" }
                + Summary.more(rest)
        }

        /// `a, b and 3 more`.
        static func names(_ paths: [String], of count: Int) -> String {
            paths.joined(separator: ", ") + (count > paths.count ? " and \(count - paths.count) more" : "")
        }
    }

    /// Says how to see entries that are not listed.
    private static func more(_ count: Int) -> [String] {
        count > 0 ? ["  … and \(count) more. Use --format jsonl to list all."] : []
    }

    mutating func add(_ line: ResultLine) {
        counts[line.state, default: 0] += 1
        if line.state == .delivered {
            bytesIn += line.source.bytes ?? 0
            // Counts the same bytes as the rows, without thumbnails.
            bytesOut += line.deliveredBytes ?? 0
            if line.trim != nil { trimmed += 1 }
            if let reason = line.reason {
                reduced += 1
                if incomplete.count < Self.listed {
                    incomplete.append(Incomplete(path: line.shownPath, reason: reason))
                }
            }
            // Trims are only counted.
            for note in line.notes where line.trim == nil { notes.add("\(note).", of: line.shownPath) }
        }
        if line.state == .skipped, line.isNews {
            if let reason = line.error?.message { skips.add(reason, of: line.shownPath) }
        } else if line.state == .skipped {
            passedOver += 1
            if passedOverPaths.count < Named.most { passedOverPaths.append(line.shownPath) }
        }
        if line.isFailure, let error = line.error {
            codes[error.code, default: 0] += 1
            if line.state == .unchanged { unchangedFailures += 1 }
            if failures.count < Self.listed { failures.append(Failure(path: line.shownPath, error: error)) }
        }
    }

    /// Counts delivered files as failed because their output could not be written.
    mutating func fail(_ unwritten: RunCounts.Unwritten) {
        counts[.delivered, default: 0] -= unwritten.count
        counts[.failed, default: 0] += unwritten.count
        codes[.outputFailed, default: 0] += unwritten.count
        for one in unwritten.examples.prefix(Self.listed - failures.count) {
            failures.append(Failure(path: one.path, error: one.error))
        }
    }

    var failed: Int { codes.values.reduce(0, +) }
    /// The count leaves out failures of earlier runs.
    var failedNow: Int { failed - unchangedFailures }
    var total: Int { counts.values.reduce(0, +) }

    /// Returns the lines that end a run.
    ///
    /// - Parameter isQuiet: Whether to return lines only if something was not delivered, or not in full.
    func lines(profile: Profile, elapsed: Duration, isQuiet: Bool = false) -> [String] {
        if isQuiet && failed == 0 && reduced == 0 { return [] }
        var lines = failures.map { "  \($0.path): \($0.error.code.rawValue). \($0.error.message)" }
        if !lines.isEmpty { lines.insert("Not delivered:", at: 0) }
        lines += Self.more(failed - failures.count)
        if !incomplete.isEmpty { lines.append("Delivered, but not in full:") }
        lines += incomplete.map { "  \($0.path): \($0.reason)." }
        lines += Self.more(reduced - incomplete.count)
        if !isQuiet, !notes.isEmpty { lines += ["Delivered, with a note:"] + notes.lines }
        if !isQuiet, !skips.isEmpty { lines += ["Skipped:"] + skips.lines }
        let delivered = counts[.delivered] ?? 0
        let unchanged = counts[.unchanged] ?? 0
        if total == 0 {
            lines.append("No files found.")
        } else if unchanged > 0, unchanged + passedOver == total {
            lines.append(
                "Nothing to do: \(Quantity.count(unchanged, "file")) unchanged since an earlier run"
                    + (passedOver > 0 ? ", \(passedOver) not opened (such as links; --all lists them)." : "."))
        } else {
            if !isQuiet, passedOver > 0 {
                lines.append(
                    "Not opened, because not regular files: \(Named.names(passedOverPaths, of: passedOver)). Use --all to list them."
                )
            }
            var parts = ["\(delivered) delivered"]
            let fresh = counts[.failed] ?? 0
            if fresh > 0 { parts.append("\(fresh) failed") }
            let skipped = (counts[.skipped] ?? 0) - passedOver
            if skipped > 0 { parts.append("\(skipped) skipped (empty or not media)") }
            if passedOver > 0 { parts.append("\(passedOver) not opened (such as links)") }
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
                "\(Quantity.count(trimmed, "clip")) trimmed to the limits of the profile '\(profile.name)'. See 'satchel profile list' for others."
            )
        }
        if unchangedFailures > 0 {
            lines.append(
                "\(Quantity.count(unchangedFailures, "file")) failed in an earlier run. Use --retry-failed to retry.")
        }
        return lines
    }
}
