import Foundation
import Testing

@testable import bench

@Suite struct MeasuringTests {
    @Test func `the median of an even number of rounds lies between the two in the middle`() {
        let spread = Spread([4, 1, 3, 100])
        #expect(spread.median == 3.5)
        #expect(spread.least == 1)
        #expect(spread.most == 100)
        #expect(Spread([7, 5, 6]).median == 6)
    }

    @Test func `a quotient with nothing to divide by is a dash, and counts for nothing`() throws {
        #expect(Quotient.of(0, by: 0).isNaN && Quotient.of(1, by: 0).isNaN && Quotient.mean([]).isNaN)
        #expect(Quotient.of(1, by: 2) == 0.5)
        let some = Spread([.nan, 3, .infinity, 1, 2])
        #expect(some.median == 2 && some.least == 1 && some.most == 3)
        let none = Measurement("name", "title", .decibels, [.nan, .nan], target: .atLeast(1))
        #expect(none.spread.text(in: .decibels) == "–" && none.isMet == nil)
        #expect(Table([none]).rows == [["title", "at least 1.0 dB", "–", ""]])
        for unit in [Unit.ratio, .similarity, .bytes, .perSecond] {
            #expect(unit.text(.nan) == "–" && unit.text(.infinity) == "–")
        }
    }

    @Test func `a target is judged by the median`() {
        let met = Measurement("name", "title", .ratio, [0.4, 0.5, 9], target: .atMost(0.5))
        let missed = Measurement("name", "title", .ratio, [0.94, 0.1, 2], target: .atLeast(0.95))
        #expect(met.isMet == true)
        #expect(missed.isMet == false)
        #expect(Measurement("name", "title", .ratio, [1]).isMet == nil)
    }

    @Test func `processor time includes that of a grandchild`() throws {
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
        let usage = try Command("sh", ["-c", "sh -c '\(spin)'; true"]).run()
        #expect(usage.cpu > 0.02)
        #expect(usage.wall >= usage.cpu * 0.5)
    }

    @Test func `the peak of the first process leaves out that of its children`() throws {
        let usage = try Command(
            "sh", ["-c", "head -c 200000000 /dev/zero | tail -c 150000000 > /dev/null; sleep 0.1"]
        ).run(watchingMemory: true)
        let own = try #require(usage.ownPeak)
        #expect(own > 100_000 && own < 20_000_000)
        #expect(usage.largestProcess > 100_000_000)
    }

    @Test func `a command that fails gives no figure`() {
        #expect(throws: CommandFailure.self) { try Command("false", []).run() }
        #expect(throws: CommandFailure.self) { try Command("no-such-program", []).run() }
    }

    @Test func `loops run side by side`() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "loops-\(UUID().uuidString)")
            .path(percentEncoded: false)
        defer { for end in ["a", "b"] { try? FileManager.default.removeItem(atPath: place + end) } }
        // Each waits for the other: one after the other they would wait for ever.
        func waiting(for other: String, saying own: String) -> Command {
            Command(
                "timeout",
                ["60", "sh", "-c", "touch '\(place)\(own)'; until [ -e '\(place)\(other)' ]; do sleep 0.01; done"])
        }
        let usage = try Loops.run([[waiting(for: "b", saying: "a")], [waiting(for: "a", saying: "b")]])
        #expect(usage.wall > 0)
    }

    @Test func `the kernel's list of processors is understood`() {
        #expect(Machine.cores(inList: "0-2,7") == [0, 1, 2, 7])
        #expect(Machine.cores(inList: "5") == [5])
        #expect(!Machine.usableCores.isEmpty)
    }
}
