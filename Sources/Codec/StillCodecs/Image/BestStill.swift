import SatchelCore

/// Whether a still is made at the speed `best`. A decision without input or output.
struct BestStill: Hashable, Sendable {
    /// What ``Speed/best`` takes, and what ``Speed/standard`` does.
    let best: Estimate
    let standard: Estimate

    init(_ facts: StillFacts, _ policies: ImagePolicies) {
        best = facts.estimate(for: policies, at: .best)
        standard = facts.estimate(for: policies, at: .standard)
    }

    /// What to ask for of at most `memory` bytes.
    func estimate(within memory: Int64) -> Estimate { best.memory <= memory ? best : standard }

    /// Why it is made at ``Speed/standard``; nil where it isn't.
    ///
    /// - Parameters:
    ///   - granted: Bytes of memory.
    ///   - secondsLeft: Nil for no hurry.
    func hindrance(granted: Int64, secondsLeft: Double?) -> Finding? {
        if best.memory > granted { return Finding(.memory, .speed, missing: Double(best.memory), of: Double(granted)) }
        let cost = WorkCost(full: best.cpuSeconds, reduced: 0)
        guard let secondsLeft, EffortChoice(cost, secondsLeft: secondsLeft) != .full else { return nil }
        return Finding(.estimate, .speed, missing: cost.full, of: max(0, secondsLeft))
    }
}
