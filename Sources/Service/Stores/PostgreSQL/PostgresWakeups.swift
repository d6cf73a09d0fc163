internal import SatchelCore
internal import Postgres
internal import Synchronization

/// Tells other nodes that there is something to look at, and hears them: wake-ups without contents, on connections of their
/// own. Each `NOTIFY` takes a lock of the whole server until its commit is on disk: so none is in the transaction of a job,
/// none waits for the disk, and there are few.
final class PostgresWakeups: Sendable {
    enum Channel: String, Hashable, CaseIterable {
        case work = "satchel_work"
        case ended = "satchel_ended"
        case due = "satchel_due"

        var event: QueueEvent {
            switch self {
            case .work: .work
            case .ended: .ended
            case .due: .due
            }
        }
    }

    private struct State {
        var pending: Set<Channel> = []
        var isUnderWay = false
        var listener: PostgresListener?
    }

    /// Whether there may be any: not where nobody wants them, nor behind what is known for a pooler in transaction mode.
    private let areWanted: Bool
    private let pool: PostgresPool
    private let state = Mutex(State())
    private let count = Atomic<Int>(1)

    /// Between two of a node, times the number of nodes that live.
    static let share: Duration = .milliseconds(20)

    init(_ parameters: PostgresParameters, areWanted: Bool) {
        self.areWanted = areWanted && !parameters.isPooled
        pool = PostgresPool(parameters, writers: 1, readers: 1)
    }

    /// How many nodes share what is sent.
    func divide(among nodes: Int) {
        count.store(max(nodes, 1), ordering: .relaxed)
    }

    private var nodes: Int { count.load(ordering: .relaxed) }

    /// Whether this node hears the others': found out, as a pooler between needn't be known.
    var status: PostgresListener.Status { state.withLock { $0.listener?.status ?? .unknown } }

    /// Tells it at once, or together with what comes until the next may be sent. Where this node is known to hear nobody,
    /// nobody hears it either: they have the same way to the server.
    func send(_ channels: Set<Channel>) {
        guard areWanted, !channels.isEmpty else { return }
        let begins = state.withLock { state in
            guard state.listener?.status != .fails else { return false }
            state.pending.formUnion(channels)
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if begins { Task { await work() } }
    }

    private func work() async {
        while true {
            let channels = state.withLock { state in
                defer { state.pending = [] }
                state.isUnderWay = !state.pending.isEmpty
                return state.pending
            }
            guard !channels.isEmpty else { return }
            // Others look by themselves soon after.
            _ = try? await pool.batch(
                [Statement("SET LOCAL synchronous_commit TO off")]
                    + channels.map { Statement("NOTIFY \"\($0.rawValue)\"") })
            try? await Task.sleep(for: Self.share * nodes)
        }
    }

    func listen(_ handler: @escaping @Sendable (QueueEvent) -> Void) {
        guard areWanted else { return }
        let listener = PostgresListener(pool.parameters, to: Channel.allCases.map(\.rawValue)) { name in
            if let channel = Channel(rawValue: name) { handler(channel.event) }
        }
        state.withLock { $0.listener = listener }
    }
}
