/// Which edition of the time zone rules it is. Of two the later one is greater, so that nodes with different ones agree whose
/// word counts.
public struct TimeZoneRulesVersion: Hashable, Sendable, RawRepresentable, Codable {
    /// As the IANA database calls its releases, such as `2025b`; where the files don't say, their latest time and a hash.
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    /// Of files that don't tell their release.
    public init(modified: Instant, hash: UInt64) {
        let digits = String(hash, radix: 16)
        rawValue = "\(modified)-\(String(repeating: "0", count: 16 - digits.count))\(digits)"
    }

    /// A year and the letters that count its releases: a to z, then za; nil where it isn't known.
    private var release: (year: Int, letters: Substring)? {
        let digits = rawValue.prefix(4)
        let letters = rawValue.dropFirst(4).prefix { $0.isASCII && $0.isLowercase }
        guard digits.count == 4, let year = Int(digits), !letters.isEmpty else { return nil }
        return (year, letters)
    }

    /// When it was made, as far as can be told: a file's time, which copying may have changed, within the release's year.
    public func date(modified: Instant) -> Instant {
        guard let release else { return modified }
        func beginning(of year: Int) -> Instant {
            Instant(seconds: LocalTime(CivilDate(year: year, month: 1, day: 1)).seconds)
        }
        return min(max(modified, beginning(of: release.year)), beginning(of: release.year + 1))
    }
}

extension TimeZoneRulesVersion: Comparable {
    /// What doesn't tell its release is before what does.
    public static func < (left: TimeZoneRulesVersion, right: TimeZoneRulesVersion) -> Bool {
        switch (left.release, right.release) {
        case (let one?, let other?):
            let keys = (one.year, one.letters.count, String(one.letters))
            let others = (other.year, other.letters.count, String(other.letters))
            return keys == others ? left.rawValue < right.rawValue : keys < others
        case (nil, nil): return left.rawValue < right.rawValue
        case (let one, _): return one == nil
        }
    }
}
