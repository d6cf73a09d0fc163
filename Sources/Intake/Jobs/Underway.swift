import Attachments
import Synchronization

/// The jobs that are being carried out, so that each can be stopped.
final class Underway: Sendable {
    private struct Entry {
        var key: JobEvents.Key
        var lane: JobLane
        var task: Task<JobRecord, any Error>
    }

    private struct State {
        var next = 0
        var entries: [Int: Entry] = [:]
        /// Places that are kept for jobs to come.
        var kept: [JobLane: Int] = [:]
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.entries.isEmpty && $0.kept.values.allSatisfy { $0 == 0 } } }

    func count(in lane: JobLane) -> Int {
        state.withLock { $0.entries.values.count { $0.lane == lane } }
    }

    /// Places in a lane that are neither taken nor kept.
    func room(in lane: JobLane, of width: Int) -> Int {
        state.withLock { state in
            width - state.entries.values.count { $0.lane == lane } - state.kept[lane, default: 0]
        }
    }

    /// Keeps a place, where there is one, until it is given back.
    func keepPlace(in lane: JobLane, of width: Int) -> Bool {
        state.withLock { state in
            let kept = state.kept[lane, default: 0]
            guard state.entries.values.count(where: { $0.lane == lane }) + kept < width else { return false }
            state.kept[lane] = kept + 1
            return true
        }
    }

    func giveBackPlace(in lane: JobLane) {
        state.withLock { $0.kept[lane, default: 0] -= 1 }
    }

    /// Starts to carry out a job; it counts from now on, until ``end(of:)`` has returned.
    func start(_ claim: Claim, _ body: @escaping @Sendable () async throws -> JobRecord) -> Int {
        let number = state.withLock { state in
            state.next += 1
            state.entries[state.next] = Entry(
                key: JobEvents.Key(tenant: claim.tenant, job: claim.job), lane: claim.lane,
                task: Task { try await body() })
            return state.next
        }
        tell(claim.lane)
        return number
    }

    /// Waits for the end of what was started, and cancels it with the caller.
    func end(of number: Int) async -> Result<JobRecord, any Error> {
        guard let entry = state.withLock({ $0.entries[number] }) else { return .failure(CancellationError()) }
        defer {
            state.withLock { _ = $0.entries.removeValue(forKey: number) }
            tell(entry.lane)
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
