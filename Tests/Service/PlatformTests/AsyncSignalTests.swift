import Platform
import Testing

@Suite(.timeLimit(.minutes(1))) struct AsyncSignalTests {
    @Test func `a signal that was given before anybody waited is not lost, and counts once`() async {
        let signal = AsyncSignal()
        signal.give()
        signal.give()
        await signal.wait()
        let second = Task { await signal.wait() }
        for _ in 0..<100 { await Task.yield() }
        signal.give()
        await second.value
    }

    @Test func `whoever waits is let go by a cancellation, and the next signal is the next one's`() async {
        let signal = AsyncSignal()
        let waiting = Task { await signal.wait() }
        waiting.cancel()
        await waiting.value
        signal.give()
        await signal.wait()
    }
}
