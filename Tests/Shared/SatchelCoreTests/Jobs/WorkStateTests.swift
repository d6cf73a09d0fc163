import TestSupport
import Testing

@testable import SatchelCore

@Suite struct WorkStateTests {
    @Test(arguments: WorkState.allCases.filter(\.isFinished), WorkState.allCases)
    func `no transition leads out of a finished state`(from: WorkState, to: WorkState) {
        #expect(!from.canBecome(to))
    }

    @Test(arguments: WorkState.allCases)
    func `every state is reached from pending`(state: WorkState) {
        var reached: Set<WorkState> = [.pending]
        var before = 0
        while before != reached.count {
            before = reached.count
            for next in WorkState.allCases where reached.contains(where: { $0.canBecome(next) }) {
                reached.insert(next)
            }
        }
        #expect(reached.contains(state))
    }

    @Test func `an interrupted job is pending again, and nothing is delivered without having run`() {
        #expect(WorkState.running.canBecome(.pending))
        #expect(!WorkState.pending.canBecome(.delivered))
    }
}
