import SatchelCore

extension AnimationPolicy {
    /// What stands against keeping an animation, as far as that is known before its frames are coded anew; nil where nothing
    /// does.
    ///
    /// - Parameters:
    ///   - region: The part of its frames that is wanted.
    ///   - isWhole: Whether all frames decode whole, without a warning.
    func obstacle(to facts: AnimationFacts, region: PixelRect, isWhole: Bool) -> KeepingObstacle? {
        let result = AnimationFormat(type).size(of: region.size, side: longestSide)
        guard region == PixelRect(facts.size), result == facts.size else { return .shape }
        guard facts.type == type else { return .type(facts.type) }
        guard type == .gif else { return .coding(type) }
        return isWhole ? nil : .warning
    }
}

extension AnimationRendering {
    /// The clauses behind what was done: how large it is, and why it isn't kept.
    ///
    /// - Parameters:
    ///   - obstacle: Nil where nothing stood against it but bytes, of which the plan tells.
    ///   - shape: Of ``StillPolicy/shape(of:in:size:)``.
    static func clauses(_ obstacle: KeepingObstacle?, _ shape: String, _ plan: AnimationPlan) -> String {
        // Several attempts have more to say of themselves than there is room for beside it.
        let isOne = plan.attempts == 1
        let words = obstacle == .shape && !isOne ? "not kept: it was scaled or cut" : obstacle?.words
        return [isOne ? shape : nil, words].compactMap { $0.map { "; \($0)" } }.joined()
    }
}
