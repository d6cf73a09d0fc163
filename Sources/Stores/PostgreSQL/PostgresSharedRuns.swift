public import Attachments
internal import FoundationEssentials
internal import Postgres

extension PostgresRecordStore {
    public var sharedRuns: (any SharedRuns)? { PostgresSharedRuns(store: self) }
}

/// Runs that the machines of a database share. Who lists renews its lead; who submits a page locks the run's row first and
/// compares where the page begins, so that two who list do no harm.
struct PostgresSharedRuns: SharedRuns {
    let store: PostgresRecordStore

    /// How long one that has ended is remembered.
    private static let memory: Duration = .seconds(30 * 86_400)

    func join(_ name: String, source: String, tenant: TenantID) async throws(AttachmentError) -> SharedRun {
        let new = RunID.generate()
        let run = try await store.write { work in
            try await work.run(
                "DELETE FROM runs WHERE ended_at < $1", [.int((work.now - Self.memory).milliseconds)])
            // Again under the lock of whoever was first: the run that it began is then found.
            let row = try await work.run(
                """
                INSERT INTO runs (id, name, tenant, source, created_at) VALUES ($1, $2, $3, $4, $5)
                ON CONFLICT (tenant, name) WHERE ended_at IS NULL DO UPDATE SET source = runs.source RETURNING id
                """,
                [
                    .text(new.rawValue), .text(name), .text(tenant.rawValue), .text(source),
                    .int(work.now.milliseconds),
                ]
            ).first
            guard let row, let run = try await work.sharedRun(RunID(rawValue: row.text("id"))) else {
                throw Overtaken()
            }
            return run
        }
        try await store.announce(run.id)
        return run
    }

    func standing(of run: RunID) async throws(AttachmentError) -> SharedRun? {
        try await store.read { work in try await work.sharedRun(run) }
    }

    func leads(_ run: RunID) async throws(AttachmentError) -> Bool {
        try await store.leads("run " + run.rawValue, whileAlive: true)
    }

    func submit(
        _ page: RunPage, of run: RunID, retriesFailed: Bool,
        count: @escaping @Sendable (_ counts: String, _ answers: [RunAnswer]) throws -> String
    ) async throws(AttachmentError) -> [RunAnswer]? {
        for job in page.jobs { try job.validate() }
        let new: [NewJob]
        do { new = try page.jobs.map { try NewJob($0, keys: store.keys) } } catch {
            throw AttachmentError(postgres: error)
        }
        return try await store.write { work -> [RunAnswer]? in
            guard
                let row = try await work.run("SELECT * FROM runs WHERE id = $1 FOR UPDATE", [.text(run.rawValue)])
                    .first,
                try row.optionalInt("ended_at") == nil
            else { return nil }
            let position = try row.optionalText("start_after")
            // The answer to an earlier attempt at this was lost.
            let isDone = work.transaction.mayHaveCommitted && position == page.end && page.end != page.start
            guard position == page.start || isDone else { return nil }
            let answers = try await work.submit(new, to: run, SubmissionOptions(retriesFailed: retriesFailed))
            if isDone || answers.contains(.elsewhere) { return answers }
            let before =
                page.isFirst ? (listed: 0, counts: "") : (listed: try row.int("listed"), counts: try row.text("counts"))
            try await work.run(
                "UPDATE runs SET start_after = $2, listed = $3, whole = $4, counts = $5 WHERE id = $1",
                [
                    .text(run.rawValue), .text(page.end), .int(before.listed + page.listed), .bool(page.isLast),
                    .text(try count(before.counts, answers)),
                ])
            return answers
        }
    }

    func end(
        _ run: RunID, count: @escaping @Sendable (_ counts: String) throws -> String
    ) async throws(AttachmentError) {
        try await store.write { work in
            let row = try await work.run(
                "SELECT counts FROM runs WHERE id = $1 AND ended_at IS NULL FOR UPDATE", [.text(run.rawValue)]
            ).first
            guard let row else { return }
            try await work.run(
                "UPDATE runs SET ended_at = $2, counts = $3 WHERE id = $1",
                [.text(run.rawValue), .int(work.now.milliseconds), .text(try count(row.text("counts")))])
            try await work.run("DELETE FROM run_nodes WHERE run = $1", [.text(run.rawValue)])
            try await work.run("DELETE FROM leaders WHERE task = $1", [.text("run " + run.rawValue)])
            // Whoever waits for it.
            work.wakes.insert(.work)
        }
    }

    func abandon(_ run: RunID) async throws(AttachmentError) {
        try await store.write { work in
            // As that of a node which is gone.
            try await work.run(
                "UPDATE run_nodes SET node = gen_random_uuid() WHERE run = $1 AND node = $2",
                [.text(run.rawValue), .uuid(store.node.id)])
            try await work.run(
                "DELETE FROM leaders WHERE task = $1 AND node = $2",
                [.text("run " + run.rawValue), .uuid(store.node.id)])
        }
    }

    func leave(
        _ run: RunID, count: @escaping @Sendable (_ counts: String) throws -> String
    ) async throws(AttachmentError) {
        try await store.write { work in
            let row = try await work.run(
                """
                SELECT counts FROM runs WHERE id = $1 AND ended_at IS NULL
                    AND EXISTS (SELECT 1 FROM run_nodes WHERE run = $1 AND node = $2) FOR UPDATE
                """, [.text(run.rawValue), .uuid(store.node.id)]
            ).first
            // Counted already, where the answer to an earlier attempt was lost.
            guard let row else { return }
            try await work.run(
                "UPDATE runs SET counts = $2 WHERE id = $1",
                [.text(run.rawValue), .text(try count(row.text("counts")))])
            try await work.run(
                "DELETE FROM run_nodes WHERE run = $1 AND node = $2", [.text(run.rawValue), .uuid(store.node.id)])
        }
    }
}

extension PostgresWork {
    fileprivate func sharedRun(_ id: RunID) async throws -> SharedRun? {
        let row = try await run(
            """
            SELECT *, (SELECT count(*) FROM queue WHERE run = runs.id AND state = 'pending') AS waiting,
                (SELECT count(*) FROM queue WHERE run = runs.id) AS unfinished,
                (SELECT count(*) FROM run_nodes WHERE run = runs.id) AS members,
                (SELECT count(*) FROM run_nodes JOIN nodes ON nodes.id = run_nodes.node
                    WHERE run = runs.id AND \(store.node.isAlive)) AS machines
            FROM runs WHERE id = $1
            """, [.text(id.rawValue)]
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

    /// Jobs of one run. What is new is inserted together, what was done before is answered together; the rest takes the way of
    /// a single one.
    fileprivate func submit(
        _ jobs: [NewJob], to run: RunID, _ options: SubmissionOptions
    ) async throws -> [RunAnswer] {
        guard let tenant = jobs.first?.submission.tenant else { return [] }
        var known: [String: KnownWork] = [:]
        let rows = try await self.run(
            """
            SELECT key, work_key, run, state, body_digest FROM jobs WHERE tenant = $1 AND work_key = ANY($2::text[])
            """, [.text(tenant.rawValue), .texts(jobs.map(\.submission.workKey))])
        for row in rows {
            known[try row.text("work_key")] = KnownWork(
                key: try row.int64("key"), run: try row.text("run"), state: try row.choice("state"),
                digest: try row.text("body_digest"))
        }
        try await insert(jobs.filter { known[$0.submission.workKey ?? ""] == nil })
        var answers: [RunAnswer] = []
        var earlier: [Int: Int64] = [:]
        // In one order, whoever else locks some of the same.
        for (index, job) in jobs.enumerated().sorted(by: { left, right in
            (known[left.element.submission.workKey ?? ""]?.key ?? 0, left.offset)
                < (known[right.element.submission.workKey ?? ""]?.key ?? 0, right.offset)
        }) {
            while answers.count <= index { answers.append(.taken) }
            guard let work = known[job.submission.workKey ?? ""] else { continue }
            if work.run == run.rawValue { continue }
            let state = KnownJob(
                state: work.state, bodyDigest: work.digest, isSameWork: true, isHeld: false, isWhole: true)
            if work.state.isFinished,
                job.submission.decision(
                    about: state, digest: job.stored.digest, retriesFailed: options.retriesFailed) == .keep
            {
                earlier[index] = work.key
                continue
            }
            guard case .unchanged(let record) = try await submit(job, options) else { continue }
            answers[index] = record.state.isFinished ? .earlier(record) : .elsewhere
        }
        let records = try await jobRecords(Array(Set(earlier.values)))
        for (index, key) in earlier {
            // Deleted this moment.
            guard let record = records[key] else { throw Overtaken() }
            answers[index] = .earlier(record)
        }
        return answers
    }

    /// New jobs of a run, whose ranks are their keys.
    private func insert(_ jobs: [NewJob]) async throws {
        guard let first = jobs.first else { return }
        let submissions = jobs.map(\.submission)
        precondition(
            submissions.allSatisfy {
                $0.run == submissions[0].run && $0.profile == submissions[0].profile && $0.callback == nil
                    && !$0.needsFetching
            }, "jobs of a shared run differ in their sources alone")
        let (tenant, run) = (first.submission.tenant.rawValue, first.submission.run?.rawValue ?? "")
        let profile = try await profileKey(first.submission.profile, body: first.stored.profile)
        let deadlines = submissions.map { $0.deadline(from: now)?.milliseconds }
        let rows = try await self.run(
            """
            INSERT INTO jobs (tenant, id, work_key, run, generation, body_digest, profile, mode, priority, metadata, state,
                created_at, deadline_at)
            SELECT $1, id, work_key, $2, 1, digest, $3, mode, priority, metadata, 'pending', $4, deadline
            FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::bigint[])
                WITH ORDINALITY AS new (id, work_key, digest, mode, priority, metadata, deadline, number)
            ORDER BY number RETURNING key, id
            """,
            [
                .text(tenant), .text(run), .int(profile), .int(now.milliseconds),
                .texts(submissions.map(\.id.rawValue)), .texts(submissions.map(\.workKey)),
                .texts(jobs.map(\.stored.digest)), .texts(submissions.map(\.mode.rawValue)),
                .ints(submissions.map { Int64($0.priority.rank) }),
                .texts(try submissions.map { try Column.text($0.metadata) }), .ints(deadlines),
            ])
        var keys: [String: Int64] = [:]
        for row in rows { keys[try row.text("id")] = try row.int64("key") }
        let places = submissions.map { keys[$0.id.rawValue] }
        let attachments = zip(jobs, places).flatMap { job, key in
            job.submission.attachments.enumerated().map { ordinal, attachment in
                (id: job.attachments[ordinal], key: key, ordinal: ordinal, attachment: attachment)
            }
        }
        _ = try await transaction.send([
            PostgresStatement(
                """
                INSERT INTO queue (job, tenant, run, lane, priority, rank, due_at, state, generation, deadline_at, submission,
                    has_callback)
                SELECT key, $1, $2, lane, priority, key, $3, 'pending', 1, deadline, submission, false
                FROM unnest($4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::text[])
                    AS new (key, lane, priority, deadline, submission)
                """,
                [
                    .text(tenant), .text(run), .int(now.milliseconds), .ints(places),
                    .texts(submissions.map(\.lane.rawValue)), .ints(submissions.map { Int64($0.priority.rank) }),
                    .ints(deadlines), .texts(jobs.map(\.stored.body)),
                ]),
            PostgresStatement(
                """
                INSERT INTO attachments (tenant, id, job, run, generation, ordinal, identifier, source, state, details,
                    created_at)
                SELECT $1, id, key, $2, 1, ordinal, identifier, source, 'pending', details, $3
                FROM unnest($4::uuid[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
                    AS new (id, key, ordinal, identifier, source, details)
                """,
                [
                    .text(tenant), .text(run), .int(now.milliseconds), .uuids(attachments.map(\.id.rawValue)),
                    .ints(attachments.map(\.key)), .ints(attachments.map { Int64($0.ordinal) }),
                    .texts(attachments.map(\.attachment.identifier)),
                    .texts(attachments.map { $0.attachment.location.sourceName?.rawValue }),
                    .texts(
                        try attachments.map {
                            try Column.text(
                                AttachmentDetails(
                                    source: SourceFacts($0.attachment), options: $0.attachment.options))
                        }),
                ]),
        ])
        wakes.insert(.work)
    }
}
