import SatchelCore
import Foundation
import GRDB
import Platform
import Postgres
import PostgresTestSupport
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Bytes
@testable import Stores

@Suite(.timeLimit(.minutes(10))) struct StoreCopyTests {
    static let ada = TenantID(rawValue: "ada")
    static let bob = TenantID(rawValue: "bob")
    static let eve = TenantID(rawValue: "eve")
    static let tenants = [ada, bob, eve, .local]

    /// A store in a directory, and a database that is to take it.
    struct Place: ~Copyable {
        let directory: TemporaryDirectory
        let clock = TestClock()
        let database: RecordDatabase
        let bytes: ByteStores

        /// - Parameter isBucket: Else bytes are copied into memory.
        init(isBucket: Bool = false) throws {
            let directory = try TemporaryDirectory(inMemory: true)
            let scratch = directory.path + "/scratch"
            try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
            let bytes =
                isBucket
                ? try ByteStores.bucket(prefix: UUID().uuidString.lowercased(), scratch: scratch)
                : ByteStores(blobs: MemoryBlobStore(), sources: MemorySourceStore())
            let database = try RecordDatabase()
            self.bytes = bytes
            self.database = database
            self.directory = directory
        }

        var path: String { directory.path + "/store" }
        var keys: String { directory.path + "/keys" }
        var url: String { database.url }

        func open(exclusively: Bool = false) throws -> Store {
            try Store.open(at: path, keys: keys, exclusively: exclusively) { [clock] in clock.now }
        }

        /// Has the store alone.
        func copy(bytes: ByteStores? = nil, partSize: Int = 3) throws -> StoreCopy {
            try copy(of: open(exclusively: true), bytes: bytes, partSize: partSize)
        }

        func copy(of store: Store, bytes: ByteStores? = nil, partSize: Int = 3) throws -> StoreCopy {
            var copy = try StoreCopy(of: store, to: StoreDatabase(url), bytes: bytes ?? self.bytes)
            copy.partSize = partSize
            return copy
        }

        /// A node of the copy.
        func target() throws -> Store {
            let parameters = try StoreDatabase(url).parameters
            for name in ["spool", "staging"] {
                try FileManager.default.createDirectory(
                    atPath: directory.path + "/scratch/" + name, withIntermediateDirectories: true)
            }
            return try Store(
                scratch: directory.path + "/scratch", keys: keys, bytes: bytes
            ) { [clock] keys, garbage in
                RecordStore(
                    PostgresPool(parameters), keys: keys, garbage: garbage, garbageDelay: .zero,
                    clock: .fixed { clock.server },
                    timing: PostgresNode.Timing(deadAfter: .seconds(300), steadiness: .zero))
            }
        }

        /// As a node opens it.
        func serve() async throws {
            _ = try await Store.open(
                StoreDatabase(url), keys: keys, scratch: directory.path + "/node", bytes: bytes)
        }
    }

    /// What was put into a store, by what opens it.
    struct Content: Sendable {
        struct Door: Sendable {
            var token: AccessToken
            var role: RenditionRole
            var text: String?
        }

        var doors: [Door] = []
        var grants: [AccessToken] = []
        var keys: [AccessToken] = []
        var tickets: [(Ticket, AccessToken)] = []
        var missing: AttachmentRecord?
        var damaged: AttachmentRecord?
    }

    /// A store with everything in it that there can be.
    static func fill(_ store: Store, _ clock: TestClock) async throws -> Content {
        let records = store.records
        var content = Content()
        let (first, second) = (
            try await store.deliver([.main: "equal", .thumbnail: "small"], tenant: ada),
            try await store.deliver([.main: "equal"], tenant: bob)
        )
        // A tenant has the same bytes twice if verify marked the first file as damaged.
        let marked = try await store.deliver([.main: "shared"], tenant: eve)
        try await store.deliver([.main: "shared"], tenant: bob)
        try await records.markDamaged([try #require(try await records.blob(of: .main, of: marked.id, tenant: eve))])
        try await store.deliver([.main: "shared"], tenant: eve)
        for number in 0..<7 { try await store.deliver([.main: "picture \(number)"], tenant: .local) }

        let (grant, grantToken) = try #require(
            try await records.grant(
                on: first.id, in: .owner(ada), renditions: nil, for: .seconds(9_000), leaseLimit: 5))
        let (_, narrowToken) = try #require(
            try await records.grant(
                on: nil, in: .bearer(grantToken), renditions: [.thumbnail], for: .seconds(900), leaseLimit: 2))
        content.grants = [grantToken, narrowToken]
        let (_, narrow) = try #require(
            try await records.startLease(on: nil, in: .bearer(narrowToken), renditions: nil, for: .seconds(800)))
        content.doors += [
            Content.Door(token: narrow, role: .thumbnail, text: "small"), Content.Door(token: narrow, role: .main),
        ]
        let (_, link) = try #require(
            try await records.link(
                to: second.id, of: bob, renditions: nil, for: .seconds(900), delivery: .shared))
        content.doors.append(Content.Door(token: link, role: .main, text: "equal"))
        let (ended, endedToken) = try #require(
            try await records.startLease(on: first.id, in: .owner(ada), renditions: nil, for: .seconds(900)))
        #expect(try await records.revoke(ended.id, in: .owner(ada)))
        let (_, shortToken) = try #require(
            try await records.startLease(on: first.id, in: .owner(ada), renditions: nil, for: .seconds(1)))
        content.doors += [
            Content.Door(token: endedToken, role: .main), Content.Door(token: shortToken, role: .main),
        ]
        #expect(try await records.grant(grant.id, in: .owner(ada)) != nil)

        let (_, key) = try await records.createKey(named: "back end", for: ada, roles: [.admin], lasting: nil)
        let (revoked, _) = try await records.createKey(named: "old", for: bob, roles: [.submit], lasting: .seconds(900))
        #expect(try await records.revokeKey(revoked.id))
        content.keys = [key]
        _ = try await records.rotateSigningNumber(of: ada, overlap: .seconds(900))
        for tenant in [ada, bob] { #expect(try await records.putCategory(.sample(), of: tenant)) }
        #expect(try await records.putCategory(Category(id: "plain"), of: ada))

        content.tickets = try await addResponses(to: store)
        try await addJobs(to: store)
        content.missing = try await store.deliver([.main: "missing"], tenant: .local)
        content.damaged = try await store.deliver([.main: "damaged"], tenant: .local)
        for (record, isMissing) in [(content.missing, true), (content.damaged, false)] {
            let blob = try #require(try await records.blob(of: .main, of: record?.id ?? first.id, tenant: .local))
            let path = try #require(store.files.path(of: blob)).string
            if !isMissing {
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
                try Data("changed".utf8).write(to: URL(filePath: path))
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
        }
        clock.advance(.seconds(5))
        return content
    }

    /// Notifications with tickets that live and one that has ended, and responses to them, one that waits for its handler.
    private static func addResponses(to store: Store) async throws -> [(Ticket, AccessToken)] {
        let records = store.records
        var tickets: [(Ticket, AccessToken)] = []
        for tenant in [ada, bob] {
            try await records.putNotification(of: tenant)
            let (ticket, token) = try await records.newTicket(of: tenant)
            try await records.fireNotification(of: tenant, opening: ticket)
            for number in 1...3 {
                _ = try await records.take(.sample(number, in: number / 2, "reply", text: "text"), by: ticket)
            }
            let settlement = ResponseSettlement(answer: HandlerAnswer(then: .stay, view: .init(rotation: 20)))
            _ = try await records.settle(.sample(2), by: ticket, settlement)
            tickets.append((ticket, token))
        }
        let (preview, token) = try await records.newPreview(tenant: ada)
        let (ended, _) = try await records.newPreview(tenant: ada)
        #expect(try await records.open([preview, ended], []))
        #expect(try await records.endPreview(ended.id, of: ada))
        return tickets + [(preview, token)]
    }

    /// Jobs in every state, with sources.
    private static func addJobs(to store: Store) async throws {
        let records = store.records
        var failing = JobSubmission.sample(tenant: bob, id: JobID(rawValue: "failed"))
        failing.callback = "https://hooks.example.com/failed"
        failing.attachments[0].location = .spool(name: try await store.accept("tried again"))
        _ = try await records.submit(
            failing, SubmissionOptions(idempotency: IdempotencyKey(text: "failed", bodyDigest: "f")))
        let claim = try #require(
            try await records.claim(
                ClaimCapacity(1), from: .lane(.quick), by: WorkerID(rawValue: "w"), for: .seconds(60)
            )
            .first)
        _ = try await records.deliver([.failed(claim.attachments[0], .storeFailed(reason: "x"))], under: claim)

        var running = JobSubmission.sample(tenant: ada, id: JobID(rawValue: "running"), deadline: 600)
        running.attachments[0].location = .spool(name: try await store.accept("interrupted"))
        _ = try await records.submit(running, SubmissionOptions())
        #expect(
            try await records.claim(
                ClaimCapacity(1), from: .lane(.quick), by: WorkerID(rawValue: "w"), for: .seconds(60)
            )
            .count
                == 1)
        var several = JobSubmission.sample(tenant: ada, id: JobID(rawValue: "several"), identifiers: ["a", "b"])
        several.callback = "https://hooks.example.com/several"
        several.attachments[0].location = .spool(name: try await store.accept("one"))
        several.attachments[1].location = .url("https://example.com/b", headers: ["Authorization": "Bearer secret"])
        _ = try await records.submit(
            several, SubmissionOptions(idempotency: IdempotencyKey(text: "several", bodyDigest: "s")))
        for number in 0..<5 {
            var waiting = JobSubmission.sample(tenant: eve, id: JobID(rawValue: "waiting-\(number)"))
            waiting.attachments[0].location = .spool(name: try await store.accept("source \(number)"))
            _ = try await records.submit(waiting, SubmissionOptions())
        }
        for id in ["0", "1"] {
            try await records.enqueue(.sample(id, tenant: eve, subject: id, body: Data([0, 0x1A, 255])))
        }
        try await records.cancelCalls(of: "0", tenant: eve)
        let cancelled = JobSubmission.sample(tenant: eve, id: JobID(rawValue: "cancelled"))
        _ = try await records.submit(cancelled, SubmissionOptions())
        _ = try await records.cancel(cancelled.id, of: eve)
        _ = try await records.submit(.sample(run: RunID(rawValue: "run"), work: "work"), SubmissionOptions())
    }

    /// All that the calls of a store tell, of tenants and their bytes, where what runs is to be begun anew.
    static func contents(of store: Store) async throws -> [AnyHashable] {
        let records = store.records
        var told: [AnyHashable] = []
        for tenant in tenants {
            told.append(try await records.signingNumbers(of: tenant))
            told.append(
                try await records.audit(of: tenant, where: AuditFilter(), after: nil, limit: 100).elements)
            var place: String?
            repeat {
                let page = try await records.jobs(of: tenant, where: RecordFilter(), after: place, limit: 4)
                for var job in page.elements {
                    if job.state == .running { job.state = .pending }
                    for index in job.attachments.indices where job.attachments[index].state == .running {
                        job.attachments[index].state = .pending
                    }
                    told.append(job)
                }
                place = page.next
            } while place != nil
            let page = try await records.attachments(of: tenant, where: RecordFilter(), after: nil, limit: 100)
            for attachment in page.elements where attachment.state == .delivered {
                told.append(attachment)
                for (role, rendition) in attachment.renditions.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                    let blob = try #require(try await records.blob(of: role, of: attachment.id, tenant: tenant))
                    let found = try await store.blobs.digest(of: blob)
                    told.append("\(role) \(rendition.sha256 == found?.sha256 ? "whole" : "lost")")
                }
            }
            for id in try await records.liveAccess(of: tenant, startingWith: "", limit: 100).sorted() {
                told.append("\(id) \(try await records.token(id, of: tenant)?.secretText ?? "-")")
                told.append(try await records.grant(id, in: .owner(tenant)))
                told.append(try await records.lease(id, in: .owner(tenant)))
            }
            told.append(try await records.calls(of: tenant, where: CallFilter(), after: nil, limit: 9).elements)
            told.append(try await records.overview(of: tenant).usage)
            told.append(try await records.firings(of: tenant, after: 0, limit: 9))
            told.append(try await records.responses(of: tenant, to: nil, after: nil, limit: 9).elements)
            told.append(try await records.keys(of: tenant))
            told.append(try await records.categories(of: tenant))
            for key in ["failed", "several"] {
                told.append(try await records.job(submittedWith: key, of: tenant)?.id.rawValue ?? "-")
            }
            told.append(try await records.states(ofWork: ["work"], of: tenant))
        }
        told.append(try await records.profiles(named: Profile.archive.name))
        told.append(try await records.keysInUse())
        let statistics = try await records.statistics()
        told += [
            "\(statistics.liveGrants) \(statistics.liveLeases) \(statistics.liveLinks) \(statistics.leasesLeftToExpire)",
            "\(statistics.pendingWebhooks)",
        ]
        for lane in JobLane.allCases {
            told.append("\(lane) \(statistics.queues[lane].map { $0.pending + $0.running } ?? 0)")
        }
        return told
    }

    @Test(.hasCases(for: .ceph), arguments: TestSelection.cases([false, true]) { $0 })
    func `a copy tells what the store tells, by the same ids and tokens`(isBucket: Bool) async throws {
        let place = try Place(isBucket: isBucket)
        let (content, told) = try await Self.filled(place)
        do {
            let copy = try place.copy()
            let (amount, isBegun) = try await copy.look()
            #expect(!isBegun)
            let report = try await copy.run()
            #expect(report.amount == amount && !report.wasDone)
            #expect(report.missing.count == 1 && report.damaged.count == 1 && !report.isSound)
            #expect(report.missingSources.isEmpty && report.damagedSources.isEmpty && report.missingKeys.isEmpty)
            #expect(amount.sources == 8 && amount.interruptedJobs == 1 && amount.unfinishedJobs == 8)
        }
        do {
            // Once more, by somebody who has other keys.
            let keys = place.directory.path + "/none"
            let isMade = FileManager.default.createFile(
                atPath: keys, contents: Data("new".utf8), attributes: [.posixPermissions: 0o600])
            #expect(isMade)
            let clock = place.clock
            let store = try Store.open(at: place.path, keys: keys, exclusively: true) { clock.now }
            let report = try await place.copy(of: store).run()
            #expect(report.wasDone && !report.missingKeys.isEmpty)
        }
        let target = try place.target()
        let found = try await Self.contents(of: target)
        for (one, other) in zip(told, found) { #expect(one == other) }
        #expect(told.count == found.count)
        try await target.records.expectTrueCounts()

        // One object for each tenant and hash, and nothing else.
        let blobs = try await target.records.referencedBlobs()
        let names = try await target.blobNames()
        #expect(names.isSubset(of: Set(blobs.map(\.name))) && names.count == blobs.count - 2)
        #expect(try await target.sourceNames().count == 8)
        let verified = try await target.verify()
        #expect(verified.missing.count == 2 && verified.damaged.isEmpty && verified.orphaned.isEmpty)
        for lost in [content.missing, content.damaged] {
            let id = try #require(lost?.id)
            let blob = try #require(try await target.records.blob(of: .main, of: id, tenant: .local))
            await #expect(throws: AttachmentError.notInStore(what: "This rendition")) {
                _ = try await target.blobs.read(0..<9, of: blob)
            }
        }
        // They have names that can get their bytes back.
        try await target.deliver([.main: "missing"], tenant: .local)
        let id = try #require(content.missing?.id)
        let missing = try #require(try await target.records.blob(of: .main, of: id, tenant: .local))
        #expect(try await target.verify(repairing: true).repaired == [missing])
        #expect(try await target.text(of: missing) == "missing")
        for door in content.doors {
            let access = try await target.records.open(door.token, role: door.role)
            #expect((access != nil) == (door.text != nil))
            if let access { #expect(try await target.text(of: access.blob) == door.text) }
        }
        for token in content.grants { #expect(try await target.records.grant(of: token) != nil) }
        for key in content.keys { #expect(try await target.records.authenticate(key) != nil) }
        for (ticket, token) in content.tickets {
            #expect(try await target.records.ticket(of: token, ticket.kind) == ticket)
        }
        // Sessions go on, and what comes is behind what came.
        let ticket = content.tickets[0].0
        let taken = try #require(try await target.records.take(.sample(4), by: ticket)).get()
        guard case .undecided(let session) = taken else {
            Issue.record("\(taken)")
            return
        }
        #expect(session.count == 3 && session.view.rotation == 20)
        #expect(
            try await target.records.responses(of: Self.ada, to: nil, after: nil, limit: 9).elements.map(\.response.id)
                == (1...4).map { NotificationResponse.sample($0).id })
        // The narrow grant has one more lease, and not the one after.
        #expect(
            try await target.records.startLease(
                on: nil, in: .bearer(content.grants[1]), renditions: nil, for: .seconds(60)) != nil)
        await #expect(throws: AttachmentError.self) {
            _ = try await target.records.startLease(
                on: nil, in: .bearer(content.grants[1]), renditions: nil, for: .seconds(60))
        }
    }

    @Test func `work goes on in the copy, with its sources, headers, and what was kept to try it again`() async throws {
        let place = try Place()
        _ = try await Self.filled(place)
        _ = try await place.copy().run()
        let target = try place.target()
        let records = target.records
        try await records.expectTrueCounts()
        guard case .accepted = try await records.retry(JobID(rawValue: "failed"), of: Self.bob) else {
            Issue.record("it can't be tried again")
            return
        }
        let repeated = try await records.submit(
            .sample(tenant: Self.ada, id: JobID(rawValue: "other")),
            SubmissionOptions(idempotency: IdempotencyKey(text: "several", bodyDigest: "s")))
        guard case .unchanged(let known) = repeated, known.id.rawValue == "several" else {
            Issue.record("\(repeated)")
            return
        }
        var texts: [String: String] = [:]
        for lane in JobLane.allCases {
            for claim in try await records.claim(
                ClaimCapacity(20), from: .lane(lane), by: WorkerID(rawValue: "v"), for: .seconds(60))
            {
                var outcomes: [AttachmentOutcome] = []
                for (attachment, id) in zip(claim.submission.attachments, claim.attachments) {
                    let place = "\(claim.job.rawValue)/\(attachment.identifier)"
                    switch attachment.location {
                    case .spool(let name):
                        texts[place] = try Self.text(of: try await target.sources.open(name))
                    case .url(_, let headers): texts[place] = headers["Authorization"] ?? "-"
                    case .file, .object: break
                    }
                    outcomes.append(.delivered(id, [.main: try await target.commit(place)]))
                }
                #expect(claim.isLate == (claim.job.rawValue == "running"))
                #expect(claim.attempt == (claim.job.rawValue == "running" ? 2 : 1))
                #expect(try await records.deliver(outcomes, under: claim).state == .delivered)
            }
        }
        #expect(
            texts == [
                "failed/photo": "tried again", "running/photo": "interrupted", "several/a": "one",
                "several/b": "Bearer secret", "waiting-0/photo": "source 0", "waiting-1/photo": "source 1",
                "waiting-2/photo": "source 2", "waiting-3/photo": "source 3", "waiting-4/photo": "source 4",
            ])
        #expect(try await target.sourceNames().isEmpty)
        #expect(
            try await records.claim(
                ClaimCapacity(1), from: .run(RunID(rawValue: "run")), by: WorkerID(rawValue: "run"), for: .seconds(60)
            ).count == 1)
        try await records.expectTrueCounts()
        try await target.deliver([.main: "new"], tenant: Self.ada)
        try await records.expectTrueCounts()
    }

    /// Takes so many files, and fails then.
    private final class Breaking: BlobStore, SourceStore {
        struct State {
            var puts = 0
            var left: Int
        }

        let blobs: any BlobStore
        let sources: any SourceStore
        let state: Mutex<State>

        init(_ bytes: ByteStores, after count: Int) {
            (blobs, sources) = (bytes.blobs, bytes.sources)
            state = Mutex(State(left: count))
        }

        var uploads: any UploadFiles { sources.uploads }
        var stores: ByteStores { ByteStores(blobs: self, sources: self) }

        private func take() throws(AttachmentError) {
            let isLeft = state.withLock { state in
                state.left -= 1
                if state.left >= 0 { state.puts += 1 }
                return state.left >= 0
            }
            if !isLeft { throw .storeFailed(reason: "broken") }
        }

        func put(_ file: HashedFile, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob {
            try take()
            return try await blobs.put(file, under: claim)
        }

        func put(_ file: HashedFile) async throws(AttachmentError) -> SourceName {
            try take()
            return try await sources.put(file)
        }

        func copy(_ blob: CommittedBlob, under claim: ClaimID) async throws(AttachmentError) -> CommittedBlob? {
            try take()
            return try await blobs.copy(blob, under: claim)
        }

        func read(_ range: Range<Int64>, of name: BlobName) async throws(AttachmentError) -> [UInt8] {
            try await blobs.read(range, of: name)
        }

        func content(of name: BlobName, behind proxy: String?) async throws(AttachmentError) -> BlobContent {
            try await blobs.content(of: name, behind: proxy)
        }

        func remove(_ names: [BlobName]) async throws(AttachmentError) { try await blobs.remove(names) }

        func list(after cursor: String?, limit: Int) async throws(AttachmentError) -> Page<StoredObject<BlobName>> {
            try await blobs.list(after: cursor, limit: limit)
        }

        func open(_ name: SourceName) async throws(AttachmentError) -> Descriptor { try await sources.open(name) }
        func remove(_ names: [SourceName]) async throws(AttachmentError) { try await sources.remove(names) }

        func list(after cursor: String?, limit: Int) async throws(AttachmentError) -> Page<StoredObject<SourceName>> {
            try await sources.list(after: cursor, limit: limit)
        }
    }

    @Test func `a copy that breaks off again and again goes on, and puts nothing twice`() async throws {
        let place = try Place()
        let (_, told) = try await Self.filled(place)
        var puts = 0
        var attempts = 0
        while true {
            attempts += 1
            let breaking = Breaking(place.bytes, after: 2)
            defer { puts += breaking.state.withLock { $0.puts } }
            do {
                #expect(
                    try await place.copy(bytes: breaking.stores, partSize: 1 + attempts % 4).run().missing.count == 1)
                break
            } catch let error as AttachmentError {
                #expect(error == .storeFailed(reason: "broken"))
                #expect(try await place.copy().look().isBegun)
                let refusal = await #expect(throws: StoreError.self) { try await place.serve() }
                #expect(refusal?.description.contains("store copy") ?? false)
            }
        }
        #expect(attempts > 8)
        let amount = try await place.copy().look().amount
        #expect(puts == amount.blobs + amount.sources)
        // Once more does nothing, and tells the same.
        let report = try await place.copy().run()
        #expect(report.wasDone && report.missing.count == 1 && report.damaged.count == 1)
        let target = try place.target()
        #expect(try await Self.contents(of: target) == told)
        try await target.records.expectTrueCounts()
        try await place.serve()
    }

    @Test func `a copy goes only where nothing is, or where it was begun`() async throws {
        let place = try Place()
        do {
            let store = try place.open()
            try await store.deliver([.main: "text"])
            // In use.
            await #expect(throws: StoreError.inUse(path: place.path)) { _ = try await place.copy(of: store).run() }
        }
        await #expect(throws: AttachmentError.self) {
            _ = try await place.copy(bytes: Breaking(place.bytes, after: 0).stores).run()
        }
        func expectOther(_ copy: StoreCopy) async throws {
            let error = await #expect(throws: StoreError.self) { _ = try await copy.run() }
            guard case .otherCopy(_, place.path) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        // Another store.
        let other = try Place()
        try await other.open().deliver([.main: "text"])
        try await expectOther(place.copy(of: other.open(exclusively: true)))
        // The same, which was used since.
        place.clock.advance(.seconds(1))
        try await place.open().deliver([.main: "later"])
        try await expectOther(place.copy())
        // One with records of its own, one that a node uses, and one without a schema.
        for (sql, expected) in [
            ("DELETE FROM copies; DELETE FROM blobs; INSERT INTO usage VALUES ('ada', 0)", "already has records"),
            (
                """
                DELETE FROM usage;
                INSERT INTO nodes VALUES (gen_random_uuid(), 'n', '1', 0, 0,
                    floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint + 600000, NULL, 'command', false, 0)
                """, "Another process"
            ),
            ("DROP TABLE schema_version", "store migrate"),
        ] {
            let (server, name) = (place.database.server, place.database.name)
            _ = try await onThread { try server.execute(sql, in: name) }
            let error = await #expect(throws: StoreError.self) { _ = try await place.copy().run() }
            #expect(error?.description.contains(expected) ?? false, "\(String(describing: error))")
        }
    }

    @Test func `a store in memory can't be copied`() throws {
        let place = try Place()
        let store = try Store(in: StoreMemory())
        #expect(throws: StoreError.notCopied(path: store.directory)) { _ = try place.copy(of: store) }
    }

    @Test func `what is missing at the end is said, and the copy isn't served`() async throws {
        let place = try Place()
        try await place.open().deliver([.main: "text"])
        let (server, name) = (place.database.server, place.database.name)
        // Rows that go as soon as they are there.
        _ = try await onThread {
            try server.execute(
                """
                CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN DELETE FROM usage WHERE tenant = NEW.tenant; RETURN NULL; END $$;
                CREATE TRIGGER lose AFTER INSERT ON usage FOR EACH ROW EXECUTE FUNCTION lose()
                """, in: name)
        }
        let error = await #expect(throws: StoreError.self) { _ = try await place.copy().run() }
        #expect(
            error?.description.contains("usage has 0 of 1 rows") ?? false,
            "\(String(describing: error))")
        await #expect(throws: StoreError.self) { try await place.serve() }
    }

    @Test func `sources that are lost are told, and their jobs keep them as they are`() async throws {
        let place = try Place()
        try await Self.submitWithHashes(["whole", "gone", "changed"], to: place.open())
        let report = try await place.copy().run()
        #expect(report.missingSources.count == 1 && report.damagedSources.count == 1 && !report.isSound)
        #expect(report.missing.isEmpty && report.damaged.isEmpty)
        let target = try place.target()
        let claims = try await target.records.claim(
            ClaimCapacity(9), from: .lane(.quick), by: WorkerID(rawValue: "w"), for: .seconds(60))
        for claim in claims {
            guard case .spool(let name) = claim.submission.attachments[0].location else { continue }
            if claim.job.rawValue == "gone" {
                await #expect(throws: AttachmentError.self) { _ = try await target.sources.open(name) }
            } else {
                let text = try Self.text(of: try await target.sources.open(name))
                #expect(text == (claim.job.rawValue == "whole" ? "whole" : "other"))
            }
        }
        #expect(claims.count == 3)
    }

    /// Of the second the source goes, and the third's is written over.
    private static func submitWithHashes(_ texts: [String], to store: Store) async throws {
        for (number, text) in texts.enumerated() {
            var job = JobSubmission.sample(tenant: ada, id: JobID(rawValue: text))
            let name = try await store.accept(text)
            job.attachments[0].location = .spool(name: name)
            job.attachments[0].sha256 = Column.digest(text)
            _ = try await store.records.submit(job, SubmissionOptions())
            let path = store.scratch + "/" + name.rawValue
            if number == 1 { try FileManager.default.removeItem(atPath: path) }
            if number == 2 { try Data("other".utf8).write(to: URL(filePath: path)) }
        }
    }

    private static func text(of file: borrowing Descriptor) throws -> String {
        String(decoding: try Files.read(0..<1 << 20, of: file), as: UTF8.self)
    }

    private static func filled(_ place: borrowing Place) async throws -> (Content, told: [AnyHashable]) {
        let store = try place.open()
        let content = try await fill(store, place.clock)
        try await store.records.expectTrueCounts()
        return (content, try await contents(of: store))
    }

    /// A table that is added to the records has to be copied, or to have its reason there.
    @Test func `every table of the records is copied, or named as one that isn't`() async throws {
        let fixture = try Fixture(.files)
        let tables = try await fixture.sqlite.connections.read { database in
            try String.fetchAll(
                database,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'store'"
            )
        }
        #expect(Set(tables) == Set(CopiedTable.all.map(\.name)).union(CopiedTable.left))
    }
}
