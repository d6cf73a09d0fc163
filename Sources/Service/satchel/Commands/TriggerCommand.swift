import API
import ArgumentParser
import SatchelCore
import Platform

struct TriggerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trigger",
        abstract: "Show when a notification's trigger fires.",
        discussion: """
            The times follow this machine's time zone rules. A note says what happens where clocks change. Nothing is \
            stored.

            Examples:

              satchel trigger '{"type": "interval", "seconds": 1800}'
              satchel trigger "$(cat trigger.json)" --count 10
              satchel trigger "$(cat trigger.json)" --after 2026-03-28T00:00:00Z

            where trigger.json contains

              {"type": "calendar", "time_zone": "Europe/Berlin", "repeats": true,
               "components": {"weekday": ["monday", "friday"], "hour": 8}}
            """)

    @Argument(help: ArgumentHelp("The trigger as JSON, as in a notification.", valueName: "json"))
    var json: String

    @Option(
        help: ArgumentHelp("Start at this time, such as 2026-03-28T12:00:00+01:00. Default: now.", valueName: "time"))
    var after: Instant?

    @Option(
        help: ArgumentHelp(
            "Maximum number of times to show, up to \(TriggerCheck.counts.upperBound).", valueName: "count"))
    var count = TriggerCheck.standardCount

    @OptionGroup(title: "Results") var format: FormatOptions

    func validate() throws {
        guard TriggerCheck.counts.contains(count) else {
            throw ValidationError(
                "--count must be between \(TriggerCheck.counts.lowerBound) and \(TriggerCheck.counts.upperBound).")
        }
    }

    func run() async throws {
        let check: TriggerCheck
        do throws(TriggerCheck.Refusal) {
            check = try TriggerCheck(
                trigger: json, after: after ?? .wallClock(), count: count, in: TimeZoneDatabase())
        } catch {
            throw CommandFailure("the trigger is invalid: \(error.reasons.joined(separator: " "))", status: .usage)
        }
        if check.occurrences.isEmpty { Console.printError("A manual trigger has no scheduled times.") }
        var writer = ListWriter(
            format.format,
            columns: [
                .init(title: "NUMBER", width: 6, isNumber: true), .init(title: "AT", width: 24),
                .init(title: "LOCAL", width: 25), .init(title: "NOTE", width: 0),
            ], isProse: true, header: "number,at,local,note")
        for (index, occurrence) in check.occurrences.enumerated() {
            try writer.write(
                Line(number: index + 1, at: occurrence.at, local: occurrence.local, note: occurrence.note),
                cells: [
                    "\(index + 1)", occurrence.at.description, occurrence.local ?? "-", occurrence.note ?? "-",
                ])
        }
    }

    private struct Line: Encodable {
        var number: Int
        var at: Instant
        @Nullable var local: String?
        @Nullable var note: String?
    }
}
