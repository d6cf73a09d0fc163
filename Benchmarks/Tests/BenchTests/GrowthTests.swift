import Testing

@testable import bench

@Suite struct GrowthTests {
    private let sizes = [1.0, 2, 4, 8, 16]

    @Test func `what is linear has the power 1, what is quadratic 2`() {
        #expect(abs(GrowthBenchmark.exponent(of: sizes.map { 3 * $0 }, over: sizes) - 1) < 1e-9)
        #expect(abs(GrowthBenchmark.exponent(of: sizes.map { 5 * $0 * $0 }, over: sizes) - 2) < 1e-9)
    }

    @Test func `a part that costs more than in a smaller source is found, wherever it is`() {
        #expect(abs(GrowthBenchmark.worst([2, 4, 8, 32, 64], over: sizes) - 2) < 1e-9)
        #expect(GrowthBenchmark.worst([5, 8, 12, 20, 32], over: sizes) < 1)
    }
}
