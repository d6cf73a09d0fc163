import Testing

@testable import Jobs

@Suite struct HandlerBreakerTests {
    @Test func `after five failures in a row it is left alone for thirty seconds, then asked once`() {
        let start = ContinuousClock.now
        var breaker = HandlerBreaker()
        for _ in 0..<5 {
            #expect(breaker.admits(at: start))
            breaker.note(success: false, at: start)
        }
        #expect(!breaker.admits(at: start) && !breaker.admits(at: start + .seconds(29)))
        let later = start + .seconds(30)
        #expect(breaker.admits(at: later))
        breaker.note(success: false, at: later)
        #expect(!breaker.admits(at: later + .seconds(29)) && breaker.admits(at: later + .seconds(30)))
        breaker.note(success: true, at: later + .seconds(30))
        #expect(breaker.isClosed)
    }

    @Test func `a success between failures begins anew`() {
        let start = ContinuousClock.now
        var breaker = HandlerBreaker()
        for _ in 0..<3 {
            for _ in 0..<4 { breaker.note(success: false, at: start) }
            breaker.note(success: true, at: start)
        }
        #expect(breaker.isClosed && breaker.admits(at: start))
    }
}
