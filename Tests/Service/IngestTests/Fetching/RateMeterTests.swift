import Testing

@testable import Ingest

@Suite struct RateMeterTests {
    @Test func `bytes that come fast enough are never too slow`() {
        var meter = RateMeter(minimum: 100, window: .seconds(2))
        for tick in 0..<200 {
            let isTooSlow = meter.isTooSlow(bytes: Int64(tick) * 10, after: .milliseconds(tick * 100))
            #expect(!isTooSlow)
        }
    }

    @Test func `a stall is noticed one window after it began`() throws {
        var meter = RateMeter(minimum: 100, window: .seconds(2))
        for tick in 0...50 { _ = meter.isTooSlow(bytes: Int64(tick) * 1000, after: .milliseconds(tick * 100)) }
        let noticed = (51...200).first { meter.isTooSlow(bytes: 50_000, after: .milliseconds($0 * 100)) }
        let tick = try #require(noticed)
        #expect((69...71).contains(tick))
    }

    @Test func `one byte now and then is too slow`() {
        var meter = RateMeter(minimum: 100, window: .seconds(2))
        let noticed = (0...100).first { meter.isTooSlow(bytes: Int64($0), after: .milliseconds($0 * 100)) }
        #expect(noticed == 20)
    }
}
