import SatchelCore
import Bytes
import Foundation
import TestSupport
import Testing

@testable import Stores

/// What the stores promise, in a few lines of memory.
private struct Model {
    struct Attachment {
        var id: AttachmentID
        var ordinal: Int
        var state: WorkState
        /// What its main rendition reads as.
        var text: String?
    }

    struct Job {
        var id: JobID
        var work: String
        var order: Int
        var rank: Int64
        var mode: JobMode
        var state = WorkState.pending
        var generation = 1
        var attempt = 0
        var claim: ClaimID?
        var deliveredClaim: ClaimID?
        var worker: String?
        var claimedUntil = Instant(milliseconds: 0)
        var dueAt: Instant
        var attachments: [Attachment]
    }

    var jobs: [String: Job] = [:]
    var living: Set<String> = []
    var accepted = 0
    /// The greatest rank that was ever claimed.
    var reached: Int64 = 0

    var texts: Set<String> { Set(jobs.values.flatMap { $0.attachments.compactMap(\.text) }) }

    /// Where a job of so many attachments stands that comes now.
    func rank(of count: Int, except work: String) -> Int64 {
        let others = jobs.values.filter { !$0.state.isFinished && $0.work != work }
        guard let last = others.map(\.rank).max() else { return reached }
        return max(reached, last + Int64(count))
    }

    func isLost(_ job: Job, at now: Instant) -> Bool {
        job.state == .running && (job.claimedUntil <= now || !living.contains(job.worker ?? ""))
    }

    mutating func interrupt(_ work: String) {
        jobs[work]?.claim = nil
        set(.pending, of: work)
    }

    mutating func set(_ state: WorkState, of work: String) {
        guard var job = jobs[work] else { return }
        job.state = state
        for index in job.attachments.indices { job.attachments[index].state = state }
        jobs[work] = job
    }

    /// A node is new with each opening, whatever its workers are called.
    mutating func forgetWorkers() {
        for work in jobs.keys { jobs[work]?.worker = nil }
        living = []
    }

    /// The works that a claim takes, in order.
    mutating func claim(_ count: Int, by worker: String, until end: Instant, at now: Instant) -> [String] {
        living.insert(worker)
        for job in jobs.values where isLost(job, at: now) { interrupt(job.work) }
        let taken = jobs.values.filter { $0.state == .pending && $0.dueAt <= now }
            .sorted { ($0.rank, $0.order) < ($1.rank, $1.order) }.prefix(count).map(\.work)
        for work in taken {
            reached = max(reached, jobs[work]?.rank ?? 0)
            jobs[work]?.attempt += 1
            jobs[work]?.worker = worker
            jobs[work]?.claimedUntil = end
            set(.running, of: work)
        }
        return taken
    }

    /// Also when its time is up, until somebody took it away.
    func holds(_ claim: Claim, _ work: String) -> Bool {
        guard let job = jobs[work], job.id == claim.job else { return false }
        return job.state == .running && job.claim == claim.id
    }

    func isDone(_ claim: Claim, _ work: String) -> Bool {
        guard let job = jobs[work], job.id == claim.job else { return false }
        return job.deliveredClaim == claim.id
    }
}

/// Drives a store and the model side by side.
private struct Drive: ~Copyable {
    let directory: TemporaryDirectory
    let clock = TestClock()
    var generator: SeededGenerator
    var model = Model()
    var store: Store?
    var copies = 0
    /// Every claim that was ever given, with the work it is for; most are stale.
    var claims: [(claim: Claim, work: String)] = []
    var counts: [String: Int] = [:]

    /// Nil where the store is in a directory.
    let memory: StoreMemory?
    /// Nil where the bytes are no bucket's.
    let prefix: String?
    let database: RecordDatabase?

    init(seed: UInt64, _ backend: Backend) throws {
        let directory = try TemporaryDirectory(inMemory: true)
        let memory = backend.keepsBytesInMemory ? try StoreMemory() : nil
        let database = backend.keepsRecordsInPostgres ? try RecordDatabase() : nil
        self.memory = memory
        self.database = database
        prefix = backend.hasBucket ? UUID().uuidString.lowercased() : nil
        self.directory = directory
        generator = SeededGenerator(seed: seed)
    }

    mutating func start() throws {
        store = try open()
    }

    private var path: String { directory.path + "/store-\(copies)" }

    private func open(exclusively: Bool = false) throws -> Store {
        let clock = clock
        if let memory, let database { return try database.open(bytesIn: memory, clock) }
        if let memory { return try Store(in: memory) { clock.now } }
        let bytes = try prefix.map { try ByteStores.bucket(prefix: $0, scratch: path + "/spool") }
        if let database {
            let bytes = try bytes ?? .files(in: directory.path + "/store")
            return try database.open(in: directory.path, bytes: bytes, clock)
        }
        return try Store.open(
            at: path, keys: directory.path + "/keys", exclusively: exclusively, bytes: bytes
        ) { clock.now }
    }

    private var current: Store {
        get throws { try #require(store) }
    }

    mutating func step() async throws {
        let operations = [
            "accept", "accept", "accept", "claim", "claim", "heartbeat", "time", "deliver", "deliver", "deliver",
            "deliver again", "release", "cancel", "delete", "sweep", "abandon",
        ]
        var operation = operations.randomElement(using: &generator) ?? "time"
        if Int.random(in: 0..<60, using: &generator) == 0 { operation = "crash" }
        counts[operation, default: 0] += 1
        switch operation {
        case "accept": try await accept()
        case "claim": try await claim()
        case "heartbeat": try await heartbeat()
        case "deliver": try await deliver(claims.suffix(6).randomElement(using: &generator))
        case "deliver again": try await deliver(claims.randomElement(using: &generator))
        case "release": try await release()
        case "cancel": try await cancel()
        case "delete": try await delete()
        case "sweep": try await sweep()
        case "abandon":
            let orphan = try await current.commit(text())
            try await current.records.discard([orphan.name])
        case "crash": try await crash()
        default: clock.advance(.milliseconds(Int.random(in: 0...8_000, using: &generator)))
        }
    }

    /// Few texts, so that most bytes are there already.
    private mutating func text() -> String { "text \(Int.random(in: 0..<5, using: &generator))" }

    private mutating func accept() async throws {
        let work = "work \(Int.random(in: 0..<12, using: &generator))"
        let retry = Bool.random(using: &generator)
        let identifiers = Bool.random(using: &generator) ? ["a"] : ["a", "b"]
        let mode: JobMode = Bool.random(using: &generator) ? .lenient : .strict
        let submission = JobSubmission.sample(mode: mode, work: work, identifiers: identifiers)
        let answer = try #require(
            try await current.records.submit([submission], SubmissionOptions(retriesFailed: retry)).first)
        let now = clock.now
        func attachments(_ record: JobRecord) -> [Model.Attachment] {
            record.attachments.enumerated().map { ordinal, attachment in
                Model.Attachment(id: attachment.id, ordinal: ordinal, state: .pending, text: nil)
            }
        }
        guard var job = model.jobs[work] else {
            guard case .accepted(let record) = answer else { throw Unexpected() }
            model.accepted += 1
            model.jobs[work] = Model.Job(
                id: record.id, work: work, order: model.accepted, rank: model.rank(of: identifiers.count, except: work),
                mode: mode, dueAt: now, attachments: attachments(record))
            return
        }
        let isOpen = job.state == .pending || model.isLost(job, at: now)
        let isSame = job.attachments.map(\.ordinal) == Array(identifiers.indices)
        if job.state == .cancelled || (job.state == .failed && retry) || (isOpen && !isSame) {
            counts["renewed", default: 0] += 1
            let record: JobRecord
            switch answer {
            case .accepted(let accepted): record = accepted
            case .adopted(let adopted) where !job.state.isFinished: record = adopted
            default: throw Unexpected()
            }
            job.rank = model.rank(of: identifiers.count, except: work)
            job.mode = mode
            job.state = .pending
            job.generation += 1
            job.attempt = 0
            job.claim = nil
            job.deliveredClaim = nil
            job.dueAt = now
            job.attachments = attachments(record)
            model.jobs[work] = job
        } else if isOpen {
            guard case .adopted(let record) = answer else { throw Unexpected() }
            #expect(record.attachments.map(\.id) == job.attachments.map(\.id))
            counts["adopted", default: 0] += 1
            if job.state == .running { model.interrupt(work) }
            model.jobs[work]?.mode = mode
            model.jobs[work]?.dueAt = now
        } else {
            guard case .unchanged = answer else { throw Unexpected() }
        }
    }

    private mutating func claim() async throws {
        let worker = "worker-\(Int.random(in: 0..<3, using: &generator))"
        let count = Int.random(in: 1...3, using: &generator)
        let given = try await current.records.claim(
            ClaimCapacity(count), from: .lane(.fetch), by: WorkerID(rawValue: worker), for: .seconds(10))
        let works = model.claim(count, by: worker, until: clock.now + .seconds(10), at: clock.now)
        #expect(given.map(\.job) == works.compactMap { model.jobs[$0]?.id })
        for (claim, work) in zip(given, works) {
            model.jobs[work]?.claim = claim.id
            #expect(claim.attempt == model.jobs[work]?.attempt)
            #expect(claim.attachments == model.jobs[work]?.attachments.map(\.id))
            claims.append((claim, work))
        }
    }

    private mutating func heartbeat() async throws {
        guard let (claim, work) = claims.suffix(6).randomElement(using: &generator) else { return }
        do {
            let end = try await current.records.heartbeat(claim, for: .seconds(10))
            #expect(model.holds(claim, work))
            model.jobs[work]?.claimedUntil = end
        } catch ClaimError.lost {
            #expect(!model.holds(claim, work))
        }
    }

    private mutating func deliver(_ chosen: (claim: Claim, work: String)?) async throws {
        guard let (claim, work) = chosen else { return }
        var outcomes: [AttachmentOutcome] = []
        var results: [AttachmentID: String] = [:]
        var sealed: [BlobName] = []
        for id in claim.attachments {
            if Int.random(in: 0..<4, using: &generator) == 0 {
                outcomes.append(.failed(id, .unreadable(Finding(.checksumDiffers))))
            } else {
                let text = text()
                let blob = try await current.commit(text)
                sealed.append(blob.name)
                outcomes.append(.delivered(id, [.main: blob]))
                results[id] = text
            }
        }
        do {
            let record = try await current.records.deliver(outcomes, under: claim)
            if model.isDone(claim, work) {
                counts["delivered again", default: 0] += 1
                // The first answer stands; what was brought in vain is given up.
                try await current.records.discard(sealed)
                return
            }
            #expect(model.holds(claim, work))
            guard var job = model.jobs[work] else { throw Unexpected() }
            let present = job.attachments.map(\.id)
            let delivered = present.filter { results[$0] != nil }.count
            let isDelivered = job.mode == .strict ? delivered == present.count : delivered > 0
            job.state = isDelivered ? .delivered : .failed
            job.deliveredClaim = claim.id
            job.claim = nil
            for index in job.attachments.indices {
                let text = isDelivered ? results[job.attachments[index].id] : nil
                job.attachments[index].text = text
                job.attachments[index].state = text == nil ? .failed : .delivered
            }
            model.jobs[work] = job
            #expect(record.state == job.state)
            counts[job.state.rawValue, default: 0] += 1
        } catch ClaimError.lost {
            #expect(!model.holds(claim, work) && !model.isDone(claim, work))
            counts["lost", default: 0] += 1
            if Bool.random(using: &generator) { try await current.records.discard(sealed) }
        }
    }

    private mutating func release() async throws {
        guard let (claim, work) = claims.suffix(6).randomElement(using: &generator) else { return }
        let counted = Bool.random(using: &generator)
        let delay = Duration.milliseconds(Int.random(in: 0...5_000, using: &generator))
        do {
            try await current.records.release(claim, after: delay, countsAttempt: counted)
            #expect(model.holds(claim, work))
            model.jobs[work]?.attempt -= counted ? 0 : 1
            model.jobs[work]?.dueAt = clock.now + delay
            model.jobs[work]?.claim = nil
            model.set(.pending, of: work)
        } catch ClaimError.lost {
            #expect(!model.holds(claim, work))
        }
    }

    private mutating func cancel() async throws {
        guard let job = model.jobs.values.sorted(by: { $0.order < $1.order }).randomElement(using: &generator)
        else { return }
        let record = try #require(try await current.records.cancel(job.id, of: .local))
        if !job.state.isFinished {
            model.jobs[job.work]?.claim = nil
            model.set(.cancelled, of: job.work)
        }
        #expect(record.state == model.jobs[job.work]?.state)
    }

    private mutating func delete() async throws {
        let all = model.jobs.values.sorted { $0.order < $1.order }
        guard let job = all.randomElement(using: &generator),
            let attachment = job.attachments.randomElement(using: &generator)
        else { return }
        #expect(try await current.records.delete(attachment.id, of: TenantID(rawValue: "other")) == false)
        #expect(try await current.records.delete(attachment.id, of: .local))
        #expect(try await current.records.delete(attachment.id, of: .local) == false)
        model.jobs[job.work]?.attachments.removeAll { $0.id == attachment.id }
        if model.jobs[job.work]?.attachments.isEmpty == true { model.jobs[job.work] = nil }
    }

    private func sweep() async throws {
        _ = try await current.sweep()
        try await check()
    }

    /// The files as a kill at this moment would leave them, opened by somebody new. What is elsewhere is left by one and found
    /// by another.
    private mutating func crash() async throws {
        if memory != nil || database != nil {
            store = nil
            try database?.killNodes()
            model.forgetWorkers()
            store = try open()
            return try await check()
        }
        let orphan = try await current.commit("orphan")
        let old = path
        copies += 1
        #expect(try Program.tool("cp").run(["-a", old, path]).status == 0)
        store = nil
        try FileManager.default.removeItem(atPath: old)
        model.forgetWorkers()
        let isCleaned = Bool.random(using: &generator)
        if isCleaned {
            let cleaner = try open(exclusively: true)
            #expect(cleaner.isExclusive)
            #expect(try await cleaner.sweep().orphans >= 1)
            let referenced = Set(try await cleaner.records.referencedBlobs().map(\.name))
            #expect(try await cleaner.blobNames() == referenced)
            #expect(!referenced.contains(orphan.name))
            #expect(try await cleaner.verify().isSound)
        }
        store = try open()
        try await check()
    }

    /// Everything that the model knows is what the store says, and the bytes are there.
    func check() async throws {
        let store = try current
        for job in model.jobs.values {
            let record = try #require(try await store.records.job(job.id, of: .local))
            #expect(record.state == job.state)
            #expect(record.attempt == job.attempt)
            #expect(record.generation == job.generation)
            #expect(record.attachments.map(\.id) == job.attachments.map(\.id))
            #expect(record.attachments.map(\.state) == job.attachments.map(\.state))
            for attachment in job.attachments {
                let blob = try await store.records.blob(of: .main, of: attachment.id, tenant: .local)
                var text: String?
                if let blob { text = try await store.text(of: blob) }
                #expect(text == attachment.text)
            }
        }
        let page = try await store.records.jobs(of: .local, where: RecordFilter(), after: nil, limit: 1000)
        #expect(page.elements.count == model.jobs.count)
        let referenced = try await store.records.referencedBlobs()
        #expect(referenced.count == model.texts.count)
        let files = try await store.blobNames()
        #expect(files.isSuperset(of: referenced.map(\.name)))
    }
}

@Suite struct ModelTests {
    /// To run a failure again: its seed is in the name of the case and in the message.
    @Test(arguments: 1...UInt64(Sweep.count(6, else: 3)), Backend.allCases)
    func `whatever is done in whatever order, the store is what the model says`(
        seed: UInt64, backend: Backend
    ) async throws {
        var drive = try Drive(seed: seed, backend)
        try drive.start()
        for step in 0..<500 {
            do {
                try await drive.step()
                if step % 20 == 0 { try await drive.check() }
            } catch {
                Issue.record("seed \(seed), step \(step): \(error)")
                return
            }
        }
        try await drive.check()
        // Not a walk past the interesting places.
        for event in ["crash", "delivered", "failed", "delivered again", "lost", "adopted", "renewed"] {
            #expect(drive.counts[event, default: 0] > 0, "seed \(seed): no \(event) in \(drive.counts)")
        }
    }
}
