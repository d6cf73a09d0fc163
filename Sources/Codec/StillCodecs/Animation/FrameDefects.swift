package import SatchelCore

/// Counts the frames that can't be decoded whole while an animation is made, and ends that where they are too many.
package final class FrameDefects {
    private let damaged: WhenDamaged
    private let total: Int
    private(set) var missing: Int
    private(set) var code: Finding.Code?
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
        missing = facts.missing
        code = facts.missing > 0 || facts.missingCode == .checksumDiffers ? facts.missingCode : nil
    }

    /// Of one frame alone: nothing ends, and ``rowDefect`` tells.
    init(ofStill: Void) {
        damaged = .salvage
        passed = 0
        total = 1
        missing = 0
    }

    /// What the frame that came last lacks.
    var rowDefect: Finding? {
        rows.missing > 0 ? Finding(.notDecoded, .rows, missing: rows.missing, of: rows.total) : nil
    }

    var defect: Finding {
        let names = [Finding.Code.endsWithin: "last frame", .checksumDiffers: "frames"]
        return Finding(code ?? .notDecoded, .frames, missing: missing, of: total, named: code.flatMap { names[$0] })
    }

    /// - Parameter rows: Missing in the frame that comes now, or that should have come, of how many.
    /// - Throws: ``AttachmentError/unreadable(_:)`` where more are missing than is tolerated.
    package func count(rows: (missing: Int, total: Int)) throws(AttachmentError) {
        self.rows = rows
        let isBefore = passed > 0
        passed -= isBefore ? 1 : 0
        guard rows.missing > 0, !(isBefore && isBaseDamaged) else { return }
        if isBefore { isBaseDamaged = true }
        missing += 1
        _ = try defect.loss(when: damaged)
    }

    /// The frame that comes now is whole.
    package func countWhole() {
        rows = (0, 0)
        passed = max(0, passed - 1)
    }
}
