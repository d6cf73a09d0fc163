import ArgumentParser
import SatchelCore
import Stores

/// Options for the scope and lifetime of a lease, link or grant.
struct AccessOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Renditions that it gives access to (comma-separated or repeated). Default: all.", valueName: "name"))
    var rendition: [Several<RenditionRole>] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("Lifetime, such as 300s, 10m, 24h or 7d.", valueName: "time"))
    var time: TimeSpan?

    func validate() throws {
        try time?.validate("--for", atMost: AccessLimits.longest)
    }

    /// Warns if access ends earlier than requested, because its grant does.
    func warn(of expiry: Instant, at now: Instant) {
        guard let time, expiry < now + time.duration - .seconds(60), expiry < now + time.duration * 0.99 else { return }
        Console.printError("Warning: access ends when its grant expires, before the \(time.text) of --for.")
    }

    func scope(grant: String?, owner: TenantID) -> AccessScope {
        grant.map { .bearer(AccessToken(secretText: $0)) } ?? .owner(owner)
    }

    /// Why nothing was given: for an attachment, or by a grant.
    func refusal(of id: String?) -> CommandFailure {
        id.map { .unknownAttachment($0) }
            ?? CommandFailure(
                "the grant is invalid, expired or revoked, or does not cover this rendition.", status: .notFound)
    }

    var renditions: [RenditionRole]? { rendition.isEmpty ? nil : rendition.all() }
}

/// A duration with an optional unit: `300`, `10m`, `24h`, `7d`.
struct TimeSpan: ExpressibleByArgument {
    var duration: Duration
    /// The duration as written on the command line.
    var text: String

    init(hours: Int) {
        duration = .seconds(hours * 3600)
        text = "\(hours)h"
    }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Int64(unit == nil ? argument : String(argument.dropLast())), number > 0, number < 1 << 32
        else { return nil }
        duration = .seconds(number * (unit ?? 1))
        text = argument
    }

    /// - Parameter longest: The maximum; ten years unless there is a stricter one.
    func validate(_ flag: String, atMost longest: Duration = .seconds(3650 * 86_400)) throws {
        guard duration > longest else { return }
        throw ValidationError(
            "\(flag) must be at most \(Quantity.count(Int(longest.inSeconds / 86_400), "day")), not \(text).")
    }

    var defaultValueDescription: String { text }
}
