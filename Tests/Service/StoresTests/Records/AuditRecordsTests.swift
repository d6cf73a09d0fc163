import SatchelCore
import TestSupport
import Testing

@testable import Stores

@Suite struct AuditRecordsTests {
    let acme = TenantID(rawValue: "acme")

    private func told(_ fixture: borrowing Fixture, _ filter: AuditFilter = AuditFilter()) async throws -> [AuditEntry]
    {
        try await fixture.records.audit(of: acme, where: filter, after: nil, limit: 1000).elements
    }

    /// Each as `action kind by actor`, oldest first.
    private func words(_ entries: [AuditEntry]) -> [String] {
        entries.reversed().map {
            "\($0.action.rawValue) \($0.subject.kind.rawValue) by \($0.actor.kind.rawValue)\($0.actor.id.map { " " + $0 } ?? "")"
        }
    }

    @Test(arguments: Backend.allCases)
    func `what is done about access is told once, by whom, with what it was done to`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let attachment = try await fixture.store.deliver([.main: "picture"], tenant: acme)
        let other = try await fixture.store.deliver([.main: "another"], tenant: acme)
        var ids: [String] = []
        try await AuditActor.$current.withValue(AuditActor(.key, id: "k1")) {
            let (grant, _) = try #require(
                try await records.grant(
                    on: attachment.id, in: .owner(acme), renditions: nil, for: .seconds(900), leaseLimit: 1))
            let (lease, _) = try #require(
                try await records.startLease(on: attachment.id, in: .owner(acme), renditions: nil, for: .seconds(900)))
            let (link, _) = try #require(
                try await records.link(
                    to: attachment.id, of: acme, renditions: nil, for: .seconds(900), delivery: .private))
            for id in [grant.id, lease.id, link.id, lease.id] {
                #expect(try await records.revoke(id, in: .owner(acme)))
            }
            ids = [grant.id, grant.id, lease.id, link.id]
        }
        try await AuditActor.$current.withValue(AuditActor(.command)) {
            let (key, _) = try await records.createKey(named: "ci", for: acme, roles: [.submit], lasting: nil)
            let (next, _) = try #require(try await records.rotateKey(key.id, overlap: .seconds(60)))
            for _ in 0..<2 { #expect(try await records.revokeKey(next.id)) }
            _ = try await records.rotateSigningNumber(of: acme, overlap: .zero)
            let (session, _) = try #require(try await records.signIn(with: key))
            #expect(session.key == key.id)
            let (_, code) = try await records.newConsoleCode(for: acme, roles: [.read])
            #expect(try await records.signIn(withCode: code) != nil)
            ids += [key.id, key.id, next.id, "1"]
        }
        #expect(try await records.delete(attachment.id, of: acme))
        let job = try #require(
            try await records.jobs(of: acme, where: RecordFilter(), after: nil, limit: 1).elements.first)
        #expect(try await records.deleteJob(job.id, of: acme))
        ids += [attachment.id.rawValue, other.id.rawValue]

        let entries = try await told(fixture)
        let key = try #require(ids.dropFirst(4).first)
        #expect(
            words(entries) == [
                "made grant by key k1", "revoked grant by key k1", "revoked lease by key k1", "revoked link by key k1",
                "made key by command", "rotated key by command", "revoked key by command", "rotated secret by command",
                "signed_in session by key \(key)", "signed_in session by command",
                "deleted attachment by service", "deleted attachment by service",
            ])
        let subjects = entries.reversed().filter { $0.subject.kind != .session }.map(\.subject.id)
        #expect(subjects == ids)
        #expect(entries.reversed().prefix(4).allSatisfy { $0.attachment == attachment.id })
        #expect(Set(entries.map(\.id)).count == entries.count)
        #expect(try await records.audit(of: .local, where: AuditFilter(), after: nil, limit: 9).elements.isEmpty)
        let again = try await fixture.reopened().records.audit(of: acme, where: AuditFilter(), after: nil, limit: 99)
        #expect(again.elements == entries)
    }

    /// A call that the list tells of. It is prepared, and then made; it answers the subject's id.
    private struct AuditedCall: CustomTestStringConvertible {
        typealias Call = @Sendable () async throws -> String

        var testDescription: String
        var prepare: @Sendable (Store, TenantID) async throws -> Call
    }

    private static let calls = [
        AuditedCall(testDescription: "makes a key") { store, tenant in
            { try await store.records.createKey(named: "", for: tenant, roles: [.read], lasting: nil).0.id }
        },
        AuditedCall(testDescription: "rotates a key") { store, tenant in
            let (key, _) = try await store.records.createKey(named: "", for: tenant, roles: [.read], lasting: nil)
            return {
                _ = try #require(try await store.records.rotateKey(key.id, overlap: .seconds(60)))
                return key.id
            }
        },
        AuditedCall(testDescription: "revokes a key") { store, tenant in
            let (key, _) = try await store.records.createKey(named: "", for: tenant, roles: [.read], lasting: nil)
            return {
                let isDone = try await store.records.revokeKey(key.id)
                #expect(isDone)
                return key.id
            }
        },
        AuditedCall(testDescription: "rotates a secret") { store, tenant in
            {
                let numbers = try await store.records.rotateSigningNumber(of: tenant, overlap: .zero)
                return "\(numbers.first?.number ?? 0)"
            }
        },
        AuditedCall(testDescription: "gives a grant") { store, tenant in
            let attachment = try await store.deliver([.main: "picture"], tenant: tenant)
            return {
                try #require(
                    try await store.records.grant(
                        on: attachment.id, in: .owner(tenant), renditions: nil, for: .seconds(900), leaseLimit: 1)
                ).0.id
            }
        },
        AuditedCall(testDescription: "revokes a link") { store, tenant in
            let attachment = try await store.deliver([.main: "picture"], tenant: tenant)
            let (link, _) = try #require(
                try await store.records.link(
                    to: attachment.id, of: tenant, renditions: nil, for: .seconds(900), delivery: .private))
            return {
                let isDone = try await store.records.revoke(link.id, in: .owner(tenant))
                #expect(isDone)
                return link.id
            }
        },
        AuditedCall(testDescription: "ends a preview") { store, tenant in
            let id = NotificationID.generate().rawValue
            try await store.records.putNotification(id, of: tenant)
            let (ticket, _) = try await store.records.newPreview(of: id, tenant: tenant)
            let isDone = try await store.records.open([ticket], [])
            #expect(isDone)
            return {
                _ = try await store.records.endPreview(ticket.id, of: tenant)
                return ticket.id
            }
        },
        AuditedCall(testDescription: "cancels an upload") { store, tenant in
            let token = try #require(try store.records.newTokens(.upload, 1).first)
            let now = try await store.records.now()
            let upload = UploadRecord(
                token, tenant: tenant, terms: UploadTerms(), length: nil, source: SourceName(rawValue: token.id),
                createdAt: now,
                expiresAt: now + .seconds(3600))
            try await store.records.add(upload, within: .unbounded)
            return {
                _ = try await store.records.change(upload.id, of: tenant, by: .cancel, within: .unbounded)
                return upload.ticket
            }
        },
        AuditedCall(testDescription: "deletes an attachment") { store, tenant in
            let attachment = try await store.deliver([.main: "picture"], tenant: tenant)
            return {
                let isDone = try await store.records.delete(attachment.id, of: tenant)
                #expect(isDone)
                return attachment.id.rawValue
            }
        },
        AuditedCall(testDescription: "deletes a job") { store, tenant in
            let attachment = try await store.deliver([.main: "picture"], tenant: tenant)
            return {
                let isDone = try await store.records.deleteJob(attachment.job, of: tenant)
                #expect(isDone)
                return attachment.id.rawValue
            }
        },
    ]

    @Test(arguments: calls, Backend.racing)
    private func `an entry names the actor of its own call, alone and beside others`(
        call: AuditedCall, backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let (store, acme) = (fixture.store, acme)
        for count in [1, 8] {
            var prepared: [AuditedCall.Call] = []
            for _ in 0..<count { prepared.append(try await call.prepare(store, acme)) }
            let made = try await withThrowingTaskGroup(of: (actor: String, subject: String).self) { group in
                for (number, perform) in prepared.enumerated() {
                    let actor = "k\(count)-\(number)"
                    group.addTask {
                        try await AuditActor.$current.withValue(AuditActor(.key, id: actor)) {
                            (actor, try await perform())
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let entries = try await told(fixture).filter { $0.actor.id?.hasPrefix("k\(count)-") == true }
            #expect(Set(entries.map { "\($0.actor.id ?? "") \($0.subject.id)" }) == Set(made.map { "\($0) \($1)" }))
            #expect(entries.count == count)
        }
    }

    @Test(arguments: Backend.allCases)
    func `pages and filters are the list, narrowed as it says`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (records, start) = (fixture.records, fixture.clock.now)
        for number in 0..<9 {
            if number % 2 == 0 { fixture.clock.advance(.seconds(1)) }
            let actor = [AuditActor(.key, id: "k1"), AuditActor(.key, id: "k2"), AuditActor(.command)][number % 3]
            try await AuditActor.$current.withValue(actor) {
                let (key, _) = try await records.createKey(named: "", for: acme, roles: [.read], lasting: nil)
                if number % 4 == 0 { _ = try await records.revokeKey(key.id) }
            }
        }
        let all = try await told(fixture)
        #expect(all.count == 12)
        let filters = [
            AuditFilter(), AuditFilter(action: .revoked), AuditFilter(actor: AuditActorFilter("k2")),
            AuditFilter(actor: AuditActorFilter("key")), AuditFilter(actor: AuditActorFilter("command")),
            AuditFilter(since: start + .seconds(3)), AuditFilter(actor: AuditActorFilter("nobody")),
            AuditFilter(action: .made, actor: AuditActorFilter("k1"), since: start + .seconds(2)),
        ]
        for filter in filters {
            let wanted = all.filter(filter.includes)
            for limit in [1, 3, 12] {
                var listed: [AuditEntry] = []
                var cursor: String?
                repeat {
                    let page = try await fixture.records.audit(of: acme, where: filter, after: cursor, limit: limit)
                    #expect(page.elements.count <= limit)
                    listed += page.elements
                    cursor = page.next
                } while cursor != nil
                #expect(listed == wanted, "\(filter) by \(limit)")
            }
        }
        let first = try await fixture.records.audit(of: acme, where: AuditFilter(), after: "nonsense", limit: 12)
        #expect(first.elements == all)
    }

    @Test(arguments: Backend.allCases)
    func `entries are kept for as long as was said, whatever becomes of what they tell of`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        _ = try await fixture.records.createKey(named: "", for: acme, roles: [.read], lasting: .seconds(1))
        fixture.clock.advance(.seconds(399 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await fixture.records.keys(of: acme).isEmpty)
        _ = try await fixture.records.createKey(named: "", for: acme, roles: [.read], lasting: nil)
        #expect(try await told(fixture).count == 2)
        fixture.clock.advance(.seconds(86_400))
        _ = try await fixture.store.sweep()
        #expect(try await told(fixture).count == 1)
        _ = try await fixture.store.sweep(auditKept: .seconds(86_400))
        #expect(try await told(fixture).isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `what came to an end by itself is the service's doing`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var profile = Profile.notification
        profile.retention = 60
        let record = try await fixture.store.deliver([.main: "picture"], tenant: acme, profile: profile)
        fixture.clock.advance(.seconds(61))
        _ = try await fixture.store.sweep()
        let entries = try await told(fixture)
        #expect(words(entries) == ["deleted attachment by service"])
        #expect(entries.first?.detail == "expired" && entries.first?.subject.id == record.id.rawValue)
    }
}

extension AuditFilter {
    /// Whether an entry is in the list.
    fileprivate func includes(_ entry: AuditEntry) -> Bool {
        let isOfActor =
            switch actor {
            case nil: true
            case .kind(let kind): entry.actor.kind == kind
            case .id(let id): entry.actor.id == id
            }
        return isOfActor && action.map { $0 == entry.action } ?? true && since.map { $0 <= entry.at } ?? true
    }
}
