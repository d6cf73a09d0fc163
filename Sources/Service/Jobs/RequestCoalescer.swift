import SatchelCore
import Crypto
import FoundationEssentials
import Platform
import Synchronization

/// Lets identical attachments of one tenant be worked on once: those that come meanwhile wait for the first, those that
/// come soon after take over what it came to. Only what was delivered in full is taken over.
public final class RequestCoalescer: Sendable {
    /// How long results are taken over.
    public struct Settings: Hashable, Sendable {
        /// What a URL held serves submissions that were made up to so long after its fetch began; zero: each submission
        /// has a fetch of its own.
        public var fetched: Duration
        /// What an upload came to serves uploads of the same bytes for so long.
        public var uploaded: Duration

        public init(fetched: Duration = .seconds(60), uploaded: Duration = .seconds(600)) {
            self.fetched = fetched
            self.uploaded = uploaded
        }
    }

    /// Tells identical work: the same source, and the same wishes.
    struct Key: Hashable, Sendable {
        var tenant: TenantID
        /// SHA-256, for the key may be over credentials.
        var digest: String
        var isFetched: Bool
    }

    /// What an attachment came to.
    struct Made: Sendable {
        var kind: MediaKind?
        var source: SourceFacts
        var result: AttachmentResult
    }

    /// What to do about an attachment.
    enum Turn: Sendable {
        /// Work on it, and tell the others.
        case lead(Lead)
        /// Take this over.
        case take(Made)
        /// It is costly: its place is in the expensive lane.
        case needsExpensiveLane
        /// Work on it for itself: what the first came to serves nobody else.
        case alone
        /// The time was up while the first was still worked on.
        case late
    }

    /// How the work of the first ended, for the others.
    enum Ending: Sendable {
        case made(Made)
        case needsExpensiveLane
        /// Another may have more luck: it was cancelled, or its time was up.
        case abandoned
        /// It would go the same way with each.
        case unfit
    }

    /// Work underway.
    fileprivate final class Flight: Sendable {
        let startedAt: Instant
        let isCostly: Bool
        /// Opened at the end, wide enough for all.
        let gate = AsyncSemaphore(capacity: 0)
        private let state = Mutex<Ending?>(nil)

        init(startedAt: Instant, isCostly: Bool) {
            self.startedAt = startedAt
            self.isCostly = isCostly
        }

        var ending: Ending { state.withLock { $0 ?? .abandoned } }

        func end(_ ending: Ending) {
            state.withLock { $0 = ending }
            gate.release(1 << 40)
        }
    }

    /// The duty of whoever works on it first.
    final class Lead: Sendable {
        private let work: RequestCoalescer
        private let key: Key
        private let flight: Mutex<Flight?>

        fileprivate init(_ work: RequestCoalescer, _ key: Key, _ flight: Flight) {
            self.work = work
            self.key = key
            self.flight = Mutex(flight)
        }

        deinit {
            end(.abandoned)
        }

        /// In the expensive lane the source turned out to be costly: whoever waits in the quick lane has to move.
        func turnedOutCostly() {
            flight.withLock { flight in
                guard let old = flight else { return }
                flight = work.replace(old, at: key)
            }
        }

        /// Only the first call counts.
        func end(_ ending: Ending) {
            guard let flight = flight.withLock({ $0.take() }) else { return }
            work.end(flight, at: key, ending)
        }
    }

    private struct Memory {
        var made: Made
        var startedAt: Instant
        var until: ContinuousClock.Instant
    }

    private struct State {
        var flights: [Key: Flight] = [:]
        var memories: [Key: Memory] = [:]
        /// When what is too old was last looked for: there may be thousands, and hundreds of ends a second.
        var tidiedAt = ContinuousClock.now

        /// Makes room for one more.
        mutating func tidy(at now: ContinuousClock.Instant) {
            guard now - tidiedAt > .seconds(1) || memories.count >= maximumMemories else { return }
            tidiedAt = now
            memories = memories.filter { $0.value.until > now }
            guard memories.count >= maximumMemories else { return }
            // Some more than needed, so that the next end doesn't sort again.
            let oldest = memories.sorted { $0.value.until < $1.value.until }.prefix(maximumMemories / 10)
            for (key, _) in oldest { memories[key] = nil }
        }
    }

    /// Results that are remembered: a few kilobytes each.
    private static let maximumMemories = 2000

    private let settings: Settings
    private let state = Mutex(State())

    public init(_ settings: Settings = Settings()) {
        self.settings = settings
    }

    /// Nil for what can't be told from other work without reading it.
    func key(of submission: AttachmentSubmission, for order: WorkOrder, tenant: TenantID) -> Key? {
        struct Identity: Encodable {
            var source: String
            var url: SourceLocation?
            var name: String?
            var declaredType: String?
            var options: DisplayOptions
            var order: WorkOrder
            /// Whoever has not the key doesn't get what it opens.
            var encryption: MediaEncryption?
        }
        var identity = Identity(
            source: "", options: submission.options, order: order, encryption: submission.encryption)
        switch submission.location {
        case .file, .object: return nil
        case .spool:
            guard let sha256 = submission.sha256, settings.uploaded > .zero else { return nil }
            identity.source = sha256
        case .url:
            guard settings.fetched > .zero else { return nil }
            identity.url = submission.location
            // Where they aren't given, the origin's count.
            identity.name = submission.name
            identity.declaredType = submission.declaredType
        }
        guard let data = try? JSON.encode(identity) else { return nil }
        return Key(tenant: tenant, digest: SHA256.hash(data: data).hexadecimal, isFetched: identity.url != nil)
    }

    /// Waits while somebody else works on the same.
    ///
    /// - Parameter submittedAt: What was fetched long before doesn't do.
    func turn(
        at key: Key, submittedAt: Instant, in lane: JobLane, until end: ContinuousClock.Instant?
    ) async throws(CancellationError) -> Turn {
        while true {
            let flight: Flight
            switch decide(key, submittedAt) {
            case .turn(let turn): return turn
            case .flight(let underway): flight = underway
            }
            if flight.isCostly, lane == .quick { return .needsExpensiveLane }
            switch await flight.gate.acquire(1, until: end) {
            case .cancelled: throw CancellationError()
            case .late: return .late
            case .granted: break
            }
            switch flight.ending {
            case .made(let made): return .take(made)
            case .unfit: return .alone
            case .needsExpensiveLane where lane == .quick: return .needsExpensiveLane
            case .needsExpensiveLane, .abandoned: break
            }
        }
    }

    /// Forgets a result whose bytes are gone.
    func forget(_ key: Key) {
        state.withLock { $0.memories[key] = nil }
    }

    private enum Decision {
        case turn(Turn)
        case flight(Flight)
    }

    private func decide(_ key: Key, _ submittedAt: Instant) -> Decision {
        let now = ContinuousClock.now
        return state.withLock { state in
            func isFresh(_ startedAt: Instant) -> Bool {
                !key.isFetched || submittedAt <= startedAt + settings.fetched
            }
            if let memory = state.memories[key], memory.until > now, isFresh(memory.startedAt) {
                return .turn(.take(memory.made))
            }
            if let flight = state.flights[key] {
                return isFresh(flight.startedAt) ? .flight(flight) : .turn(.alone)
            }
            let flight = Flight(startedAt: .wallClock(), isCostly: false)
            state.flights[key] = flight
            return .turn(.lead(Lead(self, key, flight)))
        }
    }

    private func replace(_ old: Flight, at key: Key) -> Flight {
        let new = Flight(startedAt: old.startedAt, isCostly: true)
        state.withLock { $0.flights[key] = new }
        old.end(.needsExpensiveLane)
        return new
    }

    private func end(_ flight: Flight, at key: Key, _ ending: Ending) {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.flights[key] === flight { state.flights[key] = nil }
            guard case .made(let made) = ending else { return }
            state.tidy(at: now)
            // Submissions that were made in time may wait in the queue for longer.
            state.memories[key] = Memory(
                made: made, startedAt: flight.startedAt, until: now + max(settings.uploaded, settings.fetched))
        }
        flight.end(ending)
    }
}
