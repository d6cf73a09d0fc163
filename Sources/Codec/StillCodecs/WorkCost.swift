package import SatchelCore

/// Processor seconds that making a rendition is expected to take, by what headers say.
package struct WorkCost: Hashable, Sendable {
    package var full: Double
    /// With cheaper settings.
    package var reduced: Double

    package init(full: Double, reduced: Double) {
        self.full = full
        self.reduced = reduced
    }
}

/// How much work a rendition is worth.
package enum Effort: Hashable, Sendable {
    case full
    /// Cheaper settings, for a deadline that is near.
    case reduced
}

/// With how much effort a rendition is made in the time that is left. A decision without input or output.
package enum EffortChoice: Hashable, Sendable {
    case full
    case reduced
    /// Not even cheaper settings come near.
    case skip

    /// How far an estimate may be off, either way: `EstimateTests` holds them to it.
    static let uncertainty = 3.0
    /// How much of the time an estimate may take: what turns out to be too slow can be begun again with cheaper settings
    /// (``Pace``), and what is made too cheaply can't be helped.
    private static let share = 0.8
    /// Cheaper settings must save so much to be worth their looks.
    private static let saving = 0.9

    /// - Parameter secondsLeft: Nil for no hurry.
    package init(_ cost: WorkCost, secondsLeft: Double?) {
        guard let secondsLeft, cost.full > secondsLeft * Self.share else {
            self = .full
            return
        }
        if min(cost.full, cost.reduced) > secondsLeft * Self.uncertainty {
            self = .skip
        } else {
            self = cost.reduced < cost.full * Self.saving ? .reduced : .full
        }
    }

    /// Why it is no more; nil for full effort.
    package func haste(_ cost: WorkCost, secondsLeft: Double?, of part: Finding.Part = .main) -> Finding? {
        guard self != .full else { return nil }
        let needed = self == .reduced ? cost.full : min(cost.full, cost.reduced)
        return Finding(.estimate, part, missing: needed, of: max(0, secondsLeft ?? 0))
    }
}

/// Whether work that is under way will be done in time, by how it gets on. A decision without input or output.
package enum Pace {
    /// Sooner than that nothing can be told: what is done first isn't like the rest.
    static let least = (done: 0.03, seconds: 0.1)

    /// Whether to give up what is under way and begin again with cheaper settings.
    ///
    /// - Parameters:
    ///   - done: The part of the work that is done, 0 to 1.
    ///   - seconds: That it took.
    ///   - secondsLeft: Nil for no hurry.
    package static func shouldStartOver(done: Double, after seconds: Double, _ cost: WorkCost, secondsLeft: Double?)
        -> Bool
    {
        guard let secondsLeft, done >= least.done, seconds >= least.seconds, cost.full > 0 else { return false }
        let all = seconds / done
        return all * (1 - done) > secondsLeft && all * cost.reduced / cost.full < secondsLeft
    }

    /// What was needed, by then, and what was left.
    package static func haste(done: Double, after seconds: Double, secondsLeft: Double?) -> Finding {
        Finding(
            .pace, .main, missing: max(0, seconds / max(done, least.done) * (1 - done)), of: max(0, secondsLeft ?? 0))
    }
}
