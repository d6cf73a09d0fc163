import SatchelCore

extension AnimationPart {
    /// What will be made of an animation: a still thumbnail, and the animation or a still of it.
    func forecasts(for order: WorkOrder, _ policies: ImagePolicies) -> [Forecast] {
        // The frames are decoded with transparency, whether they have any or not.
        let size = facts.size
        var forecasts = policies.forecasts(of: size, hasAlpha: true)
        guard policies.main == nil, let policy = order.profile.animation else { return forecasts }
        let region = policies.region(of: size)
        let result = AnimationFormat(policy.type).size(of: region.size, side: policy.longestSide)
        let mayBeKept = !isTrimmed && policy.obstacle(to: facts, region: region, isWhole: true) == nil
        forecasts.append(
            Forecast(
                role: .main, type: policy.type, size: result,
                duration: Double(
                    AnimationAttempt(size: result, level: 0, groups: groups(as: policy.type))
                        .written(facts.delays, as: policy.type).reduce(0, +)) / 1000,
                method: isTrimmed ? .encode : nil,
                note: (mayBeKept ? "kept if whole and small, else " : "")
                    + "\(policy.type.format.name), \(note), to stay under \(StillPolicy.bound(policy.aim, policy.cap)); "
                    + policy.shape(of: region, in: size, size: result)))
        return forecasts
    }
}

extension AnimationPolicy {
    /// Which part of an animation is shown, how large, and why.
    func shape(of region: PixelRect, in source: PixelSize, size: PixelSize) -> String {
        StillPolicy(role: .main, framing: Framing(side: longestSide, fit: .inside), quality: 0, cap: cap)
            .shape(of: region, in: source, size: size)
    }
}
