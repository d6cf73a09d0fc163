/// Processor seconds that making a rendition is expected to take, by what headers say.
struct WorkCost: Hashable, Sendable {
    var full: Double
    /// With cheaper settings.
    var reduced: Double
}

/// With how much effort a rendition is made in the time that is left. A decision without input or output.
enum EffortChoice: Hashable, Sendable {
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
    init(_ cost: WorkCost, secondsLeft: Double?) {
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

    /// `reduced: an estimated 4.1 s were more than the 2.0 s left`; nil for full effort.
    func note(_ cost: WorkCost, secondsLeft: Double?) -> String? {
        let left = time(secondsLeft ?? 0)
        switch self {
        case .full: return nil
        case .reduced: return "reduced: an estimated \(time(cost.full)) were more than the \(left) left"
        case .skip: return "left out: an estimated \(time(cost.reduced)) at least were more than the \(left) left"
        }
    }
}

/// `4.1 s`, and `40 ms` where it is less than a tenth of a second.
private func time(_ seconds: Double) -> String {
    let milliseconds = Int((min(max(seconds, 0), 1e6) * 1000).rounded())
    if milliseconds < 100 { return "\(milliseconds) ms" }
    let tenths = (milliseconds + 50) / 100
    return "\(tenths / 10).\(tenths % 10) s"
}

/// Whether work that is under way will be done in time, by how it gets on. A decision without input or output.
enum Pace {
    /// Sooner than that nothing can be told: what is done first isn't like the rest.
    static let least = (done: 0.03, seconds: 0.1)

    /// Whether to give up what is under way and begin again with cheaper settings.
    ///
    /// - Parameters:
    ///   - done: The part of the work that is done, 0 to 1.
    ///   - seconds: That it took.
    ///   - secondsLeft: Nil for no hurry.
    static func shouldStartOver(done: Double, after seconds: Double, _ cost: WorkCost, secondsLeft: Double?) -> Bool {
        guard let secondsLeft, done >= least.done, seconds >= least.seconds, cost.full > 0 else { return false }
        let all = seconds / done
        return all * (1 - done) > secondsLeft && all * cost.reduced / cost.full < secondsLeft
    }

    /// `reduced: at full effort 3.2 s more were needed than the 1.1 s left`
    static func note(done: Double, after seconds: Double, secondsLeft: Double?) -> String {
        let rest = seconds / max(done, least.done) * (1 - done)
        return "reduced: at full effort \(time(rest)) more were needed, and \(time(secondsLeft ?? 0)) were left"
    }
}
