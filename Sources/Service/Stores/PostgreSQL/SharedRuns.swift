public import SatchelCore
internal import FoundationEssentials
internal import Postgres

/// Runs that the machines of a database share. Who lists renews its lead; who submits a page locks the run's row first and
/// compares where the page begins, so that two who list do no harm.
public struct SharedRuns: Sendable {
    let store: RecordStore
    let cluster: PostgresEngine

    /// How long one that has ended is remembered.
    private static let memory: Duration = .seconds(30 * 86_400)

    /// Takes part in the run of this name that hasn't ended, or begins one.
    ///
    /// - Parameter source: What a new one is begun for.
    public func join(_ name: String, source: String, tenant: TenantID) async throws(AttachmentError) -> SharedRun {
        let new = RunID.generate()
        let run = try await store.write { work in
            try work.run(
                "DELETE FROM runs WHERE ended_at < $1", [.time(work.now - Self.memory)])
            // Again under the lock of whoever was first: the run that it began is then found.
            let row = try work.run(
                """
                INSERT INTO runs (id, name, tenant, source, created_at) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (tenant, name) WHERE ended_at IS NULL DO UPDATE SET source = runs.source RETURNING id
                """, [.raw(new), .text(name), .raw(tenant), .text(source), .time(work.now)]
            ).first
            guard let row, let run = try work.sharedRun(RunID(rawValue: row.text("id"))) else {
                throw TransactionConflict()
            }
            return run
        }
        try await store.announce(run.id)
        return run
    }

    /// How far a run is; nil where it was forgotten.
    public func status(of run: RunID) async throws(AttachmentError) -> SharedRun? {
        try await store.read { work in try work.sharedRun(run) }
    }

    /// Whether listing is this process's turn, as ``RecordStore/leads(_:)`` tells of other tasks.
    public func leads(_ run: RunID) async throws(AttachmentError) -> Bool {
        try await cluster.leads("run " + run.rawValue, whileAlive: true)
    }

    /// Submits a page, and where the next one begins, in one transaction. Where another run has something in hand, the page is
    /// to be submitted once more: until then the position stays.
    ///
    /// - Parameter count: Makes the counts of those before, and of the answers to the jobs of this page, where none is
    ///   elsewhere.
    /// - Returns: An answer for each job; nil if another process was first; then nothing was written.
    public func submit(
        _ page: RunPage, of run: RunID, retrying: FailureRetry,
        count: @escaping @Sendable (_ counts: String, _ answers: [RunAnswer]) throws -> String
    ) async throws(AttachmentError) -> [RunAnswer]? {
        for job in page.jobs { try job.validate() }
        let new: [NewJob]
        do { new = try page.jobs.map { try NewJob($0, keys: store.keys) } } catch {
            throw AttachmentError(storing: error)
        }
        return try await store.write { work -> [RunAnswer]? in
            guard
                let row = try work.run("SELECT * FROM runs WHERE id = $1 FOR UPDATE", [.raw(run)])
                    .first,
                try row.optionalInt("ended_at") == nil
            else { return nil }
            let position = try row.optionalText("start_after")
            // The answer to an earlier attempt at this was lost.
            let isDone = work.mayHaveCommitted && position == page.end && page.end != page.start
            guard position == page.start || isDone else { return nil }
            let answers = try work.submit(new, to: run, retrying)
            if isDone || answers.contains(.elsewhere) { return answers }
            let before =
                page.isFirst ? (listed: 0, counts: "") : (listed: try row.int("listed"), counts: try row.text("counts"))
            try work.run(
                "UPDATE runs SET start_after = $2, listed = $3, whole = $4, counts = $5 WHERE id = $1",
                [
                    .raw(run), .text(page.end), .int(before.listed + page.listed), .bool(page.isLast),
                    .text(try count(before.counts, answers)),
                ])
            return answers
        }
    }

    /// All is done.
    ///
    /// - Parameter count: Makes the last counts of those before.
    public func end(
        _ run: RunID, count: @escaping @Sendable (_ counts: String) throws -> String
    ) async throws(AttachmentError) {
        try await store.write { work in
            let row = try work.run(
                "SELECT counts FROM runs WHERE id = $1 AND ended_at IS NULL FOR UPDATE", [.raw(run)]
            ).first
            guard let row else { return }
            try work.run(
                "UPDATE runs SET ended_at = $2, counts = $3 WHERE id = $1",
                [.raw(run), .time(work.now), .text(try count(row.text("counts")))])
            try work.run("DELETE FROM run_nodes WHERE run = $1", [.raw(run)])
            try work.run("DELETE FROM leaders WHERE task = $1", [.text("run " + run.rawValue)])
            // Whoever waits for it.
            work.wakes.insert(.work)
        }
    }

    /// This process takes no part any more, though it may not have done all that it had of the run: others needn't wait until
    /// it is found to be gone.
    public func abandon(_ run: RunID) async throws(AttachmentError) {
        try await store.write { work in
            // As that of a node which is gone.
            try work.run(
                "UPDATE run_nodes SET node = gen_random_uuid() WHERE run = $1 AND node = $2",
                [.raw(run), .uuid(store.node.id)])
            try work.run(
                "DELETE FROM leaders WHERE task = $1 AND node = $2",
                [.text("run " + run.rawValue), .uuid(store.node.id)])
        }
    }

    /// This process did all that it had of the run, and takes no more.
    ///
    /// - Parameter count: Makes the counts of those before and of what is to be counted for this process.
    public func leave(
        _ run: RunID, count: @escaping @Sendable (_ counts: String) throws -> String
    ) async throws(AttachmentError) {
        try await store.write { work in
            let row = try work.run(
                """
                SELECT counts FROM runs WHERE id = $1 AND ended_at IS NULL
                    AND EXISTS (SELECT 1 FROM run_nodes WHERE run = $1 AND node = $2) FOR UPDATE
                """, [.raw(run), .uuid(store.node.id)]
            ).first
            // Counted already, where the answer to an earlier attempt was lost.
            guard let row else { return }
            try work.run(
                "UPDATE runs SET counts = $2 WHERE id = $1",
                [.raw(run), .text(try count(row.text("counts")))])
            try work.run(
                "DELETE FROM run_nodes WHERE run = $1 AND node = $2", [.raw(run), .uuid(store.node.id)])
        }
    }
}

extension RecordTransaction {
    fileprivate func sharedRun(_ id: RunID) throws -> SharedRun? {
        let row = try run(
            """
            SELECT *, (SELECT count(*) FROM queue WHERE run = runs.id AND state = 'pending') AS waiting,
                (SELECT count(*) FROM queue WHERE run = runs.id) AS unfinished,
                (SELECT count(*) FROM run_nodes WHERE run = runs.id) AS members,
                (SELECT count(*) FROM run_nodes WHERE run = runs.id AND \(store.node.lives("run_nodes.node"))) AS machines
            FROM runs WHERE id = $1
            """, [.raw(id)]
        ).first
        guard let row else { return nil }
        let machines = try row.int("machines")
        return SharedRun(
            id: id, source: try row.text("source"), position: try row.optionalText("start_after"),
            listed: try row.int("listed"),
            isWhole: try row.bool("whole"), counts: try row.text("counts"), waiting: try row.int("waiting"),
            unfinished: try row.int("unfinished"), machines: machines,
            hasLostMachines: try row.int("members") > machines,
            hasEnded: try row.optionalInt("ended_at") != nil)
    }

    /// What a submission's work key is known by.
    private struct KnownWork {
        var key: Int64
        var run: String
        var state: WorkState
        var digest: String
    }

    /// Submits jobs to a run together, but for those that it has and those that were done before.
    fileprivate func submit(
        _ jobs: [NewJob], to run: RunID, _ retrying: FailureRetry
    ) throws -> [RunAnswer] {
        guard let tenant = jobs.first?.submission.tenant else { return [] }
        var known: [String: KnownWork] = [:]
        let rows = try self.run(
            """
            SELECT key, work_key, run, state, body_digest FROM jobs WHERE tenant = $1 AND work_key = ANY($2::text[])
            """, [.raw(tenant), .texts(jobs.map(\.submission.workKey))])
        for row in rows {
            known[try row.text("work_key")] = KnownWork(
                key: try row.int64("key"), run: try row.text("run"), state: try row.value("state"),
                digest: try row.text("body_digest"))
        }
        var left: [(index: Int, key: Int64, retriesFailed: Bool)] = []
        var earlier: [Int: Int64] = [:]
        for (index, job) in jobs.enumerated() {
            let work = known[job.submission.workKey ?? ""]
            if work?.run == run.rawValue { continue }
            let state = work.map {
                KnownJob(state: $0.state, bodyDigest: $0.digest, isSameWork: true, isHeld: false, isWhole: true)
            }
            let decision = job.submission.decision(
                about: state, digest: job.stored.digest, retriesFailed: retrying == .all)
            if let work, work.state.isFinished, decision == .keep {
                earlier[index] = work.key
            } else {
                left.append((index, work?.key ?? 0, retrying == .all))
            }
        }
        var answers = jobs.map { _ in RunAnswer.taken }
        let records = try jobRecords(Array(Set(earlier.values)))
        for (index, key) in earlier {
            // Deleted this moment.
            guard let record = records[key] else { throw TransactionConflict() }
            answers[index] = .earlier(record)
            if retrying.includes(record) { left.append((index, key, true)) }
        }
        // All transactions lock jobs in the same order.
        left.sort { ($0.key, $0.index) < ($1.key, $1.index) }
        let submitted = left.map { one in
            SubmittedJob(new: jobs[one.index], options: SubmissionOptions(retriesFailed: one.retriesFailed))
        }
        for (one, answer) in zip(left, try submit(submitted, isAlone: true)) {
            answers[one.index] =
                if case .unchanged(let record)? = answer {
                    record.state.isFinished ? .earlier(record) : .elsewhere
                } else {
                    .taken
                }
        }
        return answers
    }
}
