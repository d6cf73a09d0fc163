import SatchelCore
import Foundation
import Platform
import TestSupport
import Testing

@testable import API

/// `POST /v1/triggers/check`.
@Suite(.timeLimit(.minutes(5))) struct TriggerCheckTests {
    @Test func `any key is told when a trigger fires, by which rules, and what is done where clocks change`()
        async throws
    {
        try await LiveService.run {
            $0.worker = .nobody
        } _: { live in
            let body =
                #"{"trigger": {"type": "calendar", "time_zone": "Pacific/Apia", "components": {"hour": 8}, "repeats": true}, "after": "2011-12-29T00:00:00Z", "count": 2}"#
            for role in AccessRole.allCases {
                let reply = try await live.send(
                    .post, "/v1/triggers/check", ["Content-Type": "application/json"], body: Data(body.utf8), as: role)
                #expect(reply.status == 200 && reply["cache-control"] == "no-store", "\(role): \(reply.text)")
                let expected =
                    #"{"next":[{"at":"2011-12-29T18:00:00.000Z","local":"2011-12-29T08:00:00-10:00","note":null},{"at":"2011-12-30T18:00:00.000Z","local":"2011-12-31T08:00:00+14:00","note":"2011-12-30 does not exist in this zone and is skipped."}],"zone_rules":""#
                #expect(reply.text == expected + TimeZoneDatabase().version.rawValue + #""}"#)
            }
            func status(_ body: String, _ type: String = "application/json") async throws -> (Int, String?) {
                let reply = try await live.send(
                    .post, "/v1/triggers/check", ["Content-Type": type], body: Data(body.utf8), as: .read)
                return (reply.status, try reply.json["code"].string)
            }
            #expect(try await status(#"{"trigger": {"type": "push"}}"#) == (422, "unsupported_trigger"))
            #expect(try await status(body, "text/plain") == (415, "unsupported_media_type"))
            #expect(try await status("{") == (400, "invalid_json"))
            let now = try await live.send(
                .post, "/v1/triggers/check",
                body: Data(#"{"trigger": {"type": "interval", "seconds": 60, "repeats": true}}"#.utf8),
                as: .submit)
            let first = try #require(try now.json["next"][0]["at"].string.flatMap { Instant($0) })
            #expect((59_000...120_000).contains(first.milliseconds + 60_000 - Instant.wallClock().milliseconds))
        }
    }

    private func check(_ trigger: String, more: String = "") throws -> TriggerCheck {
        try TriggerCheck(
            body: Array(#"{"after": "2026-11-23T08:00:00Z", "trigger": \#(trigger)\#(more)}"#.utf8),
            now: Instant(milliseconds: 0), in: TimeZoneDatabase())
    }

    private func problem(_ trigger: String, more: String = "") -> Problem? {
        do {
            _ = try check(trigger, more: more)
            return nil
        } catch {
            return error as? Problem
        }
    }

    @Test(arguments: [
        (#"{"type": "location"}"#, "unsupported_trigger", "/trigger/type", "Schedule a local notification"),
        (#"{"type": "push", "x": 1}"#, "unsupported_trigger", "/trigger/type", "'manual'"),
        (#"{"type": "date", "at": "2026-11-23T08:00:00Z"}"#, "trigger_passed", "/trigger/at", "later"),
        (
            #"{"type": "date", "at": "2011-12-30T08:00:00", "time_zone": "Pacific/Apia"}"#, "trigger_never_fires",
            "/trigger/at", "does not exist"
        ),
        (
            #"{"type": "calendar", "time_zone": "UTC", "components": {"day": 31, "month": 4}}"#, "trigger_never_fires",
            "/trigger/components", "40 years"
        ),
        (
            #"{"type": "calendar", "time_zone": "Berlin", "components": {"hour": 8}}"#, "unknown_time_zone",
            "/trigger/time_zone", "Europe/Berlin"
        ),
        (
            #"{"type": "date", "at": "2027-01-01T00:00:00Z", "time_zone": "../../etc/passwd"}"#, "unknown_time_zone",
            "/trigger/time_zone", "IANA"
        ),
    ])
    func `a trigger that is understood but can't be has a code of its own, and is told what to do`(
        trigger: String, code: String, pointer: String, words: String
    ) {
        let problem = problem(trigger)
        #expect(problem?.code == code)
        #expect(problem?.errors.map(\.pointer) == [pointer] && problem?.detail.contains(words) == true)
    }

    @Test(arguments: [
        ("null", ["/trigger"]), ("7", ["/trigger"]), ("{}", ["/trigger/type"]),
        (#"{"type": "cron"}"#, ["/trigger/type"]), (#"{"type": 1}"#, ["/trigger/type"]),
        (#"{"type": "interval"}"#, ["/trigger/seconds"]),
        (#"{"type": "interval", "seconds": 0}"#, ["/trigger/seconds"]),
        (#"{"type": "interval", "seconds": 31622401}"#, ["/trigger/seconds"]),
        (#"{"type": "interval", "seconds": 59, "repeats": true}"#, ["/trigger/seconds"]),
        (#"{"type": "interval", "seconds": 1e400}"#, ["/trigger/seconds"]),
        (#"{"type": "interval", "seconds": 60, "time_zone": "UTC"}"#, ["/trigger/time_zone"]),
        (#"{"type": "date"}"#, ["/trigger/at"]), (#"{"type": "date", "at": "tomorrow"}"#, ["/trigger/at"]),
        (#"{"type": "date", "at": "2026-12-24T18:00:00"}"#, ["/trigger/time_zone"]),
        (#"{"type": "date", "at": "2026-12-24T18:00:00Z", "repeats": true}"#, ["/trigger/repeats"]),
        (#"{"type": "calendar"}"#, ["/trigger/components", "/trigger/time_zone"]),
        (#"{"type": "calendar", "time_zone": "UTC", "components": {}}"#, ["/trigger/components"]),
        (
            #"{"type": "calendar", "time_zone": 1, "components": {"hour": 24, "minute": -1, "day": 0, "month": 13, "second": 0.5, "year": 1969}}"#,
            ["day", "hour", "minute", "month", "second", "year"].map { "/trigger/components/\($0)" }
                + ["/trigger/time_zone"]
        ),
        (
            #"{"type": "calendar", "time_zone": "UTC", "components": {"weekday": ["monday", "Montag"], "week": 1}}"#,
            ["/trigger/components/week", "/trigger/components/weekday/1"]
        ),
        (
            #"{"type": "calendar", "time_zone": "UTC", "components": {"weekday": []}}"#,
            ["/trigger/components/weekday"]
        ),
        (
            #"{"type": "calendar", "time_zone": "UTC", "components": {"weekday": "Montag"}}"#,
            ["/trigger/components/weekday"]
        ),
        (
            #"{"type": "calendar", "time_zone": "UTC", "components": {"weekday": 2}}"#,
            ["/trigger/components/weekday"]
        ),
        (#"{"type": "manual", "seconds": 1}"#, ["/trigger/seconds"]),
    ])
    func `everything that is wrong with a trigger is named by its pointer`(trigger: String, pointers: [String]) {
        let problem = problem(trigger)
        #expect(problem?.code == "invalid_request" && problem?.errors.map(\.pointer).sorted() == pointers)
    }

    @Test(arguments: [
        (#", "count": 0"#, "/count"), (#", "count": 101"#, "/count"), (#", "count": 1.5"#, "/count"),
        (#", "limit": 1"#, "/limit"),
    ])
    func `of what is beside the trigger too`(more: String, pointer: String) {
        #expect(problem(#"{"type": "manual"}"#, more: more)?.errors.map(\.pointer) == [pointer])
    }

    @Test func `an interval counts from the given time, and a hundred are told at most`() throws {
        let trigger = #"{"type": "interval", "seconds": 3600, "repeats": true}"#
        #expect(try check(trigger).occurrences.count == 5)
        let all = try check(trigger, more: #", "count": 100"#).occurrences
        #expect(all.count == 100 && all.last?.at.description == "2026-11-27T12:00:00.000Z")
        #expect(try check(#"{"type": "manual"}"#).occurrences.isEmpty)
        let once = #"{"type": "calendar", "time_zone": "UTC", "components": {"weekday": ["friday", "monday"]}}"#
        #expect(try check(once).occurrences.map(\.local) == ["2026-11-27T00:00:00+00:00"])
    }
}
