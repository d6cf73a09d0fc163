package import SatchelCore

/// What of a picture or of an animation's frames could not be decoded, and why.
struct Defect: Hashable, Sendable {
    var damage: Damage
    /// A clause: `the file ends within them`.
    var reason: String

    /// - Throws: ``AttachmentError/corrupt(reason:)`` where too much is missing and the profile doesn't salvage.
    func loss(when damaged: WhenDamaged) throws(AttachmentError) -> Loss? {
        try damage.loss(because: reason, when: damaged)
    }
}

/// Counts the frames that can't be decoded whole while an animation is made, and ends that where they are too many.
package final class FrameDefects {
    private let damaged: WhenDamaged
    private let total: Int
    private let unit: Damage.Unit
    private(set) var missing: Int
    private(set) var reason: String
    /// Frames that are still to be passed over, before those that are wanted.
    private var passed: Int
    private var isBaseDamaged = false
    /// Of the frame that came last: rows that are missing, and all of its rows.
    private(set) var rows: (missing: Int, total: Int) = (0, 0)

    /// - Parameters:
    ///   - damaged: What the profile wants of damaged sources.
    ///   - passed: Frames that come before those of `facts`. What is missing of them counts as one, as what is wanted is drawn
    ///     over them.
    init(of facts: AnimationFacts, when damaged: WhenDamaged, after passed: Int = 0) {
        self.damaged = damaged
        self.passed = passed
        total = facts.frames + facts.missing
        unit = facts.isOpen && facts.missing > 0 ? .lastFrames : .frames
        missing = facts.missing
        reason = facts.missingReason
    }

    /// Of one frame alone: nothing ends, and ``rowDefect`` tells.
    init(ofStill: Void) {
        damaged = .salvage
        passed = 0
        total = 1
        unit = .frames
        missing = 0
        reason = ""
    }

    /// What the frame that came last lacks.
    var rowDefect: Defect? {
        guard rows.missing > 0 else { return nil }
        return Defect(
            damage: Damage(.rows, missing: Double(rows.missing), of: Double(rows.total)), reason: Self.rowReason)
    }

    private static let rowReason = "its data is damaged, or ends before them"

    var defect: Defect { Defect(damage: Damage(unit, missing: Double(missing), of: Double(total)), reason: reason) }

    /// - Parameters:
    ///   - rows: Missing in the frame that comes now, or that should have come, of how many.
    ///   - reason: Why, as a clause on frames.
    /// - Throws: ``AttachmentError/corrupt(reason:)`` where more are missing than is tolerated.
    package func count(rows: (missing: Int, total: Int), because reason: String) throws(AttachmentError) {
        self.rows = rows
        let isBefore = passed > 0
        passed -= isBefore ? 1 : 0
        guard rows.missing > 0, !(isBefore && isBaseDamaged) else { return }
        if isBefore { isBaseDamaged = true }
        missing += 1
        if self.reason.isEmpty { self.reason = reason }
        _ = try defect.loss(when: damaged)
    }

    /// The frame that comes now is whole.
    package func countWhole() {
        rows = (0, 0)
        passed = max(0, passed - 1)
    }
}
