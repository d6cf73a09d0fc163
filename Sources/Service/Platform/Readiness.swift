import Glibc
import Synchronization

/// Tells when descriptors become readable and when moments have come: one thread that polls for the whole process, so
/// that no blocking call ever holds a thread of the cooperative pool.
package final class Readiness: Sendable {
    package static let shared = Readiness()

    package enum Outcome: Sendable {
        /// Something can be read, or the other side has ended.
        case ready
        /// The moment came first.
        case late
        case cancelled
    }

    private struct Watch {
        /// -1 where only the moment counts.
        var descriptor: Int32
        var moment: ContinuousClock.Instant?
        var report: @Sendable (Outcome) -> Void
    }

    private struct State {
        var next = 0
        var watches: [Int: Watch] = [:]
        /// Cancelled before they were watched.
        var cancelled: Set<Int> = []
        var isRunning = false
    }

    private let state = Mutex(State())
    /// Wakes the polling thread: a byte written to one end.
    private let wakePipe: (read: Int32, write: Int32) = {
        var ends: [Int32] = [-1, -1]
        precondition(unsafe pipe(&ends) == 0, "no pipe can be made")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }()

    /// Waits until `descriptor` can be read or `moment` has come. The caller keeps the descriptor open meanwhile.
    package func wait(for descriptor: Int32, until moment: ContinuousClock.Instant?) async -> Outcome {
        let number = reserve()
        defer { release(number) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                watch(number, descriptor: descriptor, until: moment) { continuation.resume(returning: $0) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    /// A number for ``watch(_:descriptor:until:report:)``.
    package func reserve() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }

    /// Calls `report` once: on the polling thread, or at once where `number` was cancelled already.
    package func watch(
        _ number: Int, descriptor: Int32 = -1, until moment: ContinuousClock.Instant?,
        report: @escaping @Sendable (Outcome) -> Void
    ) {
        let (isCancelled, mustStart) = state.withLock { state in
            if state.cancelled.remove(number) != nil { return (true, false) }
            state.watches[number] = Watch(descriptor: descriptor, moment: moment, report: report)
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isCancelled { return report(.cancelled) }
        if mustStart { start() }
        wake()
    }

    /// Ends a watch as ``Outcome/cancelled``; nothing happens where it has ended already.
    package func cancel(_ number: Int) {
        let watch = state.withLock { state in
            let watch = state.watches.removeValue(forKey: number)
            if watch == nil { state.cancelled.insert(number) }
            return watch
        }
        watch?.report(.cancelled)
    }

    /// Forgets a number that nobody will watch or cancel any more.
    package func release(_ number: Int) {
        state.withLock { _ = $0.cancelled.remove(number) }
    }

    private func wake() {
        // Where the pipe is full, it rings already.
        var byte: UInt8 = 1
        _ = unsafe write(wakePipe.write, &byte, 1)
    }

    private func start() {
        var thread = pthread_t()
        // Other processes end if the limit of threads is reached.
        while unsafe pthread_create(&thread, nil, { _ in Readiness.shared.poll() }, nil) != 0 { usleep(100_000) }
        pthread_detach(thread)
    }

    private func poll() -> Never {
        while true {
            let watches = state.withLock { $0.watches }
            var polled = [pollfd(fd: wakePipe.read, events: Int16(POLLIN), revents: 0)]
            var numbers: [Int] = []
            for (number, watch) in watches where watch.descriptor >= 0 {
                polled.append(pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0))
                numbers.append(number)
            }
            let soonest = watches.values.compactMap(\.moment).min()
            _ = unsafe Glibc.poll(&polled, nfds_t(polled.count), Self.milliseconds(until: soonest))
            if polled[0].revents != 0 {
                var bytes = [UInt8](repeating: 0, count: 512)
                _ = unsafe read(wakePipe.read, &bytes, bytes.count)
            }
            let readable = zip(numbers, polled.dropFirst()).filter { $1.revents != 0 }.map(\.0)
            let now = ContinuousClock.now
            let late = watches.filter { $0.value.moment.map { $0 <= now } ?? false }.keys
            report(readable, .ready)
            report(late, .late)
        }
    }

    private func report(_ numbers: some Collection<Int>, _ outcome: Outcome) {
        for number in numbers {
            let watch = state.withLock { $0.watches.removeValue(forKey: number) }
            watch?.report(outcome)
        }
    }

    /// Rounded up, so that the moment has come when the poll returns.
    private static func milliseconds(until moment: ContinuousClock.Instant?) -> Int32 {
        guard let moment else { return -1 }
        let left = ContinuousClock.now.duration(to: moment)
        guard left > .zero else { return 0 }
        let (seconds, attoseconds) = left.components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }
}
