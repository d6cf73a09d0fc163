import TestSupport
import Testing

@testable import SatchelCore

@Suite struct HistogramTests {
    @Test func `a quantile is true to within the bins' factor`() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<50 {
            var histogram = Histogram()
            var times: [Double] = []
            for _ in 0..<Int.random(in: 1...400, using: &random) {
                // From a millisecond to about three hours.
                let seconds =
                    0.001 * Double.random(in: 1...1.5, using: &random).power(Int.random(in: 0...39, using: &random))
                times.append(seconds)
                histogram.add(seconds)
            }
            times.sort()
            for part in [0.01, 0.5, 0.95, 1] {
                let exact = times[max(Int((part * Double(times.count)).rounded(.up)), 1) - 1]
                let told = histogram.quantile(part) ?? 0
                #expect((1 / 1.5 - 1e-9...1.5 + 1e-9).contains(told / exact), "\(part): \(told), not \(exact)")
            }
            #expect(histogram.total == Int64(times.count))
        }
    }

    @Test func `what took no time, or longer than any bin, is counted all the same`() {
        var histogram = Histogram()
        for seconds in [0, -1, 0.0001, 1e9, .infinity] { histogram.add(seconds) }
        #expect(histogram.total == 5 && histogram.counts.count == Histogram.size)
        #expect(Histogram().quantile(0.5) == nil && Histogram().counts.isEmpty)
    }

    @Test func `two added are as if all had been counted in one, also from their texts`() {
        var random = SeededGenerator(seed: 8)
        var (all, parts) = (Histogram(), [Histogram(), Histogram()])
        for _ in 0..<500 {
            let seconds = Double.random(in: 0...20, using: &random)
            all.add(seconds)
            parts[Int.random(in: 0...1, using: &random)].add(seconds)
        }
        func read(_ histogram: Histogram) -> Histogram {
            Histogram(text: histogram.counts.map(String.init).joined(separator: ","))
        }
        var sum = read(parts[0])
        sum.add(read(parts[1]))
        #expect(sum == all && read(all) == all)
        #expect(Histogram(text: "0,0,3") == Histogram(counts: [0, 0, 3, 0]) && Histogram(text: "") == Histogram())
    }
}

extension Double {
    fileprivate func power(_ exponent: Int) -> Double { (0..<exponent).reduce(1) { power, _ in power * self } }
}
