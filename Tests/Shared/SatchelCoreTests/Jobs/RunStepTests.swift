import SatchelCore
import Testing

/// What the leader of a shared run does next.
@Suite struct RunStepTests {
    private static func run(_ change: (inout SharedRun) -> Void) -> SharedRun {
        var run = SharedRun(id: RunID(rawValue: "run"), machines: 1)
        change(&run)
        return run
    }

    @Test func `a list pauses while ten thousand wait`() {
        #expect(Self.run { $0.waiting = 9_999 }.nextStep == .list)
        #expect(Self.run { $0.waiting = 10_000 }.nextStep == .wait)
    }

    @Test func `a run ends when all is listed and done, and no machine has anything left to write`() {
        #expect(Self.run { _ in }.nextStep == .list)
        let whole = Self.run { $0.isWhole = true }
        #expect(whole.isDone && whole.nextStep == .wait)
        let left = Self.run {
            $0.isWhole = true
            $0.machines = 0
        }
        #expect(left.nextStep == .end)
        var working = left
        working.unfinished = 1
        #expect(!working.isDone && working.nextStep == .wait)
    }
}
