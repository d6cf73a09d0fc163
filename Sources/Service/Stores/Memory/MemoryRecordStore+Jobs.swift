public import SatchelCore
internal import FoundationEssentials
internal import HashTreeCollections

extension MemoryRecordStore {
    public func submit(
        _ jobs: [JobSubmission], _ options: SubmissionOptions
    ) async throws(AttachmentError) -> [SubmissionAnswer] {
        for job in jobs { try job.validate() }
        if let offer = options.offer { try presence.register(offer.worker) }
        return try await write { tables, now in
            try jobs.map { try tables.submit($0, options, at: now, lives: presence.lives) }
        }
    }

    public func admit(_ tenant: TenantID, _ options: SubmissionOptions) async throws(AttachmentError) {
        do {
            try read { tables, _ in try tables.admit(tenant, options) }
        } catch {
            throw AttachmentError(storing: error)
        }
    }

    public func announce(_ run: RunID) async throws(AttachmentError) {
        try presence.register(WorkerID(rawValue: run.rawValue))
    }

    public func forgetEndedWorkers() async {
        presence.forgetEnded()
    }

    public func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) {
        try await write { tables, _ in
            guard var job = tables.job(id, of: tenant) else { return }
            if let work = job.workKey { tables.works[.init(tenant: tenant, id: work)] = nil }
            job.workKey = nil
            tables.put(job)
        }
    }

    public func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        guard capacity.all > 0 else { return [] }
        try presence.register(worker)
        return try await write { tables, now in
            tables.interrupt(in: source, at: now, lives: presence.lives)
            return tables.waiting(capacity, in: source, at: now).map {
                tables.claim($0, by: worker, until: now + duration, at: now)
            }
        }
    }

    public func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant {
        try await writeUnderClaim { tables, now in
            var job = try tables.held(claim)
            job.claimedUntil = now + duration
            tables.put(job)
            return now + duration
        }
    }

    public func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws {
        try await writeUnderClaim { tables, now in
            var job = try tables.held(claim)
            job.dueAt = now + delay
            // Handed back unbegun, it gets a fresh budget like one that was interrupted.
            if !countsAttempt {
                job.attempt -= 1
                job.isInterrupted = true
            }
            tables.letGo(job)
        }
    }

    public func move(_ claim: Claim, to lane: JobLane) async throws {
        try await writeUnderClaim { tables, _ in
            var job = try tables.held(claim)
            job.rank = tables.rank(
                of: job.submission?.attachments.count ?? 0, for: job.tenant, run: job.run,
                in: .init(lane: lane, priority: job.priority))
            job.lane = lane
            job.attempt -= 1
            tables.letGo(job)
        }
    }

    public func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        let kid = claim.submission.leaseTTL == nil ? "" : try currentKey()
        let (record, superfluous) = try await writeUnderClaim { tables, now in
            try tables.deliver(outcomes, under: claim, tokensBy: kid, at: now)
        }
        await garbage.collect(superfluous)
        return record
    }

    public func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await write { tables, now in
            guard var job = tables.job(id, of: tenant) else { return nil }
            guard let submission = job.submission else { return tables.record(job) }
            tables.retain(submission, of: &job, at: now)
            tables.enqueueCall(submission, of: job, at: now)
            job.state = .cancelled
            job.claim = nil
            job.worker = nil
            job.claimedUntil = nil
            job.submission = nil
            job.finishedAt = now
            job.expiresAt = submission.recordExpiry(from: now)
            let unfinished = tables.attachments(of: job, generation: job.generation)
                .filter { !$0.record.state.isFinished }
            var sheet = TallySheet()
            sheet.add(cancelled: unfinished.count, of: tenant, in: job.lane, at: now)
            tables.add(sheet)
            for var attachment in unfinished {
                attachment.record.state = .cancelled
                attachment.record.finishedAt = now
                attachment.source = nil
                tables.put(attachment)
            }
            tables.put(job)
            return tables.record(job)
        }
    }

    public func retry(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> RetryAnswer? {
        try await write { tables, now in
            guard let job = tables.job(id, of: tenant) else { return nil }
            guard job.state == .failed || job.state == .cancelled else { return .unneeded(tables.record(job)) }
            guard var submission = job.retained?.submission, job.retained.map({ $0.keptUntil > now }) ?? false else {
                return .forgotten(tables.record(job))
            }
            let wanted = Set(tables.attachments(of: job, generation: job.generation).map(\.record.identifier))
            submission.attachments.removeAll { !wanted.contains($0.identifier) }
            guard !submission.attachments.isEmpty else { return .forgotten(tables.record(job)) }
            try tables.takeUploads(of: submission, at: now)
            // The same work, however it is tried again: a repeated submission still finds it.
            return .accepted(tables.renew(job, as: submission, digest: job.bodyDigest, at: now))
        }
    }

    public func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs {
        try await write { tables, now in
            func waiting() -> [MemoryTables.Job] {
                tables.pending.filter { !$0.isInterrupted && $0.deadlineAt != nil }
                    .sorted { ($0.deadlineAt ?? now, $0.key) < ($1.deadlineAt ?? now, $1.key) }
            }
            var ended: [JobRecord] = []
            for job in waiting().prefix(limit) {
                guard let end = job.deadlineAt, end <= now, let submission = job.submission else { break }
                let attachments = tables.attachments(of: job, generation: job.generation)
                    .filter { $0.record.state == .pending }
                    .map { (id: $0.record.id, submission: submission.attachments[$0.ordinal]) }
                let conclusion = try JobConclusion(
                    overdue: submission, attachments, createdAt: job.createdAt, at: now)
                var job = job
                _ = try tables.record(conclusion, of: &job, submission, at: now)
                ended.append(tables.record(job))
            }
            return OverdueJobs(ended: ended, next: waiting().first?.deadlineAt.map { $0 - now })
        }
    }
}

extension MemoryTables {
    // MARK: Submitting

    mutating func submit(
        _ job: JobSubmission, _ options: SubmissionOptions, at now: Instant, lives: (WorkerID) -> Bool
    ) throws -> SubmissionAnswer {
        if let key = options.idempotency,
            let earlier = use(of: key.text, of: job.tenant, at: now), let record = jobs[earlier.job].map(record)
        {
            return earlier.digest == key.bodyDigest ? .unchanged(record) : .conflict
        }
        let answer = try answer(to: job, options, at: now, lives: lives)
        if let key = options.idempotency, let known = jobKeys[Owned(tenant: job.tenant, id: job.id)] {
            uses[Owned(tenant: job.tenant, id: key.text)] = Use(job: known, digest: key.bodyDigest, createdAt: now)
        }
        return answer
    }

    func use(of key: String, of tenant: TenantID, at now: Instant) -> Use? {
        uses[Owned(tenant: tenant, id: key)].flatMap { $0.createdAt > now - IdempotencyKey.lifetime ? $0 : nil }
    }

    private mutating func answer(
        to job: JobSubmission, _ options: SubmissionOptions, at now: Instant, lives: (WorkerID) -> Bool
    ) throws -> SubmissionAnswer {
        let profile = try ProfileColumn.text(job.profile)
        let digest = try StoredSubmission.digest(of: job, profile: profile)
        profiles[Column.digest(profile)] = job.profile
        let byWork = job.workKey.flatMap { works[Owned(tenant: job.tenant, id: $0)] }.flatMap { jobs[$0] }
        let known = byWork ?? self.job(job.id, of: job.tenant)
        let decision = job.decision(
            about: known.map { self.known($0, isSameWork: byWork != nil, for: job, at: now, lives: lives) },
            digest: digest, retriesFailed: options.retriesFailed)
        switch (decision, known) {
        case (.keep, let known?):
            return .unchanged(record(known))
        case (.adopt, let known?):
            return .adopted(try adopt(known, as: job, at: now))
        case (_, let known):
            if job.run == nil { try admit(job.tenant, options, replacing: known?.state) }
            try takeUploads(of: job, at: now)
            let record =
                known.map { renew($0, as: job, digest: digest, at: now) } ?? insert(job, digest: digest, at: now)
            if let offer = options.offer, let begun = claimAtOnce(record, in: job.lane, for: offer, at: now) {
                return .claimed(begun.job, begun.claim)
            }
            return .accepted(record)
        }
    }

    private func known(
        _ job: Job, isSameWork: Bool, for submission: JobSubmission, at now: Instant, lives: (WorkerID) -> Bool
    ) -> KnownJob {
        let isHeld =
            if let worker = job.worker, let end = job.claimedUntil {
                end > now && lives(worker)
            } else {
                job.run.map { lives(WorkerID(rawValue: $0.rawValue)) } ?? false
            }
        let ordinals = attachments(of: job, generation: job.generation).map(\.ordinal)
        return KnownJob(
            state: job.state, bodyDigest: job.bodyDigest, isSameWork: isSameWork, isHeld: isHeld,
            isWhole: ordinals == Array(submission.attachments.indices))
    }

    fileprivate func admit(
        _ tenant: TenantID, _ options: SubmissionOptions, replacing state: WorkState? = nil
    ) throws {
        try options.admit(usage(of: tenant), replacing: state) {
            pendingCount
        }
    }

    private mutating func insert(_ submission: JobSubmission, digest: String, at now: Instant) -> JobRecord {
        var job = Job(
            key: nextKey(), tenant: submission.tenant, id: submission.id, bodyDigest: digest,
            profile: submission.profile.name, mode: submission.mode, lane: submission.lane,
            priority: submission.priority, metadata: submission.metadata, dueAt: now, createdAt: now)
        jobKeys[Owned(tenant: job.tenant, id: job.id)] = job.key
        take(submission, into: &job, digest: digest, at: now)
        return record(job)
    }

    fileprivate mutating func renew(
        _ known: Job, as submission: JobSubmission, digest: String, at now: Instant
    ) -> JobRecord {
        var job = known
        for attachment in attachments(of: job) where attachment.record.state != .delivered {
            _ = release(attachment.record.id, of: job.tenant, at: now)
        }
        job.attachments = jobs[job.key]?.attachments ?? []
        dropRetained(of: &job)
        job.generation += 1
        job.state = .pending
        job.attempt = 0
        job.claim = nil
        job.deliveredClaim = nil
        job.isInterrupted = false
        job.worker = nil
        job.claimedUntil = nil
        job.finishedAt = nil
        job.expiresAt = nil
        take(submission, into: &job, digest: digest, at: now)
        return record(job)
    }

    /// Gives a job what was submitted, with attachments of its generation.
    private mutating func take(
        _ submission: JobSubmission, into job: inout Job, digest: String, at now: Instant
    ) {
        if let old = job.workKey { works[Owned(tenant: job.tenant, id: old)] = nil }
        if let work = submission.workKey { works[Owned(tenant: job.tenant, id: work)] = job.key }
        job.workKey = submission.workKey
        job.run = submission.run
        job.submission = submission
        job.submission?.id = job.id
        job.bodyDigest = digest
        job.profile = submission.profile.name
        job.mode = submission.mode
        job.lane = submission.lane
        job.priority = submission.priority
        job.metadata = submission.metadata
        job.dueAt = now
        job.deadlineAt = submission.deadline(from: now)
        job.rank = rank(
            of: submission.attachments.count, for: job.tenant, run: job.run, in: job.line, except: job.key)
        for (ordinal, attachment) in submission.attachments.enumerated() {
            let id = AttachmentID.generate()
            put(
                Attachment(
                    key: nextKey(), job: job.key, run: job.run, generation: job.generation, ordinal: ordinal,
                    record: AttachmentRecord(
                        id: id, tenant: job.tenant, job: job.id, identifier: attachment.identifier, state: .pending,
                        source: SourceFacts(attachment), options: attachment.options, createdAt: now),
                    source: attachment.location.sourceName))
            job.attachments.append(id)
        }
        put(job)
    }

    private mutating func adopt(_ known: Job, as submission: JobSubmission, at now: Instant) throws -> JobRecord {
        interrupt(known.key)
        guard var job = jobs[known.key] else { return record(known) }
        var adopted = submission
        adopted.id = job.id
        // The identifiers were given to the client: they stay.
        for attachment in attachments(of: job, generation: job.generation) {
            adopted.attachments[attachment.ordinal].identifier = attachment.record.identifier
        }
        let lane = submission.lane(after: job.lane)
        let line = Line(lane: lane, priority: submission.priority)
        if job.run != submission.run || job.line != line {
            job.rank = rank(
                of: submission.attachments.count, for: job.tenant, run: submission.run, in: line, except: job.key)
        }
        job.lane = lane
        job.run = submission.run
        job.submission = adopted
        job.bodyDigest = try StoredSubmission.digest(of: adopted, profile: ProfileColumn.text(adopted.profile))
        job.profile = submission.profile.name
        job.mode = submission.mode
        job.priority = submission.priority
        job.metadata = submission.metadata
        job.dueAt = now
        job.deadlineAt = submission.deadline(from: now)
        for var attachment in attachments(of: job, generation: job.generation) {
            attachment.run = job.run
            attachment.source = adopted.attachments[attachment.ordinal].location.sourceName
            put(attachment)
        }
        put(job)
        return record(job)
    }

    // MARK: Claiming

    /// The job that a claim holds, unless it was taken away.
    fileprivate func held(_ claim: Claim) throws(ClaimError) -> Job {
        guard let job = job(claim.job, of: claim.tenant), job.claim == claim.id else { throw .lost }
        return job
    }

    /// Makes jobs pending again whose claim ran out or whose worker is gone.
    fileprivate mutating func interrupt(in source: ClaimSource, at now: Instant, lives: (WorkerID) -> Bool) {
        for job in running.compactMap({ jobs[$0] }) where job.isIn(source) {
            let isHeld = job.claimedUntil.map { $0 > now } ?? false && job.worker.map(lives) ?? false
            if !isHeld { interrupt(job.key) }
        }
    }

    private mutating func interrupt(_ key: Int64) {
        guard var job = jobs[key], job.state == .running else { return }
        job.isInterrupted = true
        letGo(job)
    }

    /// A running job is pending again.
    fileprivate mutating func letGo(_ running: Job) {
        var job = running
        job.state = .pending
        job.claim = nil
        job.worker = nil
        job.claimedUntil = nil
        put(job)
        set(.pending, from: .running, of: job)
    }

    private mutating func set(_ state: WorkState, from before: WorkState, of job: Job) {
        for var attachment in attachments(of: job, generation: job.generation)
        where attachment.record.state == before {
            attachment.record.state = state
            put(attachment)
        }
    }

    /// Where a job of so many attachments stands that comes now.
    ///
    /// - Parameter key: Of a job that makes way for it.
    fileprivate func rank(
        of size: Int, for tenant: TenantID, run: RunID?, in line: Line, except key: Int64 = 0
    ) -> Int64 {
        guard run == nil else { return 0 }
        let last = shares[Owned(tenant: tenant, id: line)]?.last { $0.key != key }?.rank
        return FairRank.rank(reached: reached[line] ?? 0, last: last, size: size)
    }

    /// The jobs to take next for so many places.
    fileprivate func waiting(_ capacity: ClaimCapacity, in source: ClaimSource, at now: Instant) -> [Job] {
        var found: [Job] = []
        for priority in JobPriority.inOrder {
            let limit = capacity.places(for: priority, taken: found.count)
            guard limit > 0 else { continue }
            let queue: Queue =
                switch source {
                case .run(let run): .run(run, priority)
                case .lane(let lane): .line(Line(lane: lane, priority: priority))
                }
            // Where some have as many as they may, the first of each of the others; who asks again gets the next.
            var passed = capacity.busy[priority] ?? []
            let isEachOnce = !passed.isEmpty
            var taken = 0
            for place in queues[queue] ?? [] where taken < limit {
                guard let job = jobs[place.key], job.dueAt <= now else { continue }
                if isEachOnce && !passed.insert(job.tenant).inserted { continue }
                found.append(job)
                taken += 1
            }
        }
        return found
    }

    fileprivate mutating func claim(_ pending: Job, by worker: WorkerID, until end: Instant, at now: Instant) -> Claim {
        var job = pending
        if job.run == nil { reached[job.line] = max(reached[job.line] ?? 0, job.rank) }
        var submission = job.submission ?? JobSubmission(tenant: job.tenant, profile: .notification, attachments: [])
        let isLate = job.isInterrupted
        if isLate { job.deadlineAt = submission.deadline(from: now) }
        let id = ClaimID.generate()
        job.state = .running
        job.claim = id
        job.worker = worker
        job.claimedUntil = end
        job.attempt += 1
        job.isInterrupted = false
        put(job)
        set(.running, from: .pending, of: job)
        // An attachment that was deleted meanwhile is no longer wanted.
        let wanted = attachments(of: job, generation: job.generation)
        submission.attachments = wanted.map { submission.attachments[$0.ordinal] }
        return Claim(
            id: id, tenant: job.tenant, job: job.id, generation: job.generation, attempt: job.attempt,
            claimedUntil: end, deadlineAt: job.deadlineAt, isLate: isLate, lane: job.lane, submission: submission,
            attachments: wanted.map(\.record.id))
    }

    /// Claims a job that was recorded just now; nil where another one comes before it.
    private mutating func claimAtOnce(
        _ record: JobRecord, in lane: JobLane, for offer: ClaimOffer, at now: Instant
    ) -> (job: JobRecord, claim: Claim)? {
        let first = waiting(ClaimCapacity(1), in: .lane(lane), at: now).first
        guard let first, first.tenant == record.tenant, first.id == record.id else { return nil }
        let claim = claim(first, by: offer.worker, until: now + offer.duration, at: now)
        return jobs[first.key].map { (self.record($0), claim) }
    }

    // MARK: Delivering

    fileprivate mutating func deliver(
        _ outcomes: [AttachmentOutcome], under claim: Claim, tokensBy kid: String, at now: Instant
    ) throws -> (JobRecord, superfluous: [BlobName]) {
        if let done = job(claim.job, of: claim.tenant), done.deliveredClaim == claim.id { return (record(done), []) }
        var job = try held(claim)
        let wanted = attachments(of: job, generation: claim.generation).map(\.record.id)
        let conclusion = try JobConclusion(
            of: claim.submission, claim.attachments, wanted: Set(wanted), outcomes: outcomes, at: now)
        var superfluous = conclusion.unwanted
        superfluous.formUnion(try record(conclusion, of: &job, claim.submission, at: now))
        if let start = conclusion.access {
            for id in conclusion.delivered {
                let entry = AccessEntry(
                    id: TokenFormat.newID(), kind: start.kind, tenant: job.tenant, attachment: id, kid: kid,
                    createdAt: now, expiresAt: start.expiresAt, delivery: start.delivery, isByJob: true)
                put(entry)
            }
        }
        if conclusion.state == .delivered {
            // What older generations had delivered.
            for old in attachments(of: job) where old.generation < claim.generation {
                superfluous.formUnion(release(old.record.id, of: job.tenant, at: now))
            }
        }
        // Two renditions of equal bytes may share a file that is in use after all.
        let unneeded = superfluous.filter { blobs[$0] == nil }
        return (jobs[job.key].map(record) ?? record(job), Array(unneeded))
    }

    /// Writes down what a job comes to.
    ///
    /// - Returns: Blobs that are not needed, because their bytes are here already.
    fileprivate mutating func record(
        _ conclusion: JobConclusion, of job: inout Job, _ submission: JobSubmission, at now: Instant
    ) throws -> [BlobName] {
        var unneeded: [BlobName] = []
        var sheet = TallySheet()
        let submittedAt = attachments(of: job, generation: job.generation).first?.record.createdAt ?? now
        sheet.add(conclusion, of: job.tenant, in: job.lane, submittedAt: submittedAt, at: now)
        add(sheet)
        for concluded in conclusion.attachments {
            let outcome = concluded.outcome
            guard var attachment = attachments[Owned(tenant: job.tenant, id: outcome.id)] else { continue }
            attachment.source = nil
            attachment.record.kind = outcome.kind
            attachment.record.source = outcome.source
            attachment.record.steps = outcome.steps
            attachment.record.finishedAt = now
            switch outcome.result {
            case .success(let result):
                attachment.record.state = .delivered
                attachment.record.fidelity = result.fidelity
                attachment.record.best = result.best
                attachment.record.options = result.options
                attachment.record.trim = result.trim
                attachment.record.contentSizeRatio = result.contentSizeRatio
                attachment.record.placeholder = result.placeholder
                attachment.record.expiresAt = concluded.expiresAt
                for (role, delivered) in result.renditions {
                    let name = try refer(to: delivered, of: job.tenant)
                    if name != delivered.blob { unneeded.append(delivered.blob) }
                    attachment.blobs[role] = name
                    attachment.record.renditions[role] = delivered.rendition
                }
                storedBytes[job.tenant, default: 0] += attachment.bytes
            case .failure(let error):
                attachment.record.state = .failed
                attachment.record.error = ErrorReport(error)
            }
            put(attachment)
        }
        job.state = conclusion.state
        job.deliveredClaim = job.claim
        job.claim = nil
        job.worker = nil
        job.claimedUntil = nil
        job.submission = nil
        job.finishedAt = now
        job.expiresAt = conclusion.expiresAt
        if conclusion.isRetained { retain(submission, of: &job, at: now) }
        enqueueCall(submission, of: job, at: now)
        put(job)
        return unneeded
    }

    /// The blob to refer to: one of the tenant's that lives and has the same bytes, else the delivered one.
    private mutating func refer(to delivered: DeliveredRendition, of tenant: TenantID) throws -> BlobName {
        let rendition = delivered.rendition
        let place = Owned(tenant: tenant, id: rendition.sha256)
        let name = liveBlobs[place] ?? delivered.blob
        if let blob = blobs[name] {
            guard blob.bytes == rendition.bytes else {
                throw AttachmentError.storeFailed(reason: "two sizes are claimed for the same hash")
            }
        } else {
            guard tombstones[name] == nil else {
                throw AttachmentError.storeFailed(reason: "its bytes were removed before they were delivered")
            }
            blobs[name] = Blob(tenant: tenant, sha256: rendition.sha256, bytes: rendition.bytes)
            liveBlobs[place] = name
        }
        blobs[name]?.references += 1
        return name
    }

    fileprivate func retain(_ submission: JobSubmission, of job: inout Job, at now: Instant) {
        guard job.run == nil else { return }
        job.retained = Retained(submission: submission.withoutSecrets, keptUntil: now + Retention.retry)
    }

    fileprivate mutating func enqueueCall(_ submission: JobSubmission, of job: Job, at now: Instant) {
        guard let url = submission.callback else { return }
        let id = UUID.version7(at: now).uuidString.lowercased()
        calls[id] = Call(
            id: id, tenant: job.tenant, type: .jobFinished, content: .job(job.key, generation: job.generation),
            url: url,
            traceparent: submission.traceparent, createdAt: now, dueAt: now)
        hasNewCall = true
    }
}

extension MemoryTables.Job {
    fileprivate func isIn(_ source: ClaimSource) -> Bool {
        switch source {
        case .lane: run == nil
        case .run(let run): self.run == run
        }
    }
}
