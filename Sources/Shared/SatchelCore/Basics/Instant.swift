import FoundationEssentials

/// A moment in UTC, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// Instants that are compared across processes come from the ``RecordStore``; durations from a monotonic clock.
/// As JSON it is an RFC 3339 string with three decimals, such as `2026-11-21T10:15:00.120Z`.
public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since the Unix epoch.
    public var milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The wall clock of this machine. Only a ``RecordStore`` and what shows times to people should ask it.
    public static func wallClock() -> Instant {
        Instant(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment `duration` later, to the millisecond.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        Instant(milliseconds: instant.milliseconds + duration.wholeMilliseconds)
    }

    /// The moment `duration` earlier, to the millisecond.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(milliseconds: instant.milliseconds - duration.wholeMilliseconds)
    }

    /// The time from `right` to `left`.
    public static func - (left: Instant, right: Instant) -> Duration {
        .milliseconds(left.milliseconds - right.milliseconds)
    }
}

extension Instant: CustomStringConvertible {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    public var description: String {
        // Milliseconds survive the trip through a double; half of one keeps the formatter from rounding down.
        Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000).formatted(Self.style)
    }

    /// Reads what ``description`` writes; nil for anything else.
    public init?(_ text: String) {
        guard let date = try? Date(text, strategy: Self.style) else { return nil }
        self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded()))
    }
}

extension Instant: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let instant = Instant(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not an RFC 3339 time")
        }
        self = instant
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension Duration {
    /// A duration of `seconds`, which may have a fraction.
    public static func seconds(fraction seconds: Double) -> Duration {
        .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// Seconds as a number, as the API and the profiles write durations.
    public var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// Whole milliseconds, rounded towards zero.
    public var wholeMilliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}
