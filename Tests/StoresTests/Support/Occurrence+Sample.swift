import Attachments

extension NotificationID {
    static let a = NotificationID(rawValue: "a")
}

extension Occurrence {
    static func at(_ instant: Instant) -> Occurrence {
        Occurrence(at: instant, local: nil, note: nil, position: .instant(instant))
    }
}
