import SatchelCore
internal import Stores
import Platform
import Synchronization

/// Looks for the ends of jobs that somebody here follows or waits for and that other nodes carry out, and for who that is: one
/// question for all of them, for as long as there are any. What it finds is told like what happens here.
final class EndWatch: Sendable {
    private let records: RecordStore
    private let events: JobEvents
    private let interval: Duration
    private let signal = AsyncSignal()
    private let isRunning = Mutex(false)

    init(records: RecordStore, events: JobEvents, every interval: Duration) {
        self.records = records
        self.events = events
        self.interval = interval
    }

    /// Somebody began to follow a job.
    func begin() {
        let isFirst = isRunning.withLock { isRunning in
            defer { isRunning = true }
            return !isRunning
        }
        if isFirst { Task { await run() } }
    }

    /// Jobs may have come to their ends.
    func look() { signal.give() }

    private func run() async {
        var told: [JobName: RemoteAttempt] = [:]
        while true {
            // Under the lock, so that whoever begins meanwhile is seen here or starts anew.
            let jobs = isRunning.withLock { isRunning in
                let jobs = events.watched
                isRunning = !jobs.isEmpty
                return jobs
            }
            guard !jobs.isEmpty else { return }
            // What fails is asked again; whoever waits has a limit.
            if let found = try? await records.status(of: jobs) {
                for name in jobs { publish(found[name], of: name, knowing: told[name]) }
                told = found.compactMapValues(\.remote)
            }
            let alarm = Task { [interval, signal] in
                do { try await Task.sleep(for: interval) } catch { return }
                signal.give()
            }
            await signal.wait()
            alarm.cancel()
        }
    }

    private func publish(_ status: JobStatus?, of name: JobName, knowing told: RemoteAttempt?) {
        guard let status else { return events.forget(name.job, of: name.tenant) }
        let what: JobEvent.What
        if status.state.isFinished {
            what = .finished(status.state)
        } else if let remote = status.remote, remote != told {
            what = .remote(remote)
        } else {
            return
        }
        events.publish(JobEvent(tenant: name.tenant, job: name.job, generation: status.generation, what: what))
    }
}
