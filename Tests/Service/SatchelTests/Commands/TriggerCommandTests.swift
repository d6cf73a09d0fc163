import Foundation
import TestSupport
import Testing

@Suite struct TriggerCommandTests {
    private let trigger =
        #"{"type": "calendar", "time_zone": "Europe/Berlin", "components": {"hour": 2, "minute": 30}, "repeats": true}"#

    @Test func `a trigger's next times are a table, lines of JSON or CSV, and no store is made`() throws {
        let user = try CommandLineUser()
        let arguments = ["trigger", trigger, "--after", "2026-03-28T12:00:00+01:00", "--count", "2"]
        let rows = try user.satchel.run(arguments).outputText.split(separator: "\n")
        #expect(rows.count == 3 && rows.first == "NUMBER  AT                        LOCAL                      NOTE")
        let note =
            "02:30 does not exist on 2026-03-29, because the clocks go forward from 02:00 to 03:00: it fires directly after the gap."
        #expect(rows.dropFirst().first == "     1  2026-03-29T01:00:00.000Z  2026-03-29T03:00:00+02:00  \(note)")
        let lines = try user.satchel.run(arguments + ["--format", "jsonl"]).outputText.split(separator: "\n")
        #expect(
            lines.last
                == #"{"at":"2026-03-30T00:30:00.000Z","local":"2026-03-30T02:30:00+02:00","note":null,"number":2}"#)
        let values = try user.satchel.run(arguments + ["--format", "csv"]).outputText.split(separator: "\n")
        #expect(values.first == "number,at,local,note" && values.count == 3)
        #expect(!FileManager.default.fileExists(atPath: user.store.path))
    }

    @Test func `a trigger that can't be taken is told why, by its pointers`() throws {
        let user = try CommandLineUser()
        for (trigger, words) in [
            (#"{"type": "calendar", "time_zone": "Berlin", "components": {"hour": 8}}"#, "Europe/Berlin"),
            (#"{"type": "interval", "seconds": 0, "unit": "s"}"#, "/unit: Unknown field"),
            (#"{"type": "date", "at": "2020-01-01T00:00:00Z"}"#, "has passed"), ("{", "JSON"), ("[]", "object"),
        ] {
            let result = try user.run("trigger", trigger)
            #expect(
                result.status == 2 && result.output.isEmpty && result.errorText.contains(words), "\(result.errorText)")
        }
        for more in [["--after", "2026-03-28T12:00:00"], ["--after", "now"], ["--count", "0"], ["--count", "101"]] {
            #expect(try user.satchel.run(["trigger", trigger] + more).status == 2, "\(more)")
        }
    }

    @Test func `the doctor names the edition of the time zone rules, and says what to do about an old one`() throws {
        let user = try CommandLineUser()
        func line(_ directory: String?) throws -> String {
            var doctor = user.satchel
            if let directory { doctor.environment["TZDIR"] = directory }
            let lines = try doctor.run(["doctor"]).outputText.split(separator: "\n")
            return String(try #require(lines.first { $0.contains("time zones") }))
        }
        let empty = user.home.url.appending(path: "zones")
        #expect(try line(empty.path(percentEncoded: false)).hasPrefix("--"))
        try user.file("zones/UTC", Data(TZifFile(0).bytes))
        try user.file("zones/+VERSION", Data("2019a\n".utf8))
        let old = try line(empty.path(percentEncoded: false))
        #expect(
            old.hasPrefix("--") && old.contains("2019a, 1 zone in") && old.contains("Install the newest package tzdata")
        )
        try user.file("zones/+VERSION", Data("2999a\n".utf8))
        #expect(try line(empty.path(percentEncoded: false)).hasPrefix("ok"))
        #expect(try line(nil).contains(" zones in '/usr/share/zoneinfo'"))
    }

    @Test func `the doctor says what the kernel does of whether the clock is kept right`() throws {
        let user = try CommandLineUser()
        let line = try #require(
            try user.satchel.run(["doctor"]).outputText.split(separator: "\n").first { $0.contains(" clock ") })
        // 64 is STA_UNSYNC, 5 TIME_ERROR: adjtimex(2), asked by another program.
        let isKept = try Python.run(
            """
            import ctypes
            clock = (ctypes.c_char * 256)()
            state = ctypes.CDLL(None).adjtimex(clock)
            status = ctypes.c_int.from_buffer(clock, 40).value
            print(state != 5 and not status & 64)
            """
        ).outputText.hasPrefix("True")
        #expect(line.hasPrefix(isKept ? "ok" : "--") && line.contains("not synchronized") == !isKept, "\(line)")
    }
}
