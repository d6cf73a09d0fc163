import Testing

@testable import SatchelCore

@Suite struct JobLabelTests {
    @Test func `the first 20 pairs of metadata with short values can be found, by the bytes of their keys`() {
        let long = String(repeating: "ä", count: 101)
        var metadata = Dictionary(uniqueKeysWithValues: (10..<40).map { ("k\($0)", "v") })
        metadata["a"] = long
        metadata["b"] = String(long.dropLast())
        #expect(JobLabel.found(in: metadata).map(\.key) == ["b"] + (10..<29).map { "k\($0)" })
        // In UTF-8 a composed letter comes after z, and two scalars that look like it before.
        #expect(
            JobLabel.found(in: ["z": "", "\u{E9}": "", "e\u{301}x": ""]).map(\.key) == ["e\u{301}x", "z", "\u{E9}"])
    }
}
