internal import SatchelCore
internal import FoundationEssentials
internal import Postgres

/// What sends the statements of a transaction.
protocol StatementSender {
    /// Statements that are sent together, in one round trip.
    func send(_ statements: [Statement]) throws -> [RecordRows]

    /// Whether an earlier attempt may have been committed. A caller that recognizes its own first attempt uses this.
    var mayHaveCommitted: Bool { get }
}

/// A transaction of the records, with what it makes superfluous and what it changes in the counts.
///
/// All that it needs to know it has as values: its body runs on a thread of the engine, where no task's values are.
final class RecordTransaction: StatementSender {
    private let sender: any StatementSender
    let store: RecordStore
    let now: Instant
    /// The actor for the audit list.
    private let actor: AuditActor
    /// Blobs that nobody refers to any more, or never did.
    var superfluous: Set<BlobName> = []
    /// Sources that somebody stopped needing.
    var released: Set<SourceName> = []
    var usage: [TenantID: TenantUsage] = [:]
    /// The changes of the counts of all tenants together.
    var totals: [Total: Int64] = [:]
    /// What came to an end.
    var tallies = TallySheet()
    /// For the audit list.
    var notes: [AuditNote] = []
    var ringsBell = false
    /// Whether access was taken back that others may have in a cache.
    var takesBack = false
    /// What other nodes are to look at after the commit.
    var wakes: Set<PostgresWakeups.Channel> = []
    /// Whether a statement changed rows.
    private(set) var hasChanges = false

    /// A count of all tenants together: a column of `counters`. Access is counted until its end is recorded.
    enum Total: String, CaseIterable {
        case quickJobs = "quick_jobs"
        case fetchJobs = "fetch_jobs"
        case expensiveJobs = "expensive_jobs"
        case grants, leases, links
        case leasesLeftToExpire = "leases_left_to_expire"
        case blobs
        case blobBytes = "blob_bytes"

        static func jobs(in lane: JobLane) -> Total {
            switch lane {
            case .quick: .quickJobs
            case .fetch: .fetchJobs
            case .expensive: .expensiveJobs
            }
        }

        static func access(_ kind: AccessEntry.Kind) -> Total {
            switch kind {
            case .grant: .grants
            case .lease: .leases
            case .link: .links
            }
        }
    }

    /// What is to be removed and told after the commit, and the rows that say so.
    struct Waste: Sendable {
        var rows: [Int64] = []
        var blobs: [BlobName] = []
        var sources: [SourceName] = []
        var ringsBell = false
        var wakes: Set<PostgresWakeups.Channel> = []
        /// By how many there are more unfinished jobs.
        var jobs = 0
    }

    init(_ sender: any StatementSender, of store: RecordStore, at now: Instant, by actor: AuditActor) {
        self.sender = sender
        self.store = store
        self.now = now
        self.actor = actor
    }

    /// Whether an earlier attempt may have been committed. A caller that recognizes its own first attempt uses this.
    var mayHaveCommitted: Bool { sender.mayHaveCommitted }

    /// Statements that are sent together, in one round trip.
    func send(_ statements: [Statement]) throws -> [RecordRows] {
        guard !statements.isEmpty else { return [] }
        let rows = try sender.send(statements)
        hasChanges = hasChanges || zip(statements, rows).contains { !Self.isRead($0.sql) && $1.changes > 0 }
        return rows
    }

    private static func isRead(_ sql: String) -> Bool { sql.hasPrefix("SELECT") || sql.hasPrefix("WITH") }

    /// Notes what was done, for the audit list.
    func note(_ note: AuditNote?) {
        guard var note else { return }
        note.actor = note.actor ?? actor
        notes.append(note)
    }

    @discardableResult
    func run(_ sql: String, _ values: [SQLValue] = []) throws -> RecordRows {
        try run(Statement(sql, values))
    }

    @discardableResult
    func run(_ statement: Statement) throws -> RecordRows {
        try send([statement])[0]
    }

    func change(_ tenant: TenantID, bytes: Int64) { usage[tenant, default: TenantUsage()].storedBytes += bytes }

    /// Jobs of the service come to a lane, or leave it.
    func change(_ tenant: TenantID, jobs: Int, in lane: JobLane) {
        usage[tenant, default: TenantUsage()].pendingJobs += jobs
        totals[.jobs(in: lane), default: 0] += Int64(jobs)
    }

    /// Access begins or ends.
    func change(_ tenant: TenantID, _ kind: AccessEntry.Kind, by count: Int) {
        if kind == .lease { usage[tenant, default: TenantUsage()].liveLeases += count }
        totals[.access(kind), default: 0] += Int64(count)
    }

    /// Writes the counts, and notes what is superfluous: last, as their rows are the ones that many want.
    func finish() throws -> Waste {
        var waste = Waste()
        waste.ringsBell = ringsBell
        waste.wakes = wakes
        waste.jobs = unfinishedJobs
        if !released.isEmpty {
            let unneeded = try unneeded(among: Array(released))
            waste.sources = unneeded
        }
        waste.blobs = Array(superfluous)
        try writeNotes()
        _ = try send(counting() + statements(adding: tallies) + totalling())
        guard store.notesGarbage, !waste.blobs.isEmpty || !waste.sources.isEmpty else { return waste }
        let rows = try run(
            """
            INSERT INTO garbage (kind, name, due_at)
            SELECT * FROM unnest($1::text[], $2::text[], array_fill($3::bigint, ARRAY[cardinality($1::text[])]))
            RETURNING id
            """,
            [
                .texts(waste.blobs.map { _ in "blob" } + waste.sources.map { _ in "source" }),
                .texts(waste.blobs.map(\.rawValue) + waste.sources.map(\.rawValue)),
                .int((now + (store.garbageDelay == .zero ? GarbageTiming.grace : store.garbageDelay)).milliseconds),
            ])
        waste.rows = try rows.map { try $0.int64("id") }
        return waste
    }

    /// Of each tenant.
    private func counting() -> [Statement] {
        usage.sorted { $0.key.rawValue < $1.key.rawValue }.filter { $0.value != TenantUsage() }.map { tenant, change in
            Statement(
                Self.usageSQL,
                [.raw(tenant)]
                    + [store.node.slot, Int(change.storedBytes), change.pendingJobs, change.liveLeases].map { .int($0) }
            )
        }
    }

    private static let usageSQL = Statement.add(
        to: "usage", at: ["tenant": "", "slot": 0],
        [("stored_bytes", 0), ("unfinished_jobs", 0), ("open_leases", 0)]
    ).sql

    /// By how many jobs this transaction changes the number of all tenants'.
    var unfinishedJobs: Int { Int(JobLane.allCases.reduce(0) { $0 + totals[.jobs(in: $1), default: 0] }) }

    private func totalling() -> [Statement] {
        guard totals.values.contains(where: { $0 != 0 }) else { return [] }
        // Jobs come and go in transactions that are side by side: neither is to wait for the other.
        let turn = unfinishedJobs > 0 ? 0 : PostgresNode.countingSlots
        let slot = SQLValue.int(PostgresNode.slots + turn + store.node.countingSlot)
        return [Statement(Self.totalsSQL, [slot] + Total.allCases.map { .int(totals[$0, default: 0]) })]
    }

    /// Made once: this would be a hundredth of what a commit takes.
    private static let totalsSQL = Statement.add(
        to: "counters", at: ["slot": 0], Total.allCases.map { ($0.rawValue, 0) }
    ).sql

    /// Jobs of all tenants that wait for the service, with those of this transaction, as far as it matters to a limit.
    ///
    /// - Parameter count: So many are about to be added.
    func waiting(under limit: Int, before count: Int) throws -> Int {
        if let known = knownWaiting(under: limit, before: count) { return known }
        let look = store.node.queue?.look()
        let rows = try send([waiting(under: limit)])
        return try note(rows[0], under: limit, by: look)
    }

    /// The same where the node knows it.
    func knownWaiting(under limit: Int, before count: Int) -> Int? {
        let own = max(0, unfinishedJobs)
        return store.node.queue?.waiting(under: limit, before: own + count).map { $0 + own }
    }

    /// - Parameter rows: What ``waiting(under:)`` found.
    func note(_ rows: RecordRows, under limit: Int, by look: QueueRoom.Look?) throws -> Int {
        let waiting = try rows.first?.int("n") ?? 0
        if let look { store.node.queue?.found(waiting: waiting, under: limit, by: look) }
        return waiting
    }

    /// Where they are surely fewer than `limit`, maybe some that are being carried out as well. Those are few and counted, what waits
    /// never is.
    func waiting(under limit: Int) -> Statement {
        Statement(
            """
            SELECT CASE WHEN jobs < $1 THEN jobs
                ELSE jobs - (SELECT count(*) FROM queue WHERE run = '' AND state = 'running') END AS n
            FROM (
                SELECT coalesce(sum(quick_jobs + fetch_jobs + expensive_jobs), 0)::bigint + $2::bigint AS jobs FROM counters
            ) AS unfinished
            """, [.int(limit), .int(unfinishedJobs)])
    }

    func unneeded(among names: [SourceName]) throws -> [SourceName] {
        try run(
            """
            SELECT name FROM unnest($1::text[]) AS names (name)
            WHERE NOT EXISTS (SELECT 1 FROM attachments WHERE source = names.name)
                AND NOT EXISTS (SELECT 1 FROM retained_sources WHERE retained_sources.name = names.name)
                AND NOT EXISTS (
                    SELECT 1 FROM uploads WHERE uploads.source = names.name AND state IN ('open', 'complete'))
            """, [.raws(names)]
        ).map { SourceName(rawValue: try $0.text("name")) }
    }

    // MARK: Jobs

    /// A job as it is under a lock.
    struct Job {
        var key: Int64
        var tenant: TenantID
        var id: JobID
        var run: String
        var generation: Int
        var digest: String
        var profile: Int64
        var priority: Int
        /// Finished, or pending.
        var state: WorkState
        var createdAt: Instant
        /// Nil once it is finished.
        var queue: Queued?

        /// With what the queue says.
        var workState: WorkState { queue?.state ?? state }
    }

    struct Queued {
        var state: WorkState
        var lane: JobLane
        var rank: Int64
        var attempt: Int
        var claim: String?
        var node: String?
        var claimedUntil: Instant?
        var isInterrupted: Bool
        var deadlineAt: Instant?
        var submission: String
        var secrets: SealedSecrets?
    }

    /// Locks a job, and its place in the queue before it.
    func lock(_ key: Int64) throws -> Job? {
        let rows = try send([
            Statement("SELECT * FROM queue WHERE job = $1 FOR UPDATE", [.int(key)]),
            Statement("SELECT * FROM jobs WHERE key = $1 FOR UPDATE", [.int(key)]),
        ])
        guard let row = rows[1].first else { return nil }
        var job = try Job(row)
        job.queue = try rows[0].first.map { try Queued($0) }
        // Begun anew between the two.
        guard (job.state == .pending) == (job.queue != nil) else { throw TransactionConflict() }
        return job
    }

    func lock(_ id: JobID, of tenant: TenantID) throws -> Job? {
        let found = try run(
            "SELECT key FROM jobs WHERE tenant = $1 AND id = $2", [.raw(tenant), .raw(id)]
        ).first
        return try found.flatMap { try lock($0.int64("key")) }
    }

    /// The job that a claim holds, locked.
    func held(_ claim: Claim) throws -> Job {
        let found = try run(
            "SELECT job FROM queue WHERE \(SeededFault.holding(claim)) FOR UPDATE", [.uuid(claim.id.rawValue)]
        ).first
        guard let job = try found.flatMap({ try lock($0.int64("job")) }), job.id == claim.job,
            job.tenant == claim.tenant
        else { throw ClaimError.lost }
        return job
    }

    func submission(_ job: Job) throws -> JobSubmission {
        guard let queue = job.queue else {
            throw AttachmentError.storeFailed(reason: "the records: a job has no submission")
        }
        return try submission(queue.submission, of: job)
    }

    func submission(_ body: String, of job: Job) throws -> JobSubmission {
        let row = try run("SELECT body FROM profiles WHERE key = $1", [.int(job.profile)]).first
        guard let profile = try row?.text("body") else {
            throw AttachmentError.storeFailed(reason: "the records: a profile is missing")
        }
        return try JobSubmission(stored: body, profile: profile, of: job.tenant, job.id, run: job.run)
    }

    func profileKey(_ profile: Profile, body: String) throws -> Int64 {
        let digest = Column.digest(body)
        let find = "SELECT key FROM profiles WHERE digest = $1"
        if let row = try run(find, [.text(digest)]).first { return try row.int64("key") }
        try run(
            "INSERT INTO profiles (digest, name, body) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
            [.text(digest), .text(profile.name), .text(body)])
        guard let row = try run(find, [.text(digest)]).first else { throw TransactionConflict() }
        return try row.int64("key")
    }

    /// Has a job's sender told that it came to its end, which is recorded in the same transaction.
    func webhook(_ submission: JobSubmission, of job: Job) -> [Statement] {
        guard let url = submission.callback else { return [] }
        ringsBell = true
        return [
            .insert(
                into: "calls",
                [
                    "id": .text(UUID.version7(at: now).uuidString.lowercased()), "tenant": .raw(job.tenant),
                    "type": .raw(CallType.jobFinished), "job": .int(job.key), "generation": .int(job.generation),
                    "url": .text(url), "receiver": .text(WebhookReceiver.origin(of: url)),
                    "traceparent": .text(submission.traceparent), "created_at": .time(now), "due_at": .time(now),
                ])
        ]
    }

    /// Notes the sources of a job's attachments, which are about to be given up.
    func release(sourcesOf job: Int64) throws {
        for row in try run("SELECT source FROM attachments WHERE job = $1 AND source IS NOT NULL", [.int(job)]) {
            released.insert(SourceName(rawValue: try row.text("source")))
        }
    }

    /// Gives up what was kept of jobs to try them again.
    func forgetRetained(_ jobs: [Int64]) throws {
        let rows = try run(
            "SELECT name FROM retained_sources WHERE job = ANY($1::bigint[])", [.ints(jobs.map { $0 })])
        for row in rows { released.insert(SourceName(rawValue: try row.text("name"))) }
        try run("DELETE FROM retained_submissions WHERE job = ANY($1::bigint[])", [.ints(jobs.map { $0 })])
    }
}

extension JobSubmission {
    /// What was submitted, but for the headers that are kept encrypted.
    init(
        stored body: String, profile: String, of tenant: TenantID, _ id: JobID, run: String
    ) throws {
        self = try Column.value(JobSubmission.self, from: body)
        self.profile = try ProfileColumn.value(from: profile)
        // Work that was known by its key keeps the id under which it was recorded first.
        self.id = id
        self.tenant = tenant
        self.run = run.isEmpty ? nil : RunID(rawValue: run)
    }
}

extension RecordTransaction.Job {
    init(_ row: RecordRow) throws {
        key = try row.int64("key")
        tenant = try row.value("tenant")
        id = try row.value("id")
        run = try row.text("run")
        generation = try row.int("generation")
        digest = try row.text("body_digest")
        profile = try row.int64("profile")
        priority = try row.int("priority")
        state = try row.value("state")
        createdAt = try row.instant("created_at")
    }
}

extension RecordTransaction.Queued {
    init(_ row: RecordRow) throws {
        state = try row.value("state")
        lane = try row.value("lane")
        rank = try row.int64("rank")
        attempt = try row.int("attempt")
        claim = try row.optionalText("claim")
        node = try row.optionalText("node")
        claimedUntil = try row.optionalInstant("claimed_until")
        isInterrupted = try row.bool("interrupted")
        deadlineAt = try row.optionalInstant("deadline_at")
        submission = try row.text("submission")
        secrets = try row.secrets()
    }
}
