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
        var writer = ListWriter<(number: Int, next: Occurrence)>(
            format.format, isProse: true,
            [
                ListColumn("NUMBER", "number", 6, isNumber: true) { "\($0.number)" },
                ListColumn("AT", "at", 24) { $0.next.at.description },
                ListColumn("LOCAL", "local", 25) { $0.next.local ?? "-" },
                ListColumn("NOTE", "note", 0) { $0.next.note ?? "-" },
            ])
        for (index, next) in check.occurrences.enumerated() {
            let line: JSONFields = ["number": index + 1, "at": next.at, "local": next.local, "note": next.note]
            try writer.write((number: index + 1, next: next), json: line)
        }
    }
}
