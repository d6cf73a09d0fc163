import Testing

@testable import Jobs

@Suite struct ResponseRatesTests {
    @Test func `a session has sixty a minute, whatever others do`() {
        let (rates, start) = (ResponseRates(), ContinuousClock.now)
        for _ in 0..<60 { #expect(rates.admit(session: "a", by: "t", rate: 50, at: start) == nil) }
        #expect(rates.admit(session: "a", by: "t", rate: 50, at: start) == .seconds(1))
        #expect(rates.admit(session: "b", by: "t", rate: 50, at: start) == nil)
        #expect(rates.admit(session: "a", by: "t", rate: 50, at: start + .seconds(1)) == nil)
    }

    @Test func `all sessions of a ticket have its rate, with a burst of twenty times that`() {
        let (rates, start) = (ResponseRates(), ContinuousClock.now)
        for number in 0..<40 { #expect(rates.admit(session: "\(number)", by: "t", rate: 2, at: start) == nil) }
        #expect(rates.admit(session: "x", by: "t", rate: 2, at: start) == .milliseconds(500))
        // What was refused counts for nobody.
        #expect(rates.admit(session: "x", by: "other", rate: 2, at: start) == nil)
        #expect(rates.admit(session: "x", by: "t", rate: 2, at: start + .milliseconds(500)) == nil)
    }

    @Test func `each of three nodes has a third of both`() {
        let (rates, start) = (ResponseRates(), ContinuousClock.now)
        for _ in 0..<20 { #expect(rates.admit(session: "a", by: "t", rate: 50, among: 3, at: start) == nil) }
        #expect(rates.admit(session: "a", by: "t", rate: 50, among: 3, at: start) == .seconds(3))
        for number in 0..<13 {
            #expect(rates.admit(session: "\(number)", by: "u", rate: 2, among: 3, at: start) == nil)
        }
        #expect(rates.admit(session: "x", by: "u", rate: 2, among: 3, at: start) == .seconds(1))
    }
}
