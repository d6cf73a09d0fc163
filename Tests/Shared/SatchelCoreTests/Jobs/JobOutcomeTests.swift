import TestSupport
import Testing

@testable import SatchelCore

@Suite struct JobOutcomeTests {
    @Test(arguments: 0..<200)
    func `lenient delivers with one, strict only with all`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let results = (0..<Int.random(in: 1...10, using: &random)).map { _ in Bool.random(using: &random) }
        let outcomes = results.map(outcome)
        #expect(JobOutcome.state(of: outcomes, mode: .lenient) == (results.contains(true) ? .delivered : .failed))
        #expect(JobOutcome.state(of: outcomes, mode: .strict) == (results.contains(false) ? .failed : .delivered))
    }

    @Test(arguments: JobMode.allCases)
    func `nothing is not delivered`(mode: JobMode) {
        #expect(JobOutcome.state(of: [], mode: mode) == .failed)
    }

    private func outcome(delivered: Bool) -> AttachmentOutcome {
        let result = AttachmentResult(
            fidelity: .full, best: .main, renditions: [:], options: DisplayOptions(), trim: nil, placeholder: nil,
            contentSizeRatio: nil)
        return AttachmentOutcome(
            id: .generate(), result: delivered ? .success(result) : .failure(.storeFull), kind: nil,
            source: SourceFacts(), steps: [])
    }
}
