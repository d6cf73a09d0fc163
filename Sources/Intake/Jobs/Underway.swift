import Attachments
import Synchronization

/// The jobs that are being carried out, so that each can be stopped, and the places that they take.
final class Underway: Sendable {
    /// What takes a place of its own kind.
    struct Kind: Hashable, Sendable {
        var lane: JobLane
        /// It has a source to fetch, for which it may wait for long.
        var isFetching: Bool
        var isBulk: Bool

        init(_ job: JobSubmission, in lane: JobLane) {
            self.lane = lane
            isFetching = job.needsFetching
            isBulk = job.priority == .bulk
        }

        fileprivate init(_ lane: JobLane, fetching isFetching: Bool, bulk isBulk: Bool) {
            self.lane = lane
            self.isFetching = isFetching
            self.isBulk = isBulk
        }
    }

    private struct Entry {
        var key: JobEvents.Key
        var kind: Kind
        var task: Task<JobRecord, any Error>
    }

    /// What one tenant has of a kind.
    private struct Share: Hashable {
        var tenant: TenantID
        var kind: Kind
    }

    /// Jobs with a source to fetch that are claimed at once: by so many, less one, a tenant may have more than its share.
    private static let fetchedAtOnce = 16

    private struct State {
        var next = 0
        var entries: [Int: Entry] = [:]
        /// Places that are taken, or kept for jobs to come.
        var taken: [Kind: Int] = [:]
        /// Of them, those of jobs that have a source to fetch.
        var shares: [Share: Int] = [:]

        mutating func take(_ kind: Kind, for tenant: TenantID) {
            taken[kind, default: 0] += 1
            if kind.isFetching { shares[Share(tenant: tenant, kind: kind), default: 0] += 1 }
        }

        mutating func giveBack(_ kind: Kind, of tenant: TenantID) {
            taken[kind, default: 0] -= 1
            let share = Share(tenant: tenant, kind: kind)
            if let count = shares[share] { shares[share] = count > 1 ? count - 1 : nil }
        }

        /// Whether a tenant has as many jobs with a source to fetch as it may, or as many of bulk priority.
        func isBusy(_ tenant: TenantID, in lane: JobLane, bulk isBulk: Bool, of widths: JobService.Widths) -> Bool {
            let width = widths.share(in: lane)
            let bulk = shares[Share(tenant: tenant, kind: Kind(lane, fetching: true, bulk: true)), default: 0]
            let prompt = shares[Share(tenant: tenant, kind: Kind(lane, fetching: true, bulk: false)), default: 0]
            return bulk + prompt >= width || isBulk && bulk >= KeptPlaces.bulk(of: width)
        }

        func busy(in lane: JobLane, of widths: JobService.Widths) -> [JobPriority: Set<TenantID>] {
            var busy: [JobPriority: Set<TenantID>] = [:]
            for tenant in Set(shares.keys.filter { $0.kind.lane == lane }.map(\.tenant)) {
                for priority in JobPriority.allCases
                where isBusy(tenant, in: lane, bulk: priority == .bulk, of: widths) {
                    busy[priority, default: []].insert(tenant)
                }
            }
            return busy
        }

        func places(in lane: JobLane, fetching isFetching: Bool, of width: Int) -> ClaimRoom.Places {
            let bulk = taken[Kind(lane, fetching: isFetching, bulk: true), default: 0]
            let all = bulk + taken[Kind(lane, fetching: isFetching, bulk: false), default: 0]
            return ClaimRoom.Places(all: width - all, bulk: KeptPlaces.bulk(of: width) - bulk)
        }
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.taken.values.allSatisfy { $0 == 0 } } }

    func count(in lane: JobLane) -> Int {
        state.withLock { $0.entries.values.count { $0.kind.lane == lane } }
    }

    /// Places in a lane that are neither taken nor kept.
    func room(in lane: JobLane, of widths: JobService.Widths) -> ClaimRoom {
        state.withLock { state in
            let fetched = state.places(in: lane, fetching: true, of: widths.places(in: lane, fetching: true))
            return ClaimRoom(
                present: state.places(in: lane, fetching: false, of: widths.places(in: lane, fetching: false)),
                fetched: ClaimRoom.Places(
                    all: min(fetched.all, Self.fetchedAtOnce), bulk: min(fetched.bulk, Self.fetchedAtOnce)),
                busy: state.busy(in: lane, of: widths))
        }
    }

    /// Keeps a place, where there is one, until it is given back.
    func keepPlace(_ kind: Kind, for tenant: TenantID, of widths: JobService.Widths) -> Bool {
        state.withLock { state in
            let width = widths.places(in: kind.lane, fetching: kind.isFetching)
            let places = state.places(in: kind.lane, fetching: kind.isFetching, of: width)
            guard kind.isBulk ? places.bulk > 0 : places.all > 0,
                !kind.isFetching || !state.isBusy(tenant, in: kind.lane, bulk: kind.isBulk, of: widths)
            else { return false }
            state.take(kind, for: tenant)
            return true
        }
    }

    func giveBackPlace(_ kind: Kind, of tenant: TenantID) {
        state.withLock { $0.giveBack(kind, of: tenant) }
    }

    /// Starts to carry out a job; it counts from now on, until ``end(of:)`` has returned.
    func start(_ claim: Claim, _ body: @escaping @Sendable () async throws -> JobRecord) -> Int {
        let kind = Kind(claim.submission, in: claim.lane)
        let number = state.withLock { state in
            state.next += 1
            state.take(kind, for: claim.tenant)
            state.entries[state.next] = Entry(
                key: JobEvents.Key(tenant: claim.tenant, job: claim.job), kind: kind, task: Task { try await body() })
            return state.next
        }
        tell(claim.lane)
        return number
    }

    /// Waits for the end of what was started, and cancels it with the caller.
    func end(of number: Int) async -> Result<JobRecord, any Error> {
        guard let entry = state.withLock({ $0.entries[number] }) else { return .failure(CancellationError()) }
        defer {
            state.withLock { state in
                if state.entries.removeValue(forKey: number) != nil { state.giveBack(entry.kind, of: entry.key.tenant) }
            }
            tell(entry.kind.lane)
        }
        return await withTaskCancellationHandler {
            await entry.task.result
        } onCancel: {
            entry.task.cancel()
        }
    }

    /// Stops all work on a job.
    func stop(_ job: JobID, of tenant: TenantID) {
        let key = JobEvents.Key(tenant: tenant, job: job)
        let tasks = state.withLock { $0.entries.values.filter { $0.key == key }.map(\.task) }
        for task in tasks { task.cancel() }
    }

    /// Stops everything.
    func stopAll() {
        let tasks = state.withLock { $0.entries.values.map(\.task) }
        for task in tasks { task.cancel() }
    }

    private func tell(_ lane: JobLane) {
        Meters.gauge("jobs_underway", Int64(count(in: lane)), [("lane", lane.rawValue)])
    }
}
