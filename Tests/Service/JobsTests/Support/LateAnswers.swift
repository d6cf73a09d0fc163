import SatchelCore

/// Records that take a delivery at once, and say so only after a while.
struct LateAnswers: JobQueue, BlobRecords, RenditionKeyRecords {
    let records: any JobQueue & BlobRecords & RenditionKeyRecords
    let delay: Duration

    func deliver(_ outcomes: [AttachmentOutcome], under claim: Claim) async throws -> JobRecord {
        let record = try await records.deliver(outcomes, under: claim)
        try await Task.sleep(for: delay)
        return record
    }

    // What follows answers as it does.

    var pace: QueuePace { records.pace }

    func listen(_ handler: @escaping @Sendable (QueueEvent) -> Void) { records.listen(handler) }

    func now() async throws(AttachmentError) -> Instant { try await records.now() }

    func submit(
        _ jobs: [JobSubmission], _ options: SubmissionOptions
    ) async throws(AttachmentError) -> [SubmissionAnswer] {
        try await records.submit(jobs, options)
    }

    func admit(_ tenant: TenantID, _ options: SubmissionOptions) async throws(AttachmentError) {
        try await records.admit(tenant, options)
    }

    func announce(_ run: RunID) async throws(AttachmentError) { try await records.announce(run) }

    func forgetEndedWorkers() async throws(AttachmentError) { try await records.forgetEndedWorkers() }

    func acknowledge(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) {
        try await records.acknowledge(id, of: tenant)
    }

    func claim(
        _ capacity: ClaimCapacity, from source: ClaimSource, by worker: WorkerID, for duration: Duration
    ) async throws(AttachmentError) -> [Claim] {
        try await records.claim(capacity, from: source, by: worker, for: duration)
    }

    func heartbeat(_ claim: Claim, for duration: Duration) async throws -> Instant {
        try await records.heartbeat(claim, for: duration)
    }

    func release(_ claim: Claim, after delay: Duration, countsAttempt: Bool) async throws {
        try await records.release(claim, after: delay, countsAttempt: countsAttempt)
    }

    func cancel(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> JobRecord? {
        try await records.cancel(id, of: tenant)
    }

    func retry(_ id: JobID, of tenant: TenantID) async throws(AttachmentError) -> RetryAnswer? {
        try await records.retry(id, of: tenant)
    }

    func endOverdue(_ limit: Int) async throws(AttachmentError) -> OverdueJobs {
        try await records.endOverdue(limit)
    }

    func move(_ claim: Claim, to lane: JobLane) async throws { try await records.move(claim, to: lane) }

    func unreferenced(among names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await records.unreferenced(among: names)
    }

    func discard(_ names: [BlobName]) async throws(AttachmentError) -> [BlobName] {
        try await records.discard(names)
    }

    func referencedBlobs() async throws(AttachmentError) -> [CommittedBlob] { try await records.referencedBlobs() }

    func equalBlobs(to name: BlobName) async throws(AttachmentError) -> [BlobName] {
        try await records.equalBlobs(to: name)
    }

    func markDamaged(_ names: [BlobName]) async throws(AttachmentError) { try await records.markDamaged(names) }

    func neededSources() async throws(AttachmentError) -> [SourceName] { try await records.neededSources() }

    func unneeded(among names: [SourceName]) async throws(AttachmentError) -> [SourceName] {
        try await records.unneeded(among: names)
    }

    func keysInUse() async throws(AttachmentError) -> Set<String> { try await records.keysInUse() }

    func seal(
        _ encryption: MediaEncryption, of tenant: TenantID, for sha256: String
    ) throws(AttachmentError) -> SealedEncryption {
        try records.seal(encryption, of: tenant, for: sha256)
    }

    func unseal(_ encryption: SealedEncryption, of tenant: TenantID, for sha256: String) -> MediaEncryption {
        records.unseal(encryption, of: tenant, for: sha256)
    }

    func sealAnew() async throws(AttachmentError) -> Int { try await records.sealAnew() }
}
