import SatchelCore
import Payloads

/// Reads triggers out of requests, and tells everything that is wrong with one at once.
struct TriggerReader {
    let zones: any TimeZoneSource
    /// When it begins to hold, if it is taken.
    let now: Instant

    /// The trigger of a field, and when it is met first.
    struct Reading {
        var trigger: Trigger
        /// Nil for one that fires by hand.
        var first: Occurrence?
    }

    /// Nil where the field is absent or null, and where it can't be taken: then the errors say why.
    func trigger(_ field: String, of reader: FieldReader) -> Reading? {
        reader.object(field, known: nil).flatMap(trigger)
    }

    /// The same of an object that is one.
    func trigger(_ object: FieldReader) -> Reading? {
        guard let read = Self.written(object) else { return nil }
        do throws(TriggerError) {
            return Reading(trigger: read, first: try read.first(accepted: now, in: zones))
        } catch {
            Self.refuse(object, error)
            return nil
        }
    }

    /// What a field says, whether or not that is still to come.
    static func written(_ field: String, of reader: FieldReader) -> Trigger? {
        reader.object(field, known: nil).flatMap(written)
    }

    private static func written(_ object: FieldReader) -> Trigger? {
        let errors = object.errors.fields.count
        guard object.value("type") != nil else {
            object.addError(
                "type", "Required. Must be one of \(list(Trigger.Kind.allCases.map(\.rawValue))).")
            return nil
        }
        if let text = object.value("type")?.text, Trigger.unsupportedKinds.contains(text) {
            refuse(object, .unsupported(type: text))
            return nil
        }
        guard let kind = object.choice("type", Trigger.Kind.self) else { return nil }
        object.refuseOthers(than: ["type"] + kind.fields)
        let read =
            switch kind {
            case .interval: interval(object)
            case .date: date(object)
            case .calendar: calendar(object)
            case .manual: Trigger.manual
            }
        return object.errors.fields.count == errors ? read : nil
    }

    private static func refuse(_ object: FieldReader, _ error: TriggerError) {
        object.refuse(error.field, error.code, error.message)
    }

    private static func interval(_ object: FieldReader) -> Trigger? {
        let repeats = object.bool("repeats") ?? false
        guard require("seconds", "the seconds to wait", object),
            let seconds = object.number("seconds", in: Trigger.intervals)
        else { return nil }
        if repeats, seconds < Trigger.shortestRepetition {
            object.addError(
                "seconds", "Must be at least \(Int(Trigger.shortestRepetition)) seconds if the trigger repeats.")
        }
        return .interval(seconds: seconds, repeats: repeats)
    }

    private static func date(_ object: FieldReader) -> Trigger? {
        let timeZone = object.string("time_zone", bytes: 1...128)
        guard require("at", "the time, such as 2026-12-24T18:00:00+01:00", object), let text = object.string("at")
        else {
            return nil
        }
        guard let at = WrittenTime(text) else {
            object.addError("at", WrittenTime.advice)
            return nil
        }
        if at.offset == nil, object.value("time_zone") == nil {
            object.addError("time_zone", "Required, because 'at' has no offset.")
        }
        return .date(at: at, timeZone: timeZone)
    }

    private static func calendar(_ object: FieldReader) -> Trigger? {
        let repeats = object.bool("repeats") ?? false
        let isZoned = require("time_zone", "the time zone, such as Europe/Berlin", object)
        let timeZone = object.string("time_zone", bytes: 1...128)
        guard require("components", "the parts of date and time to match, such as {\"hour\": 8}", object),
            let reader = object.object("components", known: Self.components)
        else { return nil }
        var components = CalendarComponents()
        for number in CalendarComponents.numbers {
            components[keyPath: number.path] = reader.integer(number.name, in: number.range)
        }
        components.weekday = weekdays(reader)
        if components.isEmpty, Self.components.allSatisfy({ reader.value($0) == nil }) {
            object.addError("components", "Must have at least one of \(list(Self.components)).")
        }
        guard isZoned, let timeZone else { return nil }
        return .calendar(timeZone: timeZone, components: components, repeats: repeats)
    }

    private static let components = ["year", "month", "day", "weekday", "hour", "minute", "second"]

    private static func weekdays(_ reader: FieldReader) -> CalendarComponents.Weekdays? {
        if reader.value("weekday")?.text != nil { return reader.choice("weekday", Weekday.self).map { .one($0) } }
        guard let value = reader.value("weekday") else { return nil }
        guard case .array = value, let texts = reader.strings("weekday") else {
            reader.addError("weekday", "Must be a weekday such as \"monday\", or an array of weekdays.")
            return nil
        }
        if texts.isEmpty { reader.addError("weekday", "Must name at least one weekday. Omit the field for any day.") }
        var weekdays: [Weekday] = []
        for (pointer, text) in texts {
            guard let weekday = Weekday(rawValue: text) else {
                reader.errors.add(
                    pointer,
                    "'\(text.prefix(64))' is not a weekday. Must be one of \(list(Weekday.allCases.map(\.rawValue))).")
                continue
            }
            weekdays.append(weekday)
        }
        return .any(weekdays)
    }

    private static func require(_ field: String, _ what: String, _ object: FieldReader) -> Bool {
        if object.value(field) != nil { return true }
        object.addError(field, "Required: \(what).")
        return false
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}

extension WrittenTime {
    /// For whoever wrote another.
    static let advice =
        "Must be an existing time as in RFC 3339, such as 2026-12-24T18:00:00+01:00, in the years \(years.lowerBound) to \(years.upperBound)."
}
