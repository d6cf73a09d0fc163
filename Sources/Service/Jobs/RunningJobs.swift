import SatchelCore
import Platform
import Synchronization

/// The jobs that are being carried out, so that each can be stopped, and the places that they take.
final class RunningJobs: Sendable {
    /// What takes a place of its own kind.
    struct Kind: Hashable, Sendable {
        var lane: JobLane
        var priority: JobPriority
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

    /// Jobs that are claimed at once in a lane of which a tenant has a share: by so many, less one, it may have more.
    private static let claimedAtOnce = 16

    private struct State {
        var next = 0
        var entries: [Int: Entry] = [:]
        /// Places that are taken, or kept for jobs to come.
        var taken: [Kind: Int] = [:]
        /// Of them, each tenant's.
        var shares: [Share: Int] = [:]

        mutating func take(_ kind: Kind, for tenant: TenantID) {
            taken[kind, default: 0] += 1
            shares[Share(tenant: tenant, kind: kind), default: 0] += 1
        }

        mutating func giveBack(_ kind: Kind, of tenant: TenantID) {
            taken[kind, default: 0] -= 1
            let share = Share(tenant: tenant, kind: kind)
            if let count = shares[share] { shares[share] = count > 1 ? count - 1 : nil }
        }

        /// Whether a tenant has as many jobs in a lane as it may, or as many of bulk priority.
        func isBusy(_ tenant: TenantID, with kind: Kind, of concurrency: JobService.Concurrency) -> Bool {
            guard let width = concurrency.share(in: kind.lane) else { return false }
            func count(_ priority: JobPriority) -> Int {
                shares[Share(tenant: tenant, kind: Kind(lane: kind.lane, priority: priority)), default: 0]
            }
            return count(.bulk) + count(.interactive) >= width
                || kind.priority == .bulk && count(.bulk) >= ReservedPlaces.bulk(of: width)
        }

        func busy(in lane: JobLane, of concurrency: JobService.Concurrency) -> [JobPriority: Set<TenantID>] {
            var busy: [JobPriority: Set<TenantID>] = [:]
            for tenant in Set(shares.keys.filter { $0.kind.lane == lane }.map(\.tenant)) {
                for priority in JobPriority.allCases
                where isBusy(tenant, with: Kind(lane: lane, priority: priority), of: concurrency) {
                    busy[priority, default: []].insert(tenant)
                }
            }
            return busy
        }

        /// Places in a lane that are neither taken nor kept.
        func capacity(in lane: JobLane, of concurrency: JobService.Concurrency) -> ClaimCapacity {
            let width = concurrency.places(in: lane)
            let bulk = taken[Kind(lane: lane, priority: .bulk), default: 0]
            let all = bulk + taken[Kind(lane: lane, priority: .interactive), default: 0]
            return ClaimCapacity(
                all: width - all, bulk: ReservedPlaces.bulk(of: width) - bulk, busy: busy(in: lane, of: concurrency))
        }
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.taken.values.allSatisfy { $0 == 0 } } }

    var count: Int { state.withLock { $0.entries.count } }

    func count(in lane: JobLane) -> Int {
        state.withLock { $0.entries.values.count { $0.kind.lane == lane } }
    }

    /// Places in a lane that are neither taken nor kept.
    func capacity(in lane: JobLane, of concurrency: JobService.Concurrency) -> ClaimCapacity {
        let capacity = state.withLock { $0.capacity(in: lane, of: concurrency) }
        guard concurrency.share(in: lane) != nil else { return capacity }
        return ClaimCapacity(
            all: min(capacity.all, Self.claimedAtOnce), bulk: min(capacity.bulk, Self.claimedAtOnce),
            busy: capacity.busy)
    }

    /// Keeps a place, where there is one, until it is given back.
    func keepPlace(_ kind: Kind, for tenant: TenantID, of concurrency: JobService.Concurrency) -> Bool {
        state.withLock { state in
            guard state.capacity(in: kind.lane, of: concurrency).places(for: kind.priority, taken: 0) > 0,
                !state.isBusy(tenant, with: kind, of: concurrency)
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
        let kind = Kind(lane: claim.lane, priority: claim.submission.priority)
        let number = state.withLock { state in
            state.next += 1
            state.take(kind, for: claim.tenant)
            state.entries[state.next] = Entry(
                key: JobEvents.Key(tenant: claim.tenant, job: claim.job), kind: kind, task: Task { try await body() })
            return state.next
        }
        gauge(claim.lane)
        return number
    }

    /// Waits for the end of what was started, and cancels it with the caller.
    func end(of number: Int) async -> Result<JobRecord, any Error> {
        guard let entry = state.withLock({ $0.entries[number] }) else { return .failure(CancellationError()) }
        defer {
            state.withLock { state in
                if state.entries.removeValue(forKey: number) != nil { state.giveBack(entry.kind, of: entry.key.tenant) }
            }
            gauge(entry.kind.lane)
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

    private func gauge(_ lane: JobLane) {
        JobMetrics.gauge("jobs_underway", Int64(count(in: lane)), [("lane", lane.rawValue)])
    }
}
