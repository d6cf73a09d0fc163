import ArgumentParser
import SatchelCore

/// What a list of jobs or attachments is narrowed to, beside its state.
struct SearchOptions: ParsableArguments {
    @Option(help: "Only what failed with this code.")
    var code: ErrorCode?

    @Option(help: ArgumentHelp("Only of jobs with this profile.", valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp("Only with this identifier, or of jobs that have such an attachment.", valueName: "name"))
    var identifier: String?

    @Option(
        help: ArgumentHelp(
            "Only of jobs with this pair of metadata; several with commas, or repeated: all must hold.",
            valueName: "key=value"))
    var metadata: [Several<LabelArgument>] = []

    @Option(
        help: ArgumentHelp(
            "Only what was created since then: a time as RFC 3339 writes it, or so long ago, such as 90, 30m, 24h or 7d.",
            valueName: "time"))
    var since: PastTime?

    @Option(help: ArgumentHelp("Only what was created before then; as --since.", valueName: "time"))
    var before: PastTime?

    /// - Parameter now: What times are told from that are so long ago.
    func filter(state: WorkState?, kind: MediaKind? = nil, at now: Instant) -> RecordFilter {
        RecordFilter(
            state: state, kind: kind, code: code, profile: profile, identifier: identifier,
            since: since?.instant(at: now), before: before?.instant(at: now), labels: Set(metadata.all().map(\.label)))
    }
}

/// A pair of metadata, as `KEY=VALUE`.
struct LabelArgument: ExpressibleByArgument {
    var label: JobLabel

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
        label = JobLabel(String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
    }
}

/// A moment that is over: a time with its offset, or how long ago it was.
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
