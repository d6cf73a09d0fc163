import ArgumentParser
import Attachments

/// What a lease, link or grant covers.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The renditions that it covers; several with commas, or repeated. Default: all.", valueName: "name"))
    var rendition: [Several<RenditionRole>] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("How long it lasts, such as 300, 10m, 24h or 7d.", valueName: "time"))
    var time: TimeSpan?

    var renditions: [RenditionRole]? { rendition.isEmpty ? nil : rendition.all() }
}

/// A duration with an optional unit: `300`, `10m`, `24h`, `7d`.
struct TimeSpan: ExpressibleByArgument {
    var duration: Duration

    init(duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Int64(unit == nil ? argument : String(argument.dropLast())), number > 0, number < 1 << 32
        else { return nil }
        duration = .seconds(number * (unit ?? 1))
    }

    var defaultValueDescription: String { Quantity.seconds(duration.inSeconds) }
}
