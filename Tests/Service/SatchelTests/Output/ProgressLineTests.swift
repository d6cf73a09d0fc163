import Foundation
import TestSupport
import Testing

@testable import satchel

@Suite struct ProgressLineTests {
    @Test func `it tells what there is room for, the count to the last`() {
        let line = ProgressLine(done: 23, found: 151, isComplete: true, failed: 3, pace: 4.21)
        let whole = "23 of 151 files, 4.2/s, 30 s left, 3 failed"
        #expect(line.text(in: 79) == "[####" + String(repeating: "-", count: 28) + "]  " + whole)
        #expect(line.text(in: 55) == "[#-------]  " + whole)
        #expect(line.text(in: 54) == "[##------------]  23 of 151 files, 30 s left, 3 failed")
        #expect(line.text(in: 47) == "23 of 151 files, 30 s left, 3 failed")
        #expect(line.text(in: 35) == "23 of 151 files, 3 failed")
        #expect(line.text(in: 24) == "23 of 151 files")
        for width in 1...120 { #expect(line.text(in: width).columns <= width) }
        let looking = ProgressLine(done: 5, found: 900, isComplete: false, pace: 12)
        #expect(looking.text(in: 80) == "5 of 900 files found so far, 12/s")
        let waiting = ProgressLine(done: 23, found: 151, isComplete: true, isWaiting: true, pace: 4.21)
        #expect(waiting.text(in: 40) == "23 of 151 files, waiting for the store")
    }

    @Test func `the pace is that of the last twenty seconds`() {
        var pace = Pace()
        let start = ContinuousClock.now
        #expect(pace.perSecond == nil)
        // What an earlier run did, in the first second, then four files a second.
        pace.note(0, at: start)
        pace.note(100_000, at: start + .seconds(1))
        #expect(pace.perSecond == nil)
        for second in 2...60 { pace.note(100_000 + 4 * (second - 1), at: start + .seconds(second)) }
        #expect(pace.perSecond == 4)
        // Nothing for long.
        for second in 61...90 { pace.note(100_000 + 4 * 59, at: start + .seconds(second)) }
        #expect(pace.perSecond == nil)
    }

    @Test(arguments: [
        (1, "under 5 s"), (12, "10 s"), (57, "55 s"), (58, "1 min"), (3_599, "1 h 0 min"), (7_800, "2 h 10 min"),
        (1e9, "days"),
    ])
    func `what is left is said roughly`(seconds: Double, text: String) {
        #expect(Quantity.roughly(seconds) == text)
    }
}
