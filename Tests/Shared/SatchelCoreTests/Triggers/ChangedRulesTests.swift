import SatchelCore
import TestSupport
import Testing

/// Rules of a zone that change while a trigger waits.
@Suite struct ChangedRulesTests {
    private static let zone = "Test/Zone"
    private static let hour = 3600

    private func zones(_ file: TZifFile) -> ZoneFiles { ZoneFiles([Self.zone: file]) }

    private func daily(_ hour: Int, _ minute: Int = 0) -> Trigger {
        .calendar(timeZone: Self.zone, components: CalendarComponents(hour: hour, minute: minute), repeats: true)
    }

    private func seconds(_ text: String) throws -> Int { Int(try Instant(written: text).milliseconds / 1000) }

    @Test func `a pending instant moves with its zone's clocks, and says so`() throws {
        let old = zones(TZifFile(Self.hour, footer: "XYZ-1"))
        let new = zones(
            TZifFile(Self.hour, [(at: try seconds("2027-01-01T00:00:00Z"), offset: 2 * Self.hour)], footer: "XYZ-2"))
        let accepted = try Instant(written: "2026-12-31T12:00:00Z")
        let trigger = daily(8, 30)
        let pending = try #require(try trigger.next(after: nil, accepted: accepted, in: old))
        let again = try #require(try trigger.next(after: nil, accepted: accepted, in: new))
        #expect(pending.at.description == "2027-01-01T07:30:00.000Z")
        #expect(again.at.description == "2027-01-01T06:30:00.000Z" && again.local == "2027-01-01T08:30:00+02:00")
        #expect(
            again.moved(from: pending.at).note
                == "The rules of the time zone changed. Under the old rules this was at 2027-01-01T07:30:00.000Z.")
        #expect(again.moved(from: again.at) == again)
    }

    @Test(arguments: [-2, -1, 1, 2, 13, -13])
    func `a day that has fired neither fires again nor costs the next one`(hours: Int) throws {
        let old = zones(TZifFile(0, footer: "XYZ0"))
        let change = try seconds("2027-01-01T00:00:00Z")
        let new = zones(
            TZifFile(0, [(at: change, offset: hours * Self.hour)], footer: hours < 0 ? "XYZ\(-hours)" : "XYZ-\(hours)"))
        let accepted = try Instant(written: "2027-01-03T00:00:00Z")
        for hour in 0..<24 {
            let fired = try #require(try daily(hour, 30).next(after: nil, accepted: accepted, in: old))
            let next = try #require(try daily(hour, 30).next(after: fired.position, accepted: accepted, in: new))
            let day = String(fired.local?.prefix(10) ?? "")
            #expect(day == "2027-01-03" && next.local?.prefix(10) == "2027-01-04", "\(hour): \(next)")
        }
    }

    @Test func `a gap that new rules put over what has fired doesn't fire it again`() throws {
        let old = zones(TZifFile(0, footer: "XYZ0"))
        // From 02:00 to 03:00 on 3 January.
        let new = zones(
            TZifFile(0, [(at: try seconds("2027-01-03T02:00:00Z"), offset: Self.hour)], footer: "XYZ-1"))
        let accepted = try Instant(written: "2027-01-03T00:00:00Z")
        let fired = try #require(try daily(2, 30).next(after: nil, accepted: accepted, in: old))
        let next = try daily(2, 30).next(after: fired.position, accepted: accepted, in: new)
        #expect(next?.local == "2027-01-04T02:30:00+01:00")
    }

    @Test func `a gap that new rules take away doesn't fire again what it moved`() throws {
        let old = zones(
            TZifFile(0, [(at: try seconds("2027-01-03T02:00:00Z"), offset: Self.hour)], footer: "XYZ-1"))
        let new = zones(TZifFile(0, footer: "XYZ0"))
        let accepted = try Instant(written: "2027-01-03T00:00:00Z")
        let fired = try #require(try daily(2, 30).next(after: nil, accepted: accepted, in: old))
        #expect(fired.local == "2027-01-03T03:00:00+01:00")
        let next = try daily(2, 30).next(after: fired.position, accepted: accepted, in: new)
        #expect(next?.local == "2027-01-04T02:30:00+00:00")
    }

    @Test func `a day that new rules leave out after it fired costs no other day`() throws {
        let old = zones(TZifFile(0, footer: "XYZ0"))
        // 3 January is left out.
        let new = zones(
            TZifFile(0, [(at: try seconds("2027-01-03T00:00:00Z"), offset: 24 * Self.hour)], footer: "XYZ-24"))
        let accepted = try Instant(written: "2027-01-02T23:30:00Z")
        for hour in [0, 8, 23] {
            let fired = try #require(try daily(hour).next(after: nil, accepted: accepted, in: old))
            let next = try daily(hour).next(after: fired.position, accepted: accepted, in: new)
            #expect(fired.local?.prefix(10) == "2027-01-03" && next?.local?.prefix(10) == "2027-01-04", "\(hour)")
        }
    }

    @Test func `an hour that new rules let come twice fires its second time too, where the hour is free`() throws {
        let old = zones(TZifFile(Self.hour, footer: "XYZ-1"))
        let new = zones(TZifFile(Self.hour, [(at: try seconds("2027-01-03T02:00:00Z"), offset: 0)], footer: "XYZ0"))
        let accepted = try Instant(written: "2027-01-03T01:00:00Z")
        let hourly = Trigger.calendar(timeZone: Self.zone, components: CalendarComponents(minute: 30), repeats: true)
        let fired = try #require(try hourly.next(after: nil, accepted: accepted, in: old))
        #expect(fired.local == "2027-01-03T02:30:00+01:00")
        let second = try #require(try hourly.next(after: fired.position, accepted: accepted, in: new))
        #expect(second.local == "2027-01-03T02:30:00+00:00" && second.position.rawValue.hasSuffix("#2"))
        // Without the change it has been only once.
        #expect(
            try hourly.next(after: second.position, accepted: accepted, in: old)?.local == "2027-01-03T03:30:00+01:00")
    }
}
