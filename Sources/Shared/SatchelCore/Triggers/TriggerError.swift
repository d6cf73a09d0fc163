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
            "The type 'location' is not supported, because only the phone knows where it is. Schedule a local notification in the app, and prepare its media with a job."
        case .unsupported:
            "The type 'push' is not supported, because only the phone receives pushes. Use the type 'manual' and fire it when you want to send the push, or omit the trigger."
        case .passed(let instant):
            "Must be in the future: \(instant) has passed. Choose a later time, or omit the trigger to fire immediately."
        case .neverFires("at"):
            "This date and time does not exist in the time zone. Choose another, or give an offset."
        case .neverFires:
            "Nothing matches these components in the next 40 years. A day that a month lacks is skipped, not moved. Change day, weekday, month or year."
        case .unknownTimeZone(let name, let nearest) where nearest.isEmpty:
            "'\(name.prefix(64))' is not a time zone. Must be an IANA name, such as Europe/Berlin."
        case .unknownTimeZone(let name, let nearest):
            "'\(name.prefix(64))' is not a time zone. Must be an IANA name. Similar names: \(nearest.joined(separator: ", "))."
        case .unreadableTimeZone(let name, let reason):
            "The rules of '\(name)' can't be read: \(reason). The operator should reinstall the package tzdata."
        }
    }
}
