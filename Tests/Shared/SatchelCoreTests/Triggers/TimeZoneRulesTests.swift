import Foundation
import TestSupport
import Testing

@testable import SatchelCore

@Suite struct TimeZoneRulesTests {
    // MARK: Files

    @Test func `every zone's file of the system is read`() throws {
        #expect(ZoneFiles.names.count > 300)
        for name in ZoneFiles.names {
            #expect(throws: Never.self, "\(name)") { try ZoneFiles.system.rules(of: name) }
        }
    }

    private static let berlin: [UInt8] = {
        let data = try? Data(contentsOf: ZoneFiles.directory.appending(path: "Europe/Berlin"))
        return Array(data ?? Data())
    }()

    @Test func `a file that is cut anywhere is refused`() {
        let file = TZifFile(3600, [(at: 1_000_000, offset: 7200), (at: 2_000_000, offset: 3600)], footer: "XYZ-1").bytes
        for count in file.indices {
            #expect(throws: TZifError.self, "\(count) bytes") { try TimeZoneRules(tzif: Array(file.prefix(count))) }
        }
        #expect(throws: Never.self) { try TimeZoneRules(tzif: file) }
    }

    @Test func `whatever bytes are changed, reading ends with rules or an error, and rules answer`() throws {
        var random = SeededGenerator(seed: 11)
        var refused = 0
        for _ in 0..<Sweep.count(20_000, else: 2_000) {
            var bytes = Self.berlin
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Half of the changes are where the headers and the footer are.
                let isNear = Bool.random(using: &random)
                let range =
                    isNear ? Bool.random(using: &random) ? 0..<100 : bytes.count - 60..<bytes.count : bytes.indices
                bytes[Int.random(in: range, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let rules = try? TimeZoneRules(tzif: bytes) else {
                refused += 1
                continue
            }
            for moment in [-(1 << 60), -1 << 40, 0, 1_800_000_000, 1 << 40, 1 << 60] as [Int64] {
                let period = rules.period(at: moment)
                #expect(period.start < period.end && TimeZoneRules.offsetRange.contains(period.offset))
            }
            _ = rules.resolve(LocalTime(seconds: Int64.random(in: 0...4_000_000_000, using: &random)))
        }
        #expect(refused > 100)
    }

    /// A file of version 2 whose second block is this one.
    private func file(_ header: [UInt8], _ data: [UInt8]) -> [UInt8] {
        TZifFile.header(version: 2, transitions: 0, types: 1, characters: 4) + TZifFile.type(0) + Array("XYZ\0".utf8)
            + header + data
    }

    @Test func `each way in which a file can be wrong has its error`() {
        let type = TZifFile.type(3600)
        let end = Array("XYZ\0\nXYZ-1\n".utf8)
        let header = { (transitions: Int, types: Int) in
            TZifFile.header(version: 2, transitions: transitions, types: types, characters: 4)
        }
        let moments = { (first: Int, second: Int) in TZifFile.number(first, size: 8) + TZifFile.number(second, size: 8)
        }
        let cases: [(TZifError, [UInt8])] = [
            (.noTZif, []), (.noTZif, Array("TZi".utf8)), (.noTZif, Array("#!/bin/sh".utf8)),
            (.unknownVersion(1), Array("TZif\u{1}".utf8) + [UInt8](repeating: 0, count: 39)),
            (.badCount("typecnt"), file(header(0, 0), end)), (.badCount("typecnt"), file(header(0, 257), end)),
            (.badCount("charcnt"), file(TZifFile.header(version: 2, transitions: 0, types: 1, characters: 0), type)),
            (
                .badCount("isutcnt"),
                file(TZifFile.header(version: 2, utIndicators: 2, transitions: 0, types: 1, characters: 4), type + end)
            ),
            (
                .badCount("isstdcnt"),
                file(
                    TZifFile.header(version: 2, standardIndicators: 2, transitions: 0, types: 1, characters: 4),
                    type + end)
            ),
            (
                .countsLeapSeconds,
                file(TZifFile.header(version: 2, leapSeconds: 1, transitions: 0, types: 1, characters: 4), type + end)
            ),
            // Nothing is reserved for what it announces.
            (.truncated, file(header(0xFFFF_FFFF, 1), type + end)),
            (.unorderedTransitions, file(header(2, 1), moments(5, 5) + [0, 0] + type + end)),
            (.unorderedTransitions, file(header(2, 1), moments(5, -5) + [0, 0] + type + end)),
            (.badType, file(header(2, 1), moments(1, 5) + [0, 1] + type + end)),
            (.badType, file(header(0, 1), TZifFile.type(0, isDaylight: 2) + end)),
            (.badDesignation, file(header(0, 1), TZifFile.type(0, designation: 4) + end)),
            (.badOffset(93_600), file(header(0, 1), TZifFile.type(93_600) + end)),
            (.badOffset(-90_000), file(header(0, 1), TZifFile.type(-90_000) + end)),
            (.badFooter, file(header(0, 1), type + Array("XYZ\0\nXYZ-1".utf8))),
            (.badFooter, file(header(0, 1), type + Array("XYZ\0".utf8))),
        ]
        for (error, bytes) in cases {
            #expect(throws: error) { try TimeZoneRules(tzif: bytes) }
        }
    }

    @Test(arguments: [
        "XY-1", "XYZ", "XYZ-25", "XYZ-1:60", "XYZ-1ABC,M3.5.0", "XYZ-1ABC", "XYZ-1ABC,M13.1.0,M10.5.0",
        "XYZ-1ABC,M3.6.0,M10.5.0", "XYZ-1ABC,M3.5.7,M10.5.0", "XYZ-1ABC,J0,J365", "XYZ-1ABC,366,5", "<X>-1", "<XYZ-1",
        "XYZ-1ABC,M3.5.0/168,M10.5.0", "XYZ-1 ", "XYZ-99999999999999999999", "XYZ--1", ":Europe/Berlin",
    ])
    func `a footer that is no time zone is refused`(footer: String) {
        #expect(throws: TZifError.badFooter) { try TimeZoneRules(tzif: TZifFile(0, footer: footer).bytes) }
    }

    @Test func `changes beyond all times are those of the end`() throws {
        let rules = try TimeZoneRules(
            tzif: TZifFile(0, [(at: -1 << 62, offset: 60), (at: 1 << 62, offset: 3600)], footer: "XYZ-1").bytes)
        for moment in [Int64.min, -1 << 62, 0, 1 << 62, .max] {
            let period = rules.period(at: moment)
            #expect(period.start < period.end && period.offset == 60, "\(moment)")
        }
    }

    @Test func `a file of version 1 has times of 32 bits and no footer`() throws {
        let bytes =
            TZifFile.header(version: 1, transitions: 2, types: 2, characters: 4) + TZifFile.number(-5, size: 4)
            + TZifFile.number(5, size: 4) + [1, 0] + TZifFile.type(0) + TZifFile.type(3600, isDaylight: 1)
            + Array("XYZ\0".utf8)
        let rules = try TimeZoneRules(tzif: bytes)
        #expect(
            [-6_000, -5_000, 4_999, 5_000, 1 << 40].map { rules.offset(at: Instant(milliseconds: $0)) }
                == [0, 3600, 3600, 0, 0])
    }

    @Test func `a file without changes is its footer, and one without a footer its first kind of time`() throws {
        let footer = try TimeZoneRules(tzif: TZifFile(7, footer: "<+05>-5").bytes)
        let none = try TimeZoneRules(tzif: TZifFile(7).bytes)
        for moment in [-1 << 50, 0, 1 << 50] as [Int64] {
            #expect(footer.offset(at: Instant(milliseconds: moment)) == 5 * 3600)
            #expect(none.offset(at: Instant(milliseconds: moment)) == 7)
        }
    }

    // MARK: Footers

    /// The offset that a footer gives at a time.
    private func offset(_ footer: String, _ text: String) throws -> Int {
        try TimeZoneRules(tzif: TZifFile(0, footer: footer).bytes).offset(at: Instant(written: text))
    }

    @Test(arguments: [
        // Northern and southern summers.
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2035-03-25T00:59:59Z", 3600),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2035-03-25T01:00:00Z", 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2035-10-28T00:59:59Z", 7200),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2035-10-28T01:00:00Z", 3600),
        ("<-04>4<-03>,M9.1.6/24,M4.1.6/24", "2035-01-01T00:00:00Z", -3 * 3600),
        ("<-04>4<-03>,M9.1.6/24,M4.1.6/24", "2035-04-08T02:59:59Z", -3 * 3600),
        ("<-04>4<-03>,M9.1.6/24,M4.1.6/24", "2035-04-08T03:00:00Z", -4 * 3600),
        ("<-04>4<-03>,M9.1.6/24,M4.1.6/24", "2035-09-02T04:00:00Z", -3 * 3600),
        // A winter time that is the odd one out.
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2035-01-01T00:00:00Z", 0),
        ("IST-1GMT0,M10.5.0,M3.5.0/1", "2035-07-01T00:00:00Z", 3600),
        // Half an hour.
        ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2035-01-01T00:00:00Z", 11 * 3600),
        // The summer of RFC 9636 that lasts the whole year.
        ("XXX3EDT4,0/0,J365/23", "2035-01-01T03:00:00Z", -4 * 3600),
        ("XXX3EDT4,0/0,J365/23", "2035-07-01T00:00:00Z", -4 * 3600),
        ("XXX3EDT4,0/0,J365/23", "2035-12-31T23:59:59Z", -4 * 3600),
        // Hours outside of the day: the Thursday before the last Sunday of March.
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2035-03-25T00:59:59Z", -2 * 3600),
        ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2035-03-25T01:00:00Z", -3600),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2035-03-23T23:59:59Z", 2 * 3600),
        ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2035-03-24T00:00:00Z", 3 * 3600),
        // Days by their number, with and without the leap day.
        ("XYZ0ABC,J60/0,J300/0", "2036-02-29T23:59:59Z", 0), ("XYZ0ABC,J60/0,J300/0", "2036-03-01T00:00:00Z", 3600),
        ("XYZ0ABC,59/0,299/0", "2036-02-28T23:59:59Z", 0), ("XYZ0ABC,59/0,299/0", "2036-02-29T00:00:00Z", 3600),
    ])
    func `a footer says when clocks change after the last change that is written down`(
        footer: String, time: String, seconds: Int
    ) throws {
        #expect(try offset(footer, time) == seconds)
    }

    // MARK: Local times

    @Test func `each moment's local time leads back to it, and gaps end where clocks show later times`() throws {
        var random = SeededGenerator(seed: 5)
        for name in Sweep.of(ZoneFiles.names, every: 6) {
            let rules = try ZoneFiles.system.rules(of: name)
            for _ in 0..<20 {
                let moment = Int64.random(in: 1_262_304_000...2_240_611_200, using: &random)
                let period = rules.period(at: moment)
                let hasBegun = period.start > TimeZoneRules.moments.lowerBound
                // And around a change: an hour before to an hour after.
                for near in [
                    moment, (hasBegun ? period.start : moment) + Int64.random(in: -3700...3700, using: &random),
                ] {
                    let local = LocalTime(seconds: near + rules.period(at: near).offset)
                    guard case .moments(let moments) = rules.resolve(local) else {
                        Issue.record("\(name): \(local) is shown, but never comes")
                        continue
                    }
                    #expect(moments.contains(near) && moments == moments.sorted(), "\(name): \(local)")
                    if hasBegun, case .gap(let end) = rules.resolve(LocalTime(seconds: period.localStart - 1)) {
                        #expect(end == period.start, "\(name)")
                    }
                }
            }
        }
    }

    @Test func `a day that clocks are set past is a gap, and one that they are set back by comes twice`() throws {
        let apia = try ZoneFiles.system.rules(of: "Pacific/Apia")
        let missing = try #require(LocalTime("2011-12-30T12:00:00"))
        #expect(apia.resolve(missing) == .gap(end: try Instant(written: "2011-12-31T00:00:00+14:00").wholeSeconds))
        let back = try TimeZoneRules(
            tzif: TZifFile(14 * 3600, [(at: 86_400, offset: -10 * 3600)], footer: "XYZ10").bytes)
        #expect(back.resolve(LocalTime(seconds: 86_400)) == .moments([36_000, 122_400]))
    }
}
