import Testing

@testable import SatchelCore

@Suite struct InstantTests {
    @Test(arguments: [0, 1, 999, 1_763_720_100_120, 4_102_444_799_999] as [Int64])
    func `an instant survives its text to the millisecond`(milliseconds: Int64) throws {
        let instant = Instant(milliseconds: milliseconds)
        #expect(Instant(instant.description) == instant)
    }

    @Test func `an instant is written as RFC 3339 with three decimals`() {
        #expect(Instant(milliseconds: 1_763_720_100_120).description == "2025-11-21T10:15:00.120Z")
    }
}
