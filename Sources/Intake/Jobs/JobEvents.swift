public import Attachments
import FoundationEssentials
import Synchronization

/// Where jobs underway tell what happens, and where whoever follows one hears it.
///
/// Events are kept for a while after a job's end, so that a follower that was cut off can resume; they don't outlive the
/// process. Whoever asks for more than there is gets what there is: the record tells the rest.
public final class JobEvents: Sendable {
    /// An event with its number: unique in its process, rising within its job.
    public struct Numbered: Hashable, Sendable {
        /// `<process>-<number>`, for `Last-Event-ID`.
        public var id: String
        public var event: JobEvent
    }

    /// Names a job among all tenants'.
    struct Key: Hashable {
        var tenant: TenantID
        var job: JobID
    }

    private struct History {
        var events: [(number: Int, event: JobEvent)] = []
        var followers: [Int: AsyncStream<Numbered>.Continuation] = [:]
        var endedAt: ContinuousClock.Instant?
    }

    private struct State {
        var histories: [Key: History] = [:]
        var number = 0
    }

    /// Tells one process's numbers from another's.
    private let process = UUID().uuidString.lowercased().prefix(8)
    private let state = Mutex(State())
    /// How long the events of a finished job are kept.
    private let memory: Duration

    public init(memory: Duration = .seconds(300)) {
        self.memory = memory
    }

    /// Tells the followers of the event's job.
    public func publish(_ event: JobEvent) {
        let key = Key(tenant: event.tenant, job: event.job)
        state.withLock { state in
            state.number += 1
            var history = state.histories[key] ?? History()
            // A new generation is another story.
            if history.events.last.map({ $0.event.generation < event.generation }) ?? false { history.events = [] }
            history.events.append((state.number, event))
            let numbered = Numbered(id: "\(process)-\(state.number)", event: event)
            for follower in history.followers.values { follower.yield(numbered) }
            if case .finished = event.what {
                history.endedAt = .now
                for follower in history.followers.values { follower.finish() }
                history.followers = [:]
            } else {
                history.endedAt = nil
            }
            state.histories[key] = history
            forget(in: &state)
        }
    }

    /// What happens to a job from now on, after what is known to have happened since `last`; all of it where `last` is
    /// nil or of another process. Ends after the job's end.
    public func follow(_ job: JobID, of tenant: TenantID, after last: String? = nil) -> AsyncStream<Numbered> {
        let key = Key(tenant: tenant, job: job)
        let since = last.flatMap { text -> Int? in
            let parts = text.split(separator: "-")
            guard parts.count == 2, parts[0] == process else { return nil }
            return Int(parts[1])
        }
        let (stream, continuation) = AsyncStream.makeStream(of: Numbered.self, bufferingPolicy: .bufferingNewest(256))
        state.withLock { state in
            var history = state.histories[key] ?? History()
            for (number, event) in history.events where number > since ?? 0 {
                continuation.yield(Numbered(id: "\(process)-\(number)", event: event))
            }
            if history.endedAt != nil {
                continuation.finish()
                return
            }
            state.number += 1
            let follower = state.number
            history.followers[follower] = continuation
            state.histories[key] = history
            continuation.onTermination = { [weak self] _ in self?.leave(key, follower) }
        }
        return stream
    }

    private func leave(_ key: Key, _ follower: Int) {
        state.withLock { state in
            state.histories[key]?.followers[follower] = nil
            if let history = state.histories[key], history.followers.isEmpty, history.events.isEmpty {
                state.histories[key] = nil
            }
        }
    }

    private func forget(in state: inout State) {
        // Looked through now and then, not at each event.
        guard state.number % 256 == 0 else { return }
        let now = ContinuousClock.now
        state.histories = state.histories.filter { _, history in
            history.endedAt.map { now - $0 < memory || !history.followers.isEmpty } ?? true
        }
    }
}

extension JobEvents {
    /// Whether following after this event misses nothing that happened since.
    public func remembers(_ last: String, of job: JobID, tenant: TenantID) -> Bool {
        let parts = last.split(separator: "-")
        guard parts.count == 2, parts[0] == process, let number = Int(parts[1]) else { return false }
        return state.withLock { state in
            state.histories[Key(tenant: tenant, job: job)]?.events.contains { $0.number == number } ?? false
        }
    }
}
