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

    @Test(arguments: 1...7)
    func `buckets of several processes give together what one gives`(processes: Int) {
        let start = ContinuousClock.now
        var buckets = Array(repeating: TokenBucket(rate: 50, burst: 1000, at: start), count: processes)
        let given = (0..<10_000).count { step in
            let now = start + .milliseconds(step)
            return buckets[step % processes].take(processes, at: now) == nil
        }
        // A full bucket and ten seconds of its rate; what is left in each is less than what one of them takes.
        #expect((1500 - processes * processes...1501).contains(given), "\(given)")
    }

    @Test func `a small bucket gives one however many share it`() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 1, burst: 2, at: start)
        #expect(bucket.take(5, at: start) == nil)
        #expect(bucket.take(5, at: start) == .seconds(2))
        #expect(bucket.take(5, at: start + .seconds(2)) == nil)
    }

    @Test func `a look takes nothing`() {
        let start = ContinuousClock.now
        var bucket = TokenBucket(rate: 0.5, burst: 0, at: start)
        for _ in 0..<3 { #expect(bucket.wait(at: start) == nil) }
        #expect(bucket.take(at: start) == nil)
        for _ in 0..<3 { #expect(bucket.wait(at: start) == .seconds(2)) }
    }
}
