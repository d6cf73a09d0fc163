import Glibc

/// The `Date` header, written once a second.
package final class DateText {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    package init() {}

    /// Of the last text.
    package private(set) var second = 0
    private var written = ""

    /// As in `Sun, 06 Nov 1994 08:49:37 GMT`.
    package var text: String {
        let now = time(nil)
        if now != second {
            second = now
            written = Self.text(of: now)
        }
        return written
    }

    /// - Parameter second: Since 1970-01-01T00:00:00Z.
    package static func text(of second: Int) -> String {
        let day = second / 86_400
        let ofDay = second % 86_400
        // Days of the era of 400 years that began on 0000-03-01, so that a leap day is a year's last.
        let era = (day + 719_468) / 146_097
        let ofEra = (day + 719_468) % 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * year + year / 4 - year / 100)
        let march = (5 * ofYear + 2) / 153
        let ofMonth = ofYear - (153 * march + 2) / 5 + 1
        let month = (march + 2) % 12
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[(day + 4) % 7]), \(two(ofMonth)) \(months[month]) \(era * 400 + year + (month < 2 ? 1 : 0)) "
            + "\(two(ofDay / 3600)):\(two(ofDay / 60 % 60)):\(two(ofDay % 60)) GMT"
    }
}
