public import SatchelCore
import FoundationEssentials
import Synchronization

/// Where jobs underway tell what happens, and where whoever follows one hears it.
///
/// Events are kept for a while after a job's end, so that a follower that was cut off can resume; they don't outlive the
/// process, and of what another process does no more is heard here than that it does it. Whoever asks for more than there is
/// gets what there is: the record tells the rest.
///
/// Telling never waits: a follower has no buffer of its own but reads on in the job's history at its own pace.
public final class JobEvents: Sendable {
    /// An event with its number: unique in its process, rising within its job.
    public struct Numbered: Hashable, Sendable {
        /// `<process>-<number>`, for `Last-Event-ID`.
        public var id: String
        public var event: JobEvent
    }

    typealias Key = JobName

    private typealias Signal = AsyncStream<Void>.Continuation

    private struct History {
        var generation = 1
        var events: [(number: Int, event: JobEvent)] = []
        /// The number of the latest event that is no longer here, save progress that went on.
        var forgotten = 0
        /// Followers, who look again when there is more.
        var followers: [Int: Signal] = [:]
        /// Those who wait for the end.
        var waiters: [Int: Signal] = [:]
        var touchedAt = ContinuousClock.now
        var hasEnded = false

        var isVacant: Bool { events.isEmpty && followers.isEmpty && waiters.isEmpty }
    }

    private struct State {
        var histories: [Key: History] = [:]
        var number = 0
    }

    /// Of one job; older ones are forgotten. Ten attachments with all their stages and a retry make half as many.
    static let maximumEvents = 256
    /// Jobs; those that ended first are forgotten first. Twice the default limit of the queue.
    static let maximumJobs = 20_000
    /// Of them, those that have ended: for followers that come back after seconds. Their events take about 4 kB each.
    static let maximumEndedJobs = 500
    /// What is not heard of for so long went on elsewhere.
    private static let patience: Duration = .seconds(3600)

    /// Tells one process's numbers from another's.
    private let process = UUID().uuidString.lowercased().prefix(8)
    private let state = Mutex(State())
    /// Told when somebody begins to follow a job, or to wait for its end.
    private let attention = Mutex<(@Sendable () -> Void)?>(nil)
    /// How long the events of a finished job are kept.
    private let memory: Duration

    public init(memory: Duration = .seconds(300)) {
        self.memory = memory
    }

    /// Jobs that something is known of.
    var count: Int { state.withLock { $0.histories.count } }

    /// Jobs that somebody follows, or for whose end somebody waits.
    var watched: Set<JobName> {
        state.withLock { state in
            Set(
                state.histories.lazy.filter { _, history in
                    !history.hasEnded && !(history.followers.isEmpty && history.waiters.isEmpty)
                }.map(\.key))
        }
    }

    func whenWatched(_ begin: @escaping @Sendable () -> Void) {
        attention.withLock { $0 = begin }
    }

    // MARK: Telling

    /// Tells the followers of the event's job. What belongs to an older generation, or comes after the end, is not told.
    public func publish(_ event: JobEvent) {
        state.withLock { state in
            state.number += 1
            Self.add(event, number: state.number, to: &state.histories[event.key, default: History()])
            // Looked through now and then, not at each event.
            if state.number % 1024 == 0 || state.histories.count > Self.maximumJobs { forget(in: &state) }
        }
    }

    private static func add(_ event: JobEvent, number: Int, to history: inout History) {
        // A job that was deleted begins anew under its id: nothing starts after its own end.
        let isAnother: Bool
        switch event.what {
        case .started: isAnother = history.hasEnded
        case .accepted: isAnother = history.hasEnded && event.generation < history.generation
        default: isAnother = false
        }
        if history.events.isEmpty || event.generation > history.generation || isAnother {
            // A new generation is another story.
            history.forgotten = history.events.last?.number ?? 0
            history.events = []
            history.generation = event.generation
            history.hasEnded = false
        }
        guard event.generation == history.generation, !history.hasEnded else { return }
        // Only the latest counts.
        history.events.removeAll { event.what.supersedes($0.event.what) }
        history.events.append((number, event))
        if history.events.count > maximumEvents { history.forgotten = history.events.removeFirst().number }
        history.touchedAt = .now
        if case .finished = event.what {
            history.hasEnded = true
            // No room for more of them is needed any more.
            history.events = history.events.map { $0 }
            for waiter in history.waiters.values { waiter.yield() }
        }
        for follower in history.followers.values { follower.yield() }
    }

    private func forget(in state: inout State) {
        let now = ContinuousClock.now
        state.histories = state.histories.filter { _, history in
            let age = now - history.touchedAt
            let isOld = history.hasEnded ? age > memory : age > Self.patience && history.followers.isEmpty
            if isOld { for follower in history.followers.values { follower.finish() } }
            return !isOld
        }
        let ended = state.histories.filter(\.value.hasEnded)
        if ended.count > Self.maximumEndedJobs {
            forget(ended.count - Self.maximumEndedJobs, of: ended, in: &state)
        }
        // What is underway, where that is too much by itself.
        if state.histories.count > Self.maximumJobs {
            // Some more than needed, so that the next event doesn't sort again.
            forget(state.histories.count - Self.maximumJobs * 9 / 10, of: state.histories, in: &state)
        }
    }

    /// Forgets so many, those that ended first, and then those that weren't heard of for longest.
    private func forget(_ count: Int, of histories: [Key: History], in state: inout State) {
        let order = histories.sorted { left, right in
            (left.value.hasEnded ? 0 : 1, left.value.touchedAt) < (right.value.hasEnded ? 0 : 1, right.value.touchedAt)
        }
        for (key, history) in order.prefix(count) {
            for signal in [history.followers, history.waiters].flatMap(\.values) { signal.finish() }
            state.histories[key] = nil
        }
    }

    // MARK: Following

    /// What happens to a job from now on, after what is known to have happened since `last`; all of it where `last` is
    /// nil or of another process. Ends after the job's end.
    public func follow(_ job: JobID, of tenant: TenantID, after last: String? = nil) -> AsyncStream<Numbered> {
        let key = Key(tenant: tenant, job: job)
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = register(signal, in: \.followers, of: key)
        let follower = Follower(key: key, number: number, after: position(last), signals: signals, events: self)
        return AsyncStream { await follower.next() }
    }

    /// Whether following after this event misses nothing that happened since.
    public func remembers(_ last: String, of job: JobID, tenant: TenantID) -> Bool {
        let number = position(last)
        return state.withLock { state in
            guard let history = state.histories[Key(tenant: tenant, job: job)], let latest = history.events.last else {
                return false
            }
            return number > 0 && number >= history.forgotten && number <= latest.number
        }
    }

    /// Forgets a job that was deleted: another may come under its id. Whoever follows it is at the end of the story.
    public func forget(_ job: JobID, of tenant: TenantID) {
        let history = state.withLock { $0.histories.removeValue(forKey: Key(tenant: tenant, job: job)) }
        guard let history else { return }
        for signal in [history.followers, history.waiters].flatMap(\.values) { signal.finish() }
    }

    /// Waits for the end of a job, of this generation or a later one.
    ///
    /// - Returns: Whether its end was told here, before the call or while it waited; then the record says what it came
    ///   to. False where the time was up, the task was cancelled, or nothing is remembered of the job.
    public func waitForEnd(
        of job: JobID, generation: Int = 1, tenant: TenantID, within limit: Duration
    ) async -> Bool {
        let key = Key(tenant: tenant, job: job)
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = register(signal, in: \.waiters, of: key)
        defer { leave(key, number) }
        guard !hasEnded(key, generation) else { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in signals where self.hasEnded(key, generation) { return true }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: limit)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    private func position(_ last: String?) -> Int {
        let parts = (last ?? "").split(separator: "-")
        guard parts.count == 2, parts[0] == process else { return 0 }
        return Int(parts[1]) ?? 0
    }

    private func register(_ signal: Signal, in list: WritableKeyPath<History, [Int: Signal]>, of key: Key) -> Int {
        defer { attention.withLock(\.self)?() }
        return state.withLock { state in
            state.number += 1
            state.histories[key, default: History()][keyPath: list][state.number] = signal
            return state.number
        }
    }

    private func hasEnded(_ key: Key, _ generation: Int) -> Bool {
        state.withLock { state in
            guard let history = state.histories[key] else { return false }
            return history.hasEnded && history.generation >= generation
        }
    }

    private func leave(_ key: Key, _ number: Int) {
        state.withLock { state in
            state.histories[key]?.followers[number] = nil
            state.histories[key]?.waiters[number] = nil
            if state.histories[key]?.isVacant ?? false { state.histories[key] = nil }
        }
    }

    private enum Next {
        case event(number: Int, JobEvent)
        case later
        case over
    }

    private func next(of key: Key, after position: Int) -> Next {
        state.withLock { state in
            guard let history = state.histories[key] else { return .over }
            if let next = history.events.first(where: { $0.number > position }) {
                return .event(number: next.number, next.event)
            }
            return history.hasEnded ? .over : .later
        }
    }

    /// Somebody's place in a job's history.
    private final class Follower: Sendable {
        private let key: Key
        private let number: Int
        private let position: Mutex<Int>
        private let signals: AsyncStream<Void>
        private let events: JobEvents

        init(key: Key, number: Int, after position: Int, signals: AsyncStream<Void>, events: JobEvents) {
            self.key = key
            self.number = number
            self.position = Mutex(position)
            self.signals = signals
            self.events = events
        }

        deinit {
            events.leave(key, number)
        }

        func next() async -> Numbered? {
            while !Task.isCancelled {
                switch events.next(of: key, after: position.withLock { $0 }) {
                case .event(let number, let event):
                    position.withLock { $0 = number }
                    return Numbered(id: "\(events.process)-\(number)", event: event)
                case .over: return nil
                case .later: for await _ in signals { break }
                }
            }
            return nil
        }
    }
}

extension JobEvent {
    fileprivate var key: JobEvents.Key { JobEvents.Key(tenant: tenant, job: job) }
}

extension JobEvent.What {
    fileprivate func supersedes(_ earlier: Self) -> Bool {
        switch (self, earlier) {
        case (.progress(let attachment, _, _), .progress(let other, _, _)): attachment == other
        case (.remote, .remote), (.started, .remote): true
        default: false
        }
    }
}
