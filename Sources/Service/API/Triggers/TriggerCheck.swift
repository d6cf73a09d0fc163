package import SatchelCore
import HTTPTypes
import Payloads
package import Platform

/// When a trigger would fire: what `POST /v1/triggers/check` and `satchel trigger` tell.
package struct TriggerCheck: Sendable {
    /// How many occurrences can be asked for.
    package static let counts = 1...100
    package static let standardCount = 5

    /// The next ones, as many as were asked for and there are.
    package let occurrences: [Occurrence]
    /// The edition of the time zone rules by which they were found.
    package let zoneRules: TimeZoneRulesVersion

    private init(
        _ reading: TriggerReader.Reading, after: Instant, count: Int, in zones: TimeZoneDatabase
    ) throws(TriggerError) {
        zoneRules = zones.version
        var occurrences = [reading.first].compactMap(\.self)
        while occurrences.count < count, let last = occurrences.last,
            let next = try reading.trigger.next(after: last.position, accepted: after, in: zones)
        {
            occurrences.append(next)
        }
        self.occurrences = occurrences
    }

    /// Reads the body of a call.
    ///
    /// - Throws: A problem that names everything that can't be taken.
    init(body: some Sequence<UInt8>, now: Instant, in zones: TimeZoneDatabase) throws {
        let errors = ValidationErrors()
        let reader = try FieldReader(body: body, known: ["trigger", "after", "count"], errors)
        let count = reader.integer("count", in: Self.counts) ?? Self.standardCount
        var after = now
        if let text = reader.string("after") {
            if let instant = WrittenTime(text)?.instant {
                after = instant
            } else {
                reader.addError("after", WrittenTime.advice)
            }
        }
        if reader.value("trigger") == nil { reader.addError("trigger", "Required: the trigger to check.") }
        let reading = TriggerReader(zones: zones, now: after).trigger("trigger", of: reader)
        try errors.check()
        guard let reading else { throw Problem.invalid("/trigger", "Required: the trigger to check.") }
        do throws(TriggerError) {
            try self.init(reading, after: after, count: count, in: zones)
        } catch {
            throw Problem(error, of: "/trigger")
        }
    }

    /// Reads a trigger as JSON.
    ///
    /// - Throws: ``Refusal`` that names everything that can't be taken.
    package init(
        trigger json: String, after: Instant, count: Int, in zones: TimeZoneDatabase
    ) throws(Refusal) {
        do {
            let errors = ValidationErrors()
            let reading = TriggerReader(zones: zones, now: after).trigger(
                try FieldReader(body: json.utf8, known: nil, errors))
            try errors.check()
            guard let reading else { throw Problem.invalid("The trigger must not be null.") }
            try self.init(reading, after: after, count: count, in: zones)
        } catch let error as TriggerError {
            throw Refusal(reasons: [error.message])
        } catch {
            let problem = Problem(describing: error)
            throw Refusal(
                reasons: problem.errors.isEmpty
                    ? [problem.detail]
                    : problem.errors.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer): \($0.detail)" })
        }
    }

    /// Why a trigger can't be taken.
    package struct Refusal: Error {
        /// Sentences, each with the JSON pointer to what it is about.
        package var reasons: [String]
    }
}

extension Problem {
    /// - Parameter pointer: To the trigger.
    init(_ error: TriggerError, of pointer: String) {
        self.init(
            .unprocessableContent, error.code, error.message,
            errors: [Field(pointer: "\(pointer)/\(error.field)", detail: error.message)])
    }
}
