import SatchelCore
import Synchronization

/// The credentials of a request, which may be revoked or expire while it waits or streams.
struct Credentials: Sendable {
    let token: AccessToken
    let watch: CredentialWatch
    /// Asks the store.
    let areGood: @Sendable () async throws -> Bool

    /// Fails once the credentials are revoked or have expired.
    func check() async throws {
        guard try await areGood() else { throw Problem.unauthorized }
    }
}

extension Optional<Credentials> {
    /// Answers a request, and cancels that within a second of the credentials' end. An answer that took long is only
    /// given with credentials that are still good.
    func answering<Answer: Sendable>(_ answer: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
        guard let self else { return try await answer() }
        let (task, start) = (Task { try await answer() }, ContinuousClock.now)
        let number = self.watch.add(self) { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        self.watch.remove(number)
        if task.isCancelled || .now - start >= CredentialWatch.moment { try await self.check() }
        return try result.get()
    }
}

/// Looks whether credentials are still good, for all requests that last.
///
/// Each token is looked up once per interval, no matter how many requests wait under it. So it holds for revocations on other
/// nodes too, for expiry, for the end of a rotated key's overlap and for tenants that are removed.
final class CredentialWatch: Sendable {
    static let interval: Duration = .milliseconds(400)
    /// An answer that took longer may have waited for something.
    static let moment: Duration = .milliseconds(20)

    private struct State {
        var entries: [Int: (credentials: Credentials, cancel: @Sendable () -> Void)] = [:]
        var number = 0
        var isRunning = false
    }

    private let state = Mutex(State())

    fileprivate func add(_ credentials: Credentials, cancel: @escaping @Sendable () -> Void) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.number += 1
            state.entries[state.number] = (credentials, cancel)
            defer { state.isRunning = true }
            return (state.number, !state.isRunning)
        }
        if isFirst { Task { await run() } }
        return number
    }

    fileprivate func remove(_ number: Int) { state.withLock { $0.entries[number] = nil } }

    /// Looks for as long as there are requests. A store that can't be asked now doesn't revoke.
    private func run() async {
        repeat {
            try? await Task.sleep(for: Self.interval)
            let all = state.withLock { Array($0.entries.values) }
            await withDiscardingTaskGroup { group in
                for entries in Dictionary(grouping: all, by: { $0.credentials.token }).values {
                    group.addTask {
                        guard (try? await entries[0].credentials.areGood()) == false else { return }
                        for entry in entries { entry.cancel() }
                    }
                }
            }
        } while state.withLock { state in
            state.isRunning = !state.entries.isEmpty
            return state.isRunning
        }
    }
}
