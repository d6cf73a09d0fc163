/// A time as somebody wrote it: RFC 3339's `date-time`, where the offset may be left out.
///
/// A leap second (`:60`) is no time here: POSIX's clocks never show it.
public struct WrittenTime: Hashable, Sendable {
    /// As it was given.
    public let text: String
    public let local: LocalTime
    /// Of the second that ``local`` names; further decimals are cut off.
    public let milliseconds: Int
    /// Seconds east of UTC; nil where it isn't said.
    public let offset: Int?

    /// The years that can be written: those for which a trigger could wait, and what a test of the past needs.
    public static let years = 1970...2999

    /// Nil for what isn't of this form, and for dates and times that don't exist.
    public init?(_ text: String) {
        var reader = DigitReader(text.utf8)
        guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
            reader.take("-"), let day = reader.number(digits: 2), reader.take("T") || reader.take("t"),
            let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2),
            reader.take(":"), let second = reader.number(digits: 2),
            Self.years.contains(year), (1...12).contains(month),
            (1...CivilDate.length(ofMonth: month, in: year)).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        guard let fraction = reader.fraction(), let offset = reader.offset(), reader.isAtEnd else { return nil }
        self.text = text
        local = LocalTime(
            CivilDate(year: year, month: month, day: day), secondOfDay: hour * 3600 + minute * 60 + second)
        milliseconds = fraction
        self.offset = offset.seconds
    }

    /// The moment that is meant; nil without an offset.
    public var instant: Instant? {
        offset.map { Instant(milliseconds: (local.seconds - Int64($0)) * 1000 + Int64(milliseconds)) }
    }
}

/// Reads digits and signs off the front of a text.
private struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String.UTF8View) {
        rest = text[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(digits count: Int) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest.removeFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Milliseconds; zero where there is no fraction, nil where it has no digits.
    mutating func fraction() -> Int? {
        guard take(".") else { return 0 }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard !digits.isEmpty else { return nil }
        rest.removeFirst(digits.count)
        return (0..<3).reduce(0) { value, place in
            let digit = digits.dropFirst(place).first.map { Int($0 - 0x30) } ?? 0
            return value * 10 + digit
        }
    }

    /// Nil for what is no offset; one without seconds where there is none.
    mutating func offset() -> (seconds: Int?, Void)? {
        if isAtEnd { return (nil, ()) }
        if take("Z") || take("z") { return (0, ()) }
        let sign: Int
        if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
        guard let hours = number(digits: 2), take(":"), let minutes = number(digits: 2), hours < 24, minutes < 60 else {
            return nil
        }
        return (sign * (hours * 3600 + minutes * 60), ())
    }
}
