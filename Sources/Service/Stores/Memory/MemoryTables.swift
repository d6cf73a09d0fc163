internal import SatchelCore
internal import HashTreeCollections

/// All that the records hold, as a value. A copy shares what it doesn't change, so that a transaction is a copy that takes
/// the place of what it came from, or is dropped.
struct MemoryTables: Sendable {
    /// Of a tenant: nothing is found without it.
    struct Owned<ID: Hashable & Sendable>: Hashable, Sendable {
        var tenant: TenantID
        var id: ID
    }

    struct Line: Hashable, Sendable {
        var lane: JobLane
        var priority: JobPriority

        static let all = JobLane.allCases.flatMap { lane in
            JobPriority.allCases.map { Line(lane: lane, priority: $0) }
        }
    }

    /// Where pending jobs wait.
    enum Queue: Hashable, Sendable {
        case line(Line)
        case run(RunID, JobPriority)
    }

    /// A job's place in a queue: the least is claimed first. In a run all have the same rank.
    struct Place: Hashable, Comparable, Sendable {
        var rank: Int64
        var key: Int64

        static func < (left: Place, right: Place) -> Bool {
            (left.rank, left.key) < (right.rank, right.key)
        }
    }

    struct Job: Sendable {
        var key: Int64
        var tenant: TenantID
        var id: JobID
        var workKey: String?
        var run: RunID?
        var generation = 1
        /// Only while there is work to do.
        var submission: JobSubmission?
        var bodyDigest: String
        var profile: String
        var mode: JobMode
        var lane: JobLane
        var priority: JobPriority
        var rank: Int64 = 0
        var metadata: [String: String]
        var state = WorkState.pending
        var attempt = 0
        var claim: ClaimID?
        /// The claim under which its end was recorded.
        var deliveredClaim: ClaimID?
        var isInterrupted = false
        var worker: WorkerID?
        var claimedUntil: Instant?
        var dueAt: Instant
        var createdAt: Instant
        var deadlineAt: Instant?
        var finishedAt: Instant?
        /// When the record of a job that failed or was cancelled has outlived its retention.
        var expiresAt: Instant?
        var retained: Retained?
        /// Of all generations, in the order in which they were submitted.
        var attachments: [AttachmentID] = []

        var line: Line { Line(lane: lane, priority: priority) }
        var place: Place { Place(rank: rank, key: key) }
        var queue: Queue { run.map { .run($0, priority) } ?? .line(line) }
    }

    /// What it takes to try a job again.
    struct Retained: Sendable {
        var submission: JobSubmission
        var keptUntil: Instant
    }

    struct Attachment: Sendable {
        var key: Int64
        var job: Int64
        var run: RunID?
        var generation: Int
        var ordinal: Int
        var record: AttachmentRecord
        /// What was handed in and the work still needs.
        var source: SourceName?
        var blobs: [RenditionRole: BlobName] = [:]
    }

    struct Blob: Sendable {
        var tenant: TenantID
        var sha256: String
        var bytes: Int64
        var references = 0
        var isDamaged = false
    }

    struct Call: Sendable {
        enum Content: Sendable {
            /// A job's end, of which there is one for each generation.
            case job(Int64, generation: Int)
            case message(TokenTemplate)
        }

        var id: String
        var tenant: TenantID
        var type: CallType
        var content: Content
        /// What a message tells of, by which it can be called off.
        var subject: String?
        var url: String
        var traceparent: String?
        var createdAt: Instant
        /// After this no attempt is made.
        var giveUpAt: Instant?
        var state: WebhookReport.State = .waiting
        var attempt = 0
        /// While somebody has it in hand, when another may take it.
        var dueAt: Instant
        var isUnderway = false
        var finishedAt: Instant?
        var reason: String?
        var answers: [CallAnswer] = []
        /// Whether it stays once it was delivered.
        var isKept = true

        var receiver: WebhookReceiver { WebhookReceiver(tenant: tenant, origin: WebhookReceiver.origin(of: url)) }
        /// What is due first comes first.
        var place: (Instant, String) { (dueAt, id) }

        var report: WebhookReport {
            WebhookReport(state: state, attempts: attempt, dueAt: dueAt, isUnderway: isUnderway, reason: reason)
        }

        /// Whether it tells of this job's end.
        func isOf(_ job: Int64, generation: Int? = nil) -> Bool {
            guard case .job(job, let own) = content else { return false }
            return generation == nil || own == generation
        }
    }

    struct Key: Sendable {
        var record: APIKeyRecord
        var hash: String
    }

    struct Use: Sendable {
        var job: Int64
        var digest: String
        var createdAt: Instant
    }

    var lastInstant = Instant(milliseconds: 0)
    var lastKey: Int64 = 0
    var jobs = TreeDictionary<Int64, Job>()
    /// Pending jobs, in the order in which they are claimed.
    var queues = TreeDictionary<Queue, [Place]>()
    var running = TreeSet<Int64>()
    /// The service's unfinished jobs of a tenant, in the same order.
    var shares = TreeDictionary<Owned<Line>, [Place]>()
    var jobKeys = TreeDictionary<Owned<JobID>, Int64>()
    var works = TreeDictionary<Owned<String>, Int64>()
    var attachments = TreeDictionary<Owned<AttachmentID>, Attachment>()
    var blobs = TreeDictionary<BlobName, Blob>()
    /// By hash, those that new deliveries refer to.
    var liveBlobs = TreeDictionary<Owned<String>, BlobName>()
    /// When each was removed.
    var tombstones = TreeDictionary<BlobName, Instant>()
    /// The greatest rank that was ever claimed.
    var reached: [Line: Int64] = [:]
    var access = TreeDictionary<String, AccessEntry>()
    var accessTo = TreeDictionary<Owned<AttachmentID>, TreeSet<String>>()
    /// Leases that were not stopped; some may have run out.
    var openLeases = TreeDictionary<TenantID, TreeSet<String>>()
    var storedBytes = TreeDictionary<TenantID, Int64>()
    var keys = TreeDictionary<String, Key>()
    var calls = TreeDictionary<String, Call>()
    var uses = TreeDictionary<Owned<String>, Use>()
    var audits = TreeDictionary<Int64, Audit>()
    var removals: Set<TenantID> = []
    var signing = TreeDictionary<TenantID, SigningNumbers>()
    var categories = TreeDictionary<TenantID, [String: Category]>()
    /// By digest.
    var profiles = TreeDictionary<String, Profile>()
    var leasesLeftToExpire = 0
    var notifications = TreeDictionary<Owned<NotificationID>, NotificationRecord>()
    var notificationKeys = TreeDictionary<Owned<NotificationID>, Int64>()
    /// What media are made of that are prepared or tried again later.
    var notificationSources = TreeDictionary<Owned<NotificationID>, JobSubmission>()
    var firings = TreeDictionary<FiringID, FiringRecord>()
    /// In each tenant's list of firings.
    var lastPlaces = TreeDictionary<TenantID, Int64>()
    var tickets = TreeDictionary<String, Ticket>()
    var sessions = TreeDictionary<ByTicket, ResponseSession>()
    var responses = TreeDictionary<ByTicket, Response>()
    var tallies = TreeDictionary<Tally.Key, Tally>()
    var uploads = TreeDictionary<Owned<UploadID>, UploadRecord>()
    var uploadTickets = TreeDictionary<String, Owned<UploadID>>()
    var uploadUsage = TreeDictionary<TenantID, UploadUsage>()
    /// By the hashes of what they are had for.
    var consoleCodes = TreeDictionary<String, ConsoleCode>()
    var consoleSessions = TreeDictionary<String, ConsoleSession>()

    // What the transaction so far came to, for what follows its commit.

    /// Sources that somebody stopped needing.
    var released: Set<SourceName> = []
    var takesAccessBack = false
    var hasNewCall = false

    mutating func add(_ sheet: TallySheet) {
        for (key, tally) in sheet.tallies { tallies[key, default: Tally()].add(tally) }
    }

    mutating func nextKey() -> Int64 {
        lastKey += 1
        return lastKey
    }
}

extension MemoryTables {
    func job(_ id: JobID, of tenant: TenantID) -> Job? {
        jobKeys[Owned(tenant: tenant, id: id)].flatMap { jobs[$0] }
    }

    /// The attachments of a job, of one generation or all.
    func attachments(of job: Job, generation: Int? = nil) -> [Attachment] {
        job.attachments.compactMap { attachments[Owned(tenant: job.tenant, id: $0)] }
            .filter { generation == nil || $0.generation == generation }
    }

    func record(_ job: Job) -> JobRecord {
        var record = JobRecord(
            id: job.id, tenant: job.tenant, state: job.state, profile: job.profile, mode: job.mode,
            priority: job.priority, metadata: job.metadata, generation: job.generation, attempt: job.attempt,
            createdAt: job.createdAt, deadlineAt: job.deadlineAt, finishedAt: job.finishedAt,
            attachments: attachments(of: job, generation: job.generation).map(\.record))
        // No command asks for a call.
        if job.run == nil { record.callback = webhookReport(of: job) }
        return record
    }

    private func webhookReport(of job: Job) -> WebhookReport? {
        guard job.finishedAt != nil else {
            return job.submission?.callback == nil ? nil : WebhookReport(state: .waiting)
        }
        return call(of: job)?.report
    }

    func call(of job: Job) -> Call? {
        calls.values.first { $0.isOf(job.key, generation: job.generation) }
    }

    /// Puts a job back after a change.
    mutating func put(_ job: Job) {
        if let old = jobs[job.key] { leave(old) }
        jobs[job.key] = job
        guard !job.state.isFinished else { return }
        if job.state == .running { running.insert(job.key) } else { queues[job.queue, default: []].enter(job.place) }
        guard job.run == nil else { return }
        shares[Owned(tenant: job.tenant, id: job.line), default: []].enter(job.place)
    }

    /// Takes a job out of where it waits and is counted.
    private mutating func leave(_ job: Job) {
        guard !job.state.isFinished else { return }
        if job.state == .running { running.remove(job.key) } else { queues[job.queue]?.leave(job.place) }
        if queues[job.queue]?.isEmpty ?? false { queues[job.queue] = nil }
        guard job.run == nil else { return }
        shares[Owned(tenant: job.tenant, id: job.line)]?.leave(job.place)
    }

    mutating func put(_ entry: AccessEntry) {
        access[entry.id] = entry
        accessTo[Owned(tenant: entry.tenant, id: entry.attachment), default: []].insert(entry.id)
        guard entry.kind == .lease else { return }
        if entry.endedAt == nil {
            openLeases[entry.tenant, default: []].insert(entry.id)
        } else {
            openLeases[entry.tenant]?.remove(entry.id)
        }
    }

    /// Deletes access, and what was derived from it with it.
    mutating func delete(access id: String) {
        guard let entry = access.removeValue(forKey: id) else { return }
        let place = Owned(tenant: entry.tenant, id: entry.attachment)
        accessTo[place]?.remove(id)
        if accessTo[place]?.isEmpty ?? false { accessTo[place] = nil }
        openLeases[entry.tenant]?.remove(id)
        if entry.endedAt == nil { takesAccessBack = true }
    }

    mutating func put(_ attachment: Attachment) {
        let place = Owned(tenant: attachment.record.tenant, id: attachment.record.id)
        if let old = attachments[place]?.source, old != attachment.source { released.insert(old) }
        attachments[place] = attachment
    }

    /// The service's pending jobs.
    var pending: [Job] {
        Line.all.flatMap { queues[.line($0)] ?? [] }.compactMap { jobs[$0.key] }
    }

    var pendingCount: Int { Line.all.reduce(0) { $0 + (queues[.line($1)]?.count ?? 0) } }

    func needs(_ name: SourceName) -> Bool {
        attachments.values.contains { $0.source == name }
            || uploads.values.contains { $0.source == name && $0.state.holdsBytes }
            || jobs.values.contains { job in
                job.retained?.submission.attachments.contains { $0.location.sourceName == name } ?? false
            }
    }

    var neededSources: [SourceName] {
        let retained = jobs.values.flatMap { $0.retained?.submission.attachments ?? [] }
        let uploaded = uploads.values.filter { $0.state.holdsBytes && $0.offset > 0 }.map(\.source)
        return Array(
            Set(attachments.values.compactMap(\.source) + retained.compactMap(\.location.sourceName) + uploaded))
    }

    mutating func dropRetained(of job: inout Job) {
        for attachment in job.retained?.submission.attachments ?? [] {
            if let name = attachment.location.sourceName { released.insert(name) }
        }
        job.retained = nil
    }

    // MARK: Deleting

    /// Deletes an attachment, and with it all access to it; then the blobs that nobody refers to any more.
    ///
    /// - Returns: Those blobs.
    mutating func release(_ id: AttachmentID, of tenant: TenantID, at now: Instant) -> [BlobName] {
        guard let attachment = attachments.removeValue(forKey: Owned(tenant: tenant, id: id)) else { return [] }
        if let source = attachment.source { released.insert(source) }
        jobs[attachment.job]?.attachments.removeAll { $0 == id }
        for entry in accessTo[Owned(tenant: tenant, id: id)] ?? [] { delete(access: entry) }
        storedBytes[tenant, default: 0] -= attachment.bytes
        for name in attachment.blobs.values { blobs[name]?.references -= 1 }
        return Set(attachment.blobs.values).filter { name in
            guard let blob = blobs[name], blob.references == 0 else { return false }
            blobs[name] = nil
            let place = Owned(tenant: blob.tenant, id: blob.sha256)
            if liveBlobs[place] == name { liveBlobs[place] = nil }
            tombstones[name] = now
            return true
        }
    }

    /// Deletes a job with all that hangs on it.
    @discardableResult
    mutating func delete(job key: Int64, at now: Instant) -> [BlobName] {
        guard var job = jobs[key] else { return [] }
        let blobs = job.attachments.flatMap { release($0, of: job.tenant, at: now) }
        dropRetained(of: &job)
        leave(job)
        jobs[key] = nil
        jobKeys[Owned(tenant: job.tenant, id: job.id)] = nil
        if let work = job.workKey { works[Owned(tenant: job.tenant, id: work)] = nil }
        for (id, call) in calls where call.isOf(key) { calls[id] = nil }
        for (place, use) in uses where use.job == key { uses[place] = nil }
        return blobs
    }

    // MARK: Counting

    /// Leases that ran out count as open, until they are swept.
    func usage(of tenant: TenantID) -> TenantUsage {
        TenantUsage(
            storedBytes: storedBytes[tenant] ?? 0,
            pendingJobs: Line.all.reduce(0) { $0 + (shares[Owned(tenant: tenant, id: $1)]?.count ?? 0) },
            liveLeases: openLeases[tenant]?.count ?? 0)
    }

    func liveLeases(of tenant: TenantID, at now: Instant) -> [AccessEntry] {
        (openLeases[tenant] ?? []).compactMap { access[$0] }.filter { $0.isLive(at: now) }
    }
}

extension MemoryTables.Attachment {
    /// Of all renditions; two references to the same bytes count twice.
    var bytes: Int64 { record.renditions.values.reduce(0) { $0 + $1.bytes } }
}

extension [MemoryTables.Place] {
    /// The first index whose place isn't before `place`.
    private func index(of place: Element) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low
    }

    fileprivate mutating func enter(_ place: Element) {
        insert(place, at: index(of: place))
    }

    fileprivate mutating func leave(_ place: Element) {
        let index = index(of: place)
        if index < count, self[index] == place { remove(at: index) }
    }
}

extension WebhookReceiver {
    /// Scheme, host and port of a URL in lower case: what comes before the first of `/`, `?` and `#` after the scheme.
    static func origin(of url: String) -> String {
        let scheme = url.firstIndex(of: ":").map { url[$0...].prefix { ":/".contains($0) }.endIndex } ?? url.startIndex
        let end = url[scheme...].firstIndex { "/?#".contains($0) } ?? url.endIndex
        return url[..<end].lowercased()
    }
}
