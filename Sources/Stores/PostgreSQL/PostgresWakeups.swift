public import Attachments
internal import Postgres
internal import Synchronization

/// Tells other nodes that there is something to look at, and hears them: wake-ups without contents, on connections of their
/// own. Each `NOTIFY` takes a lock of the whole server until its commit is on disk: so none is in the transaction of a job,
/// none waits for the disk, and there are few.
final class PostgresWakeups: Sendable {
    enum Channel: String, Hashable, CaseIterable {
        case work = "satchel_work"
        case ended = "satchel_ended"

        var news: QueueNews {
            switch self {
            case .work: .work
            case .ended: .ended
            }
        }
    }

    private struct State {
        var pending: Set<Channel> = []
        var isUnderWay = false
        var listener: PostgresListener?
    }

    /// Whether there are any: not behind a pooler in transaction mode.
    let areOn: Bool
    private let pool: PostgresPool
    private let state = Mutex(State())
    private let nodes = Atomic<Int>(1)

    /// Between two of a node, times the number of nodes that live.
    static let share: Duration = .milliseconds(20)

    init(_ parameters: PostgresParameters, areOn: Bool) {
        self.areOn = areOn && !parameters.isPooled
        pool = PostgresPool(parameters, writers: 1, readers: 1)
    }

    /// How many nodes share what is sent.
    func divide(among nodes: Int) {
        self.nodes.store(max(nodes, 1), ordering: .relaxed)
    }

    /// Tells it at once, or together with what comes until the next may be sent.
    func send(_ channels: Set<Channel>) {
        guard areOn, !channels.isEmpty else { return }
        let begins = state.withLock { state in
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
                [PostgresStatement("SET LOCAL synchronous_commit TO off")]
                    + channels.map { PostgresStatement("NOTIFY \"\($0.rawValue)\"") })
            try? await Task.sleep(for: Self.share * nodes.load(ordering: .relaxed))
        }
    }

    func listen(_ heed: @escaping @Sendable (QueueNews) -> Void) {
        guard areOn else { return }
        let listener = PostgresListener(pool.parameters, to: Channel.allCases.map(\.rawValue)) { name in
            if let channel = Channel(rawValue: name) { heed(channel.news) }
        }
        state.withLock { $0.listener = listener }
    }
}

extension PostgresRecordStore {
    /// Wake-ups come sooner, where there are any.
    public var pace: QueuePace {
        QueuePace(work: .milliseconds(wakeups.areOn ? 250 : 100), ends: .milliseconds(50))
    }

    public func listen(_ heed: @escaping @Sendable (QueueNews) -> Void) {
        wakeups.listen(heed)
    }

    public func standing(of jobs: Set<JobName>) async throws(AttachmentError) -> [JobName: JobStanding] {
        do {
            let names = Array(jobs)
            let rows = try await pool.rows(
                """
                SELECT jobs.tenant, jobs.id, jobs.generation, jobs.state
                FROM unnest($1::text[], $2::text[]) AS names (tenant, id)
                    JOIN jobs ON jobs.tenant = names.tenant AND jobs.id = names.id
                """, [.texts(names.map(\.tenant.rawValue)), .texts(names.map(\.job.rawValue))])
            var standing: [JobName: JobStanding] = [:]
            for row in rows {
                let name = JobName(
                    tenant: TenantID(rawValue: try row.text("tenant")), job: JobID(rawValue: try row.text("id")))
                standing[name] = JobStanding(generation: try row.int("generation"), state: try row.choice("state"))
            }
            return standing
        } catch {
            throw AttachmentError(postgres: error)
        }
    }
}
