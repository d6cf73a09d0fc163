import Platform
import Testing

@Suite struct TokenBucketTests {
    @Test func `a bucket gives so many at once, and fills again with time`() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 1, burst: 60, at: start)
        for _ in 0..<60 { #expect(bucket.take(at: start) == nil) }
        let wait = bucket.take(at: start)
        #expect(wait == .seconds(1) && !bucket.isFull(at: start + .seconds(59)))
        #expect(bucket.take(at: start + .milliseconds(500)) == .milliseconds(500))
        #expect(bucket.take(at: start + .seconds(1)) == nil)
        #expect(bucket.isFull(at: start + .seconds(100)))
    }

    @Test func `a look takes nothing`() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 0.5, burst: 0, at: start)
        for _ in 0..<3 { #expect(bucket.wait(at: start) == nil) }
        #expect(bucket.take(at: start) == nil)
        for _ in 0..<3 { #expect(bucket.wait(at: start) == .seconds(2)) }
    }
}
