/// Why a trigger can't be taken, though it is written as one.
public enum TriggerError: Error, Hashable, Sendable {
    /// A kind that only the phone could judge: `location` or `push`.
    case unsupported(type: String)
    /// Its date lies in the past.
    case passed(at: Instant)
    /// A date that its zone left out, or components that nothing matches in the next 40 years.
    case neverFires(field: String)
    case unknownTimeZone(String, nearest: [String])
    /// The rules of this zone can't be read here. `reason` is a clause.
    case unreadableTimeZone(String, reason: String)

    /// For programs; never reworded.
    public var code: String {
        switch self {
        case .unsupported: "unsupported_trigger"
        case .passed: "trigger_passed"
        case .neverFires: "trigger_never_fires"
        case .unknownTimeZone, .unreadableTimeZone: "unknown_time_zone"
        }
    }

    /// The field of the trigger that it is about.
    public var field: String {
        switch self {
        case .unsupported: "type"
        case .passed: "at"
        case .neverFires(let field): field
        case .unknownTimeZone, .unreadableTimeZone: "time_zone"
        }
    }

    /// For the sender: says what to do.
    public var message: String {
        switch self {
        case .unsupported("location"):
            "Only the phone knows where it is. Schedule a local notification in the app, and have its media prepared by a job."
        case .unsupported:
            "A push is the phone's to receive. Use the type 'manual' and fire it when the push is to be sent, or leave the trigger out."
        case .passed(let instant):
            "\(instant) has passed. Choose a later time, or leave the trigger out to fire at once."
        case .neverFires("at"):
            "Clocks in this zone never show this date and time. Choose another, or give an offset."
        case .neverFires:
            "Nothing matches these components in the next 40 years: a day that its month lacks is passed over, not moved. Change day, weekday, month or year."
        case .unknownTimeZone(let name, let nearest) where nearest.isEmpty:
            "There is no time zone '\(name.prefix(64))'. Use a name of the IANA database, such as Europe/Berlin."
        case .unknownTimeZone(let name, let nearest):
            "There is no time zone '\(name.prefix(64))'; the nearest: \(nearest.joined(separator: ", ")). Use a name of the IANA database."
        case .unreadableTimeZone(let name, let reason):
            "The rules of '\(name)' can't be read: \(reason). The operator should install the package tzdata anew."
        }
    }
}
