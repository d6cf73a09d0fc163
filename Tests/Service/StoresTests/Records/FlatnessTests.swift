import SatchelCore
import Dispatch
import GRDB
import GRDBSQLite
import TestSupport
import Testing

@testable import Stores

/// What a store is asked costs the same however much it holds. Counted are the steps of SQLite's machine, which are
/// the same on every computer: time would only show it at sizes that take minutes to make.
@Suite struct FlatnessTests {
    @Test(arguments: ["work", "lists", "access", "upkeep"])
    func `a question takes no more steps where there is ten times as much`(subject: String) async throws {
        // Large enough that work for each record would be many times the work for one question.
        let small = try await FilledStore.filled(20)
        let large = try await FilledStore.filled(200)
        for question in Question.all[subject] ?? [] {
            let few = try await steps(of: question, in: small)
            let many = try await steps(of: question, in: large)
            #expect(few > 0)
            // A few more, as an index stops at another place, and a search by halves takes three looks more.
            #expect(many <= few + few / 3 + 10, "\(question.name): \(few) steps became \(many)")
        }
    }

    @Test func `what leases keep beyond its retention takes nothing of the writer's time`() async throws {
        var steps: [Int] = []
        for size in [10, 100] {
            let store = try await FilledStore.filled(size, profile: .notification, leases: .seconds(20 * 86_400))
            store.fixture.clock.advance(.seconds(8 * 86_400))
            #expect(try await store.records.expire(limit: 1000, from: nil).blobs == 0)
            _ = try await store.records.takeSteps(ofReaders: false)
            #expect(try await store.records.expire(limit: 1000, from: nil).blobs == 0)
            steps.append(try await store.records.takeSteps(ofReaders: false))
        }
        #expect(steps[1] <= steps[0] + 10, "\(steps[0]) steps became \(steps[1])")
    }

    @Test func `a list of notifications takes no more steps where ten times as many are in it`() async throws {
        var counts: [[Int]] = []
        for size in [50, 500] {
            let fixture = try Fixture()
            var records = fixture.sqlite
            records.longestSearch = 10
            for number in 0..<size {
                try await records.putNotification("\(number)", category: number == size - 1 ? "rare" : "often")
            }
            let list = { @Sendable [records] (category: String?, cursor: String?) in
                try await records.notifications(
                    of: .local, in: .pending, category: category, after: cursor, limit: 5)
            }
            let middle = try await list(nil, nil).next
            let looks: [(String?, String?)] = [
                (nil, nil), (nil, middle), ("often", middle), ("rare", nil), ("none", middle),
            ]
            let questions: [@Sendable () async throws -> Void] = looks.map { look in
                { _ = try await list(look.0, look.1) }
            }
            counts.append(try await steps(of: questions, in: records))
        }
        for (few, many) in zip(counts[0], counts[1]) {
            #expect(many <= few + 10, "\(few) steps became \(many)")
        }
    }

    @Test func `what health and metrics ask takes no more steps where there is ten times as much`() async throws {
        var counts: [[Int]] = []
        for size in [20, 200] {
            let fixture = try Fixture()
            let records = fixture.sqlite
            _ = try await records.submit((0..<2 * size).map { _ in .sample() }, SubmissionOptions())
            for _ in 0..<size {
                let claim = try await fixture.claim()
                let blob = try await fixture.store.commit(claim.job.rawValue)
                let id = claim.attachments[0]
                _ = try await records.deliver([.delivered(id, [.main: blob])], under: claim)
                _ = try await records.startLease(
                    on: id, in: .owner(.local), renditions: nil, for: .seconds(60), within: .unbounded)
                _ = try await records.link(to: id, of: .local, renditions: nil, for: .seconds(60))
            }
            let statistics = try await records.statistics()
            #expect(statistics.queues[.fetch]?.pending == size && statistics.blobs == size)
            #expect(statistics.liveLeases == size && statistics.liveLinks == size)
            counts.append(try await steps(of: [{ _ = try await records.statistics() }], in: records))
        }
        #expect(counts[1][0] <= counts[0][0] + 10, "\(counts)")
    }

    @Test func `an upload takes no more steps beside ten times as many`() async throws {
        var counts: [[Int]] = []
        for size in [20, 200] {
            let fixture = try Fixture()
            let records = fixture.sqlite
            var last: (UploadRecord, AccessToken)?
            for number in 0..<size {
                let token = try #require(try records.newTokens(.upload, 1).first)
                let now = try await records.now()
                let upload = UploadRecord(
                    token, tenant: .local, terms: UploadTerms(), length: nil,
                    source: SourceName(rawValue: "\(number)"), createdAt: now, expiresAt: now + .seconds(3600))
                try await records.add(upload, within: .unbounded)
                // Some are whole, some came to nothing.
                let writer = UploadWriterID.generate()
                _ = try await records.change(upload.id, of: .local, by: .begin(writer), within: .unbounded)
                let hash = String(repeating: "0", count: 64)
                for step in [[.complete(sha256: hash, writer)], [UploadStep.cancel], []][number % 3] {
                    _ = try await records.change(upload.id, of: .local, by: step, within: .unbounded)
                }
                if number % 3 == 2 { last = (upload, token.token) }
            }
            let (upload, token) = try #require(last)
            let questions: [@Sendable () async throws -> Void] = [
                { _ = try await records.upload(of: token) },
                { _ = try await records.change(upload.id, of: .local, by: .begin(.generate()), within: Quotas()) },
                { _ = try await records.endUploads(.due, limit: 10) },
                { _ = try await records.endUploads(.idle(.seconds(60)), limit: 10) },
                { _ = try await records.uploads(of: .local, in: .complete, after: nil, limit: 5) },
                { _ = try await records.uploads(of: .local, in: nil, after: nil, limit: 5) },
                { _ = try await records.uploadUsage(of: nil) }, { _ = try await records.uploadUsage(of: .local) },
            ]
            counts.append(try await steps(of: questions, in: records))
        }
        for (few, many) in zip(counts[0], counts[1]) { #expect(many <= few + few / 10 + 10, "\(counts)") }
    }

    @Test
    func
        `keys, sessions, the audit list and a part of what is tried again take no more steps beside ten times as many`()
        async throws
    {
        var counts: [[Int]] = []
        for size in [20, 200] {
            let fixture = try Fixture()
            let store = fixture.store
            var searching = fixture.sqlite
            searching.longestSearch = 10
            let records = searching
            var last: (APIKeyRecord, AccessToken, AccessToken)?
            for number in 0..<size {
                fixture.clock.advance(.milliseconds(1))
                let actor = [AuditActor(.command), AuditActor(.key, id: "k\(number % 2)")][number % 2]
                try await AuditActor.$current.withValue(actor) {
                    let (key, token) = try await records.createKey(
                        named: "", for: .local, roles: [.read], lasting: .seconds(86_400))
                    let (_, cookie) = try #require(try await records.signIn(with: key))
                    _ = try await records.newConsoleCode(for: .local, roles: [.read])
                    if number % 3 == 0 { try await records.signOut(cookie) }
                    if number % 3 == 1 { _ = try await records.revokeKey(key.id) }
                    if number % 3 == 2 { last = (key, token, cookie) }
                }
                let claim = try #require(try await store.claim(of: .sample()))
                _ = try await records.deliver([.failed(claim.attachments[0], .storeFull)], under: claim)
            }
            let (key, token, cookie) = try #require(last)
            let filters = [
                AuditFilter(), AuditFilter(action: .revoked), AuditFilter(action: .rotated),
                AuditFilter(actor: .kind(.command)), AuditFilter(actor: .kind(.service)),
                AuditFilter(actor: .id("k1")), AuditFilter(actor: .id("nobody")),
                AuditFilter(since: Instant(milliseconds: 0)),
            ]
            let lists = filters.map { filter -> @Sendable () async throws -> Void in
                {
                    let page = try await records.audit(of: .local, where: filter, after: nil, limit: 3)
                    if let next = page.next {
                        _ = try await records.audit(of: .local, where: filter, after: next, limit: 3)
                    }
                }
            }
            let questions: [@Sendable () async throws -> Void] =
                lists + [
                    {
                        let page = try await records.keys(of: .local, after: nil, limit: 3)
                        _ = try await records.keys(of: .local, after: page.next, limit: 3)
                    },
                    { _ = try await records.hasKeys() }, { _ = try await records.authenticate(token) },
                    { _ = try await records.consoleSession(of: cookie, byPerson: true) },
                    { _ = try await records.consoleSession(of: cookie, byPerson: false) },
                    {
                        let (_, other) = try #require(try await records.signIn(with: key))
                        try await records.signOut(other)
                    },
                    {
                        let (_, code) = try await records.newConsoleCode(for: .local, roles: [.read])
                        _ = try await records.signIn(withCode: code)
                    },
                    { _ = try await records.forgetAudit(olderThan: .seconds(60), limit: 5) },
                    { _ = try await records.expire(limit: 5, from: nil) },
                    { _ = try await records.retryAll(failedWith: .storeFull, since: nil, of: .local, limit: 4) },
                ]
            counts.append(try await steps(of: questions, in: records))
        }
        for (few, many) in zip(counts[0], counts[1]) { #expect(many <= few + few / 10 + 10, "\(counts)") }
    }

    /// Of each when it is asked again: statements are prepared, and what is found out once is known.
    private func steps(
        of questions: [@Sendable () async throws -> Void], in records: RecordStore
    ) async throws -> [Int] {
        var steps: [Int] = []
        for question in questions {
            try await question()
            _ = try await records.takeSteps()
            try await question()
            steps.append(try await records.takeSteps())
        }
        return steps
    }

    private func steps(of question: Question, in store: borrowing FilledStore) async throws -> Int {
        // Statements are prepared, and what is found out once is known.
        try await question.ask(store)
        _ = try await store.records.takeSteps()
        try await question.ask(store)
        return try await store.records.takeSteps()
    }
}

/// Something that can be asked of a store again and again.
struct Question: Sendable {
    let name: String
    let ask: @Sendable (borrowing FilledStore) async throws -> Void

    init(_ name: String, _ ask: @escaping @Sendable (borrowing FilledStore) async throws -> Void) {
        self.name = name
        self.ask = ask
    }

    static let all = ["work": work, "lists": lists, "access": access + responses, "upkeep": upkeep]

    private static let work = [
        Question("claim a job") { store in
            let claim = try await store.claim()
            #expect(claim != nil)
        },
        Question("claim for so many of each priority") { store in
            let capacity = ClaimCapacity(all: 1, bulk: 1)
            let claims = try await store.records.claim(
                capacity, from: .lane(.fetch), by: FilledStore.worker, for: .seconds(60))
            #expect(claims.count == 1)
        },
        Question("claim of other tenants than those that have many") { store in
            let capacity = ClaimCapacity(all: 1, bulk: 1, busy: [.bulk: [FilledStore.tenant]])
            let claims = try await store.records.claim(
                capacity, from: .lane(.fetch), by: FilledStore.worker, for: .seconds(60))
            #expect(claims.isEmpty)
        },
        Question("end what is overdue") { store in
            let overdue = try await store.records.endOverdue(10)
            #expect(overdue.ended.isEmpty && overdue.next != nil)
        },
        Question("claim where nothing waits") { store in
            let none = try await store.records.claim(
                ClaimCapacity(1), from: .lane(.expensive), by: FilledStore.worker, for: .seconds(60))
            #expect(none.isEmpty)
        },
        Question("submit a job") { store in
            let answer = try await store.records.submit(
                .sample(tenant: FilledStore.tenant),
                SubmissionOptions(
                    idempotency: IdempotencyKey(text: JobID.generate().rawValue, bodyDigest: "x"),
                    quotas: Quotas(storedBytes: 1 << 40, pendingJobs: 1 << 20), queueLimit: 1 << 20,
                    offer: ClaimOffer(worker: FilledStore.worker, duration: .seconds(60))))
            guard case .accepted = answer else { throw Unexpected() }
        },
        Question("admit a submission") { store in
            try await store.records.admit(
                FilledStore.tenant,
                SubmissionOptions(
                    quotas: Quotas(storedBytes: 1 << 40, pendingJobs: 1 << 20), queueLimit: 1 << 20))
        },
        Question("hold and hand back a claim") { store in
            let first = try await store.claim()
            let claim = try #require(first)
            _ = try await store.records.heartbeat(claim, for: .seconds(60))
            try await store.records.release(claim, after: .seconds(1000), countsAttempt: false)
        },
        Question("deliver") { store in
            let first = try await store.claim()
            let claim = try #require(first)
            let blob = try await store.store.commit(claim.job.rawValue)
            _ = try await store.records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
        },
        Question("deliver a failure") { store in
            let first = try await store.claim()
            let claim = try #require(first)
            _ = try await store.records.deliver(
                [.failed(claim.attachments[0], .fetchFailed(.reset, reason: "x"))], under: claim)
        },
        Question("cancel and try again") { store in
            let job = JobSubmission.sample(tenant: FilledStore.tenant)
            _ = try await store.records.submit(
                job, SubmissionOptions(queueLimit: 1 << 20))
            _ = try await store.records.cancel(job.id, of: FilledStore.tenant)
            guard case .accepted = try await store.records.retry(job.id, of: FilledStore.tenant) else {
                throw Unexpected()
            }
        },
    ]

    private static let common = [
        RecordFilter(), RecordFilter(state: .pending), RecordFilter(state: .delivered), RecordFilter(state: .failed),
        RecordFilter(state: .running), RecordFilter(run: RunID(rawValue: "none")),
    ]
    private static let ofKinds = [
        RecordFilter(kind: .image), RecordFilter(kind: .video), RecordFilter(state: .failed, kind: .image),
        RecordFilter(state: .delivered, kind: .image), RecordFilter(state: .delivered, kind: .video),
    ]

    /// Those that are searched for look at few rows, so that the small store has enough of them.
    private static let searches = [
        RecordFilter(code: .corrupt), RecordFilter(profile: "archive"), RecordFilter(profile: "none"),
        RecordFilter(identifier: "photo"), RecordFilter(identifier: "none"),
        RecordFilter(since: Instant(milliseconds: 0)), RecordFilter(before: Instant(milliseconds: 1 << 42)),
        RecordFilter(before: Instant(milliseconds: 0)), RecordFilter(labels: [JobLabel("message_id", "none")]),
        RecordFilter(
            state: .delivered, kind: .image, code: .corrupt, profile: "none", identifier: "photo",
            since: Instant(milliseconds: 0), before: Instant(milliseconds: 1 << 42)),
        RecordFilter(state: .pending, profile: "none", identifier: "none"),
    ]

    private static let lists =
        (common + searches + [RecordFilter(labels: [JobLabel("message_id", "88213")])]).map { filter in
            Question("list jobs where \(filter.words)") { store in
                let first = try await store.records.jobs(of: FilledStore.tenant, where: filter, after: nil, limit: 5)
                if let next = first.next {
                    _ = try await store.records.jobs(of: FilledStore.tenant, where: filter, after: next, limit: 5)
                }
            }
        }
        + (common + ofKinds + searches).map { filter in
            Question("list attachments where \(filter.words)") { store in
                let first = try await store.records.attachments(
                    of: FilledStore.tenant, where: filter, after: nil, limit: 5)
                if let next = first.next {
                    _ = try await store.records.attachments(
                        of: FilledStore.tenant, where: filter, after: next, limit: 5)
                }
            }
        }

    private static let access = [
        Question("open a lease's rendition") { store in
            let content = try await store.records.open(store.leases[7], role: .main)
            #expect(content != nil)
        },
        Question("start, renew and stop a lease") { store in
            let started = try await store.records.startLease(
                on: store.attachments[3], in: .owner(FilledStore.tenant), renditions: nil, for: .seconds(60),
                within: Quotas(liveLeases: 1 << 20))
            let (lease, _) = try #require(started)
            _ = try await store.records.renewLease(lease.id, in: .owner(FilledStore.tenant), for: .seconds(90))
            let isRevoked = try await store.records.revoke(lease.id, in: .owner(FilledStore.tenant))
            #expect(isRevoked)
        },
        Question("start a lease beyond the tenant's quota") { store in
            let (records, attachment) = (store.records, store.attachments[3])
            let error = await #expect(throws: AttachmentError.self) {
                try await records.startLease(
                    on: attachment, in: .owner(FilledStore.tenant), renditions: nil, for: .seconds(60),
                    within: Quotas(liveLeases: 10))
            }
            #expect(error?.code == .quotaExceeded)
        },
        Question("start and stop a lease under a grant that had many") { store in
            let started = try await store.records.startLease(
                in: .bearer(store.grant), renditions: nil, for: .seconds(60))
            let (lease, _) = try #require(started)
            let isRevoked = try await store.records.revoke(lease.id, in: .bearer(store.grant))
            #expect(isRevoked)
        },
        Question("make and revoke a link") { store in
            let made = try await store.records.link(
                to: store.attachments[3], of: FilledStore.tenant, renditions: nil, for: .seconds(60))
            let (link, _) = try #require(made)
            let isRevoked = try await store.records.revoke(link.id, in: .owner(FilledStore.tenant))
            #expect(isRevoked)
        },
    ]

    private static let responses = [
        Question("look at a ticket") { store in
            let ticket = try await store.records.ticket(of: store.tickets[7].1, .respond)
            #expect(ticket != nil)
        },
        Question("take and settle a response") { store in
            let ticket = store.tickets[5].0
            let response = NotificationResponse.sample(Int.random(in: 1_000..<1 << 40))
            let taken = try await store.records.take(response, by: ticket)
            _ = try #require(taken).get()
            let settled = try await store.records.settle(
                response, by: ticket,
                ResponseSettlement(answer: nil, call: .sample(response.id, tenant: FilledStore.tenant)))
            #expect(settled?.answer != nil)
        },
        Question("list a tenant's responses") { store in
            let page = try await store.records.responses(of: FilledStore.tenant, to: nil, after: "3", limit: 5)
            #expect(page.elements.count == 5)
        },
        Question("list a notification's responses") { store in
            let page = try await store.records.responses(
                of: FilledStore.tenant, to: NotificationID(rawValue: "a"), after: "3", limit: 5)
            #expect(page.elements.count == 5)
        },
        Question("count a firing's responses") { store in
            let count = try await store.records.responseCount(
                of: NotificationID(rawValue: "a"), firing: 2, tenant: FilledStore.tenant)
            #expect(count == 1)
        },
        Question("open and end a preview") { store in
            let (preview, _) = try await store.records.newPreview(tenant: FilledStore.tenant)
            let isOpen = try await store.records.open([preview], [])
            let isEnded = try await store.records.endPreview(preview.id, of: FilledStore.tenant)
            #expect(isOpen && isEnded)
        },
        Question("end all previews of a notification") { store in
            let isRemoved = try await store.records.remove(
                NotificationID(rawValue: "a"), of: FilledStore.tenant, from: .delivered)
            #expect(isRemoved)
        },
    ]

    private static let upkeep = [
        Question("a tenant's usage") { store in
            let live = try await store.records.read { work in
                try work.total(of: FilledStore.tenant).liveLeases - work.leasesThatRanOut(of: FilledStore.tenant)
            }
            #expect(live >= store.size)
        },
        Question("callbacks that are due") { store in
            let due = try await store.records.dueWebhooks(1)
            #expect(due.count == 1)
        },
        Question("calls of a type") { store in
            for state in [WebhookReport.State.waiting, nil] {
                let page = try await store.records.calls(
                    of: FilledStore.tenant, where: CallFilter(state: state, type: .jobFinished), after: "1", limit: 10)
                #expect(page.elements.count == 10)
            }
        },
        Question("delete an attachment") { store in
            let page = try await store.records.attachments(
                of: FilledStore.tenant, where: RecordFilter(state: .delivered), after: nil, limit: 1)
            let attachment = try #require(page.elements.first)
            let isDeleted = try await store.store.records.delete(attachment.id, of: FilledStore.tenant)
            #expect(isDeleted)
        },
        Question("failures of a code that there is none of") { store in
            let groups = try await store.records.failures(of: FilledStore.tenant, with: .tooLong, since: nil)
            #expect(groups.isEmpty)
        },
        Question("access to an attachment") { store in
            let page = try await store.records.access(
                to: store.attachments[3], of: FilledStore.tenant, after: nil, limit: 2)
            #expect(page.elements.count == 2)
        },
        Question("delete a job with metadata") { store in
            let job = JobSubmission.sample(tenant: FilledStore.tenant)
            _ = try await store.records.submit(job, SubmissionOptions(queueLimit: 1 << 20))
            let isDeleted = try await store.records.deleteJob(job.id, of: FilledStore.tenant)
            #expect(isDeleted)
        },
        Question("expire where nothing is over") { store in
            _ = try await store.records.expire(limit: 10, from: nil).blobs
        },
    ]
}

extension RecordFilter {
    fileprivate var words: String {
        let values: [(String, Any?)] = [
            ("state", state), ("kind", kind), ("run", run?.rawValue), ("code", code), ("profile", profile),
            ("identifier", identifier), ("since", since), ("before", before),
        ]
        let known =
            values.compactMap { name, value in value.map { "\(name) = \($0)" } }
            + labels.map { "\($0.key) = \($0.value)" }
        return known.isEmpty ? "anything" : known.joined(separator: ", ")
    }
}

/// A store with as many pending jobs, delivered attachments, live leases (with and without a grant), links and pending
/// webhooks.
struct FilledStore: ~Copyable {
    static let tenant = TenantID(rawValue: "acme")
    static let worker = WorkerID(rawValue: "me")

    let fixture: Fixture
    let size: Int
    let attachments: [AttachmentID]
    let leases: [AccessToken]
    let grant: AccessToken
    /// Of one notification's firings, in their order, each with a response.
    let tickets: [(Ticket, AccessToken)]

    var store: Store { fixture.store }
    var records: RecordStore {
        var records = fixture.sqlite
        records.longestSearch = 10
        return records
    }

    static func filled(
        _ size: Int, profile: Profile = .archive, leases duration: Duration = .seconds(3600)
    ) async throws -> FilledStore {
        let fixture = try Fixture()
        let (store, records) = (fixture.store, fixture.records)
        let delivered = (0..<size).map { _ in
            var job = JobSubmission.sample(tenant: Self.tenant, profile: profile)
            job.callback = "https://example.com/hook"
            return job
        }
        _ = try await records.submit(delivered, SubmissionOptions())
        let claims = try await records.claim(
            ClaimCapacity(size), from: .lane(.fetch), by: Self.worker, for: .seconds(60))
        let attachments = claims.flatMap(\.attachments)
        try await withThrowingTaskGroup { group in
            for claim in claims {
                group.addTask {
                    let blob = try await store.commit(claim.job.rawValue)
                    _ = try await records.deliver([.delivered(claim.attachments[0], [.main: blob])], under: claim)
                }
            }
            try await group.waitForAll()
        }
        let granted = try await records.grant(
            on: attachments[0], in: .owner(Self.tenant), renditions: nil, for: .seconds(86_400), leaseLimit: 1 << 20)
        let grant = try #require(granted).1
        let leases = try await withThrowingTaskGroup { group in
            for id in attachments {
                group.addTask {
                    _ = try await records.link(to: id, of: Self.tenant, renditions: nil, for: .seconds(3600))
                    let ended = try await records.startLease(in: .bearer(grant), renditions: nil, for: .seconds(3600))
                    _ = try await records.revoke(#require(ended).0.id, in: .owner(Self.tenant))
                    let lease = try await records.startLease(
                        on: id, in: .owner(Self.tenant), renditions: nil, for: duration)
                    return try #require(lease).1
                }
            }
            return try await group.reduce(into: [AccessToken]()) { $0.append($1) }
        }
        _ = try await records.submit(
            (0..<size).map { _ in .sample(tenant: Self.tenant, deadline: 1000) }, SubmissionOptions())
        try await records.putNotification(of: Self.tenant)
        let tickets = try await withThrowingTaskGroup { group in
            for number in 1...size {
                group.addTask {
                    let (ticket, token) = try await records.newTicket(of: Self.tenant, firing: number)
                    _ = try await records.open([ticket], [])
                    _ = try await records.take(.sample(number), by: ticket)
                    return (ticket, token)
                }
            }
            return try await group.reduce(into: [(Ticket, AccessToken)]()) { $0.append($1) }
                .sorted { ($0.0.firing ?? 0) < ($1.0.firing ?? 0) }
        }
        return FilledStore(
            fixture: fixture, size: size, attachments: attachments, leases: leases, grant: grant, tickets: tickets)
    }

    func claim() async throws -> Claim? {
        try await records.claim(ClaimCapacity(1), from: .lane(.fetch), by: Self.worker, for: .seconds(60)).first
    }
}

extension RecordStore {
    /// The steps that the connections' statements have taken since this was last asked.
    fileprivate func takeSteps(ofReaders: Bool = true) async throws -> Int {
        let readers = ofReaders ? connections.configuration.maximumReaderCount : 0
        let pool = connections
        // Each waits for the others, so that each is another connection.
        let everyReader = DispatchGroup()
        for _ in 0..<readers { everyReader.enter() }
        let written = try await pool.writeWithoutTransaction { $0.takeSteps() }
        return try await withThrowingTaskGroup { group in
            for _ in 0..<readers {
                group.addTask {
                    try await withCheckedThrowingContinuation { continuation in
                        pool.asyncRead { access in
                            everyReader.leave()
                            everyReader.wait()
                            continuation.resume(with: Result { try access.get().takeSteps() })
                        }
                    }
                }
            }
            return try await group.reduce(written, +)
        }
    }
}

extension Database {
    fileprivate func takeSteps() -> Int {
        var steps = 0
        var statement = unsafe sqlite3_next_stmt(sqliteConnection, nil)
        while unsafe statement != nil {
            steps += Int(unsafe sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1))
            unsafe statement = sqlite3_next_stmt(sqliteConnection, statement)
        }
        return steps
    }
}
