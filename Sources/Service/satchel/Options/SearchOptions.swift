import ArgumentParser
import SatchelCore

/// Filters for lists of jobs and attachments, in addition to their state.
struct SearchOptions: ParsableArguments {
    @Option(help: "Only failures with this code.")
    var code: ErrorCode?

    @Option(help: ArgumentHelp("Only jobs with this profile.", valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp("Only attachments with this identifier, or jobs that have one.", valueName: "name"))
    var identifier: String?

    @Option(
        help: ArgumentHelp(
            "Only jobs with this metadata (comma-separated or repeated; all pairs must match).",
            valueName: "key=value"))
    var metadata: [Several<LabelArgument>] = []

    @Option(
        help: ArgumentHelp(
            "Only those created since a time (2026-11-28T12:00:00Z) or an age (90s, 30m, 24h, 7d).",
            valueName: "time"))
    var since: PastTime?

    @Option(help: ArgumentHelp("Only those created before a time or an age.", valueName: "time"))
    var before: PastTime?

    /// - Parameter now: The time from which ages are counted.
    func filter(state: WorkState?, kind: MediaKind? = nil, at now: Instant) -> RecordFilter {
        RecordFilter(
            state: state, kind: kind, code: code, profile: profile, identifier: identifier,
            since: since?.instant(at: now), before: before?.instant(at: now), labels: Set(metadata.all().map(\.label)))
    }
}

/// A pair of metadata, written `KEY=VALUE`.
struct LabelArgument: ExpressibleByArgument {
    var label: JobLabel

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
        label = JobLabel(String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }
}

/// A time in the past, written as an RFC 3339 time or as an age.
enum PastTime: ExpressibleByArgument {
    case at(Instant)
    case ago(Duration)

    init?(argument: String) {
        if let instant = WrittenTime(argument)?.instant {
            self = .at(instant)
        } else if let span = TimeSpan(argument: argument) {
            self = .ago(span.duration)
        } else {
            return nil
        }
    }

    func instant(at now: Instant) -> Instant {
        switch self {
        case .at(let instant): instant
        case .ago(let duration): now - duration
        }
    }
}
