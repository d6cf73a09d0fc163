import Dispatch
import Platform
import Testing

@Suite struct BlockingWorkTests {
    private struct Broken: Error, Equatable {
        var number: Int
    }

    /// More than the machine has processors, so that threads of Swift's tasks would not do.
    @Test func `calls that all wait for each other come to their end`() async {
        let count = 24
        let arrived = DispatchSemaphore(value: 0)
        let all = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await BlockingWork.run {
                        arrived.signal()
                        all.wait()
                    }
                }
            }
            await BlockingWork.run {
                for _ in 0..<count { arrived.wait() }
                for _ in 0..<count { all.signal() }
            }
        }
    }

    @Test func `an error comes back as it was thrown`() async {
        await #expect(throws: Broken(number: 3)) {
            try await BlockingWork.run { () throws(Broken) in throw Broken(number: 3) }
        }
    }
}
