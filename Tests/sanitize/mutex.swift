// Threads that contend for a Mutex, and, with the argument `race`, for a number without it: what the thread sanitizer has to say of either is
// known, so Tests/sanitize.sh asks it first.
import Glibc
import Synchronization

final class Counts: Sendable {
    let list = Mutex<[Int]>([])
    let table = Mutex<[Int: Int]>([:])
    nonisolated(unsafe) var unguarded = 0

    static let shared = Counts()
    static let races = CommandLine.arguments.contains("race")

    func contend() {
        for round in 0..<20_000 {
            list.withLock { list in
                list.append(round)
                if list.count > 100 { list.removeAll() }
            }
            table.withLock { $0[round & 7, default: 0] += 1 }
            if Self.races { unguarded += 1 }
        }
    }

    /// Runs `contend` in threads of their own.
    static func run(threads count: Int) {
        var threads: [pthread_t] = []
        for _ in 0..<count {
            var thread = pthread_t()
            pthread_create(
                &thread, nil,
                { _ in
                    Counts.shared.contend()
                    return nil
                }, nil)
            threads.append(thread)
        }
        for thread in threads { pthread_join(thread, nil) }
    }
}

Counts.run(threads: 4)
print(Counts.shared.table.withLock { $0.values.reduce(0, +) })
