import SatchelCore
import Foundation
import TestSupport
import Testing

@testable import Stores

@Suite struct AccessTests {
    let ada = TenantID(rawValue: "ada")

    @Test(arguments: Backend.allCases)
    func `a lease opens its attachment until it is stopped, and stopping twice is fine`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main", .thumbnail: "small"])
        let (lease, token) = try await fixture.lease(on: attachment, for: AccessLimits.lease)
        #expect(lease.expiresAt == fixture.clock.now + .seconds(300))
        let opened = try #require(try await fixture.records.open(token, role: .thumbnail))
        #expect(opened.attachment == attachment.id && opened.tenant == attachment.tenant)
        #expect(opened.remaining == .seconds(300))
        #expect(try await fixture.store.text(of: opened.blob) == "small")
        #expect(try await fixture.records.revoke(lease.id, in: .owner(ada)) == false)
        #expect(try await fixture.records.revoke(lease.id, in: .owner(.local)))
        #expect(try await fixture.records.revoke(lease.id, in: .owner(.local)))
        #expect(try await fixture.records.open(token, role: .main) == nil)
        #expect(try await fixture.records.renewLease(lease.id, in: .owner(.local), for: .seconds(60)) == nil)
        #expect(try await fixture.records.token(lease.id, of: .local) == nil)
        #expect(try await fixture.records.lease(lease.id, in: .owner(.local))?.endedAt == fixture.clock.now)
    }

    @Test(arguments: Backend.allCases)
    func `a lease ends by itself, later when it is renewed`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (lease, token) = try await fixture.lease(on: attachment, for: .seconds(10))
        fixture.clock.advance(.milliseconds(9_999))
        #expect(try await fixture.records.open(token, role: .main) != nil)
        let renewed = try await fixture.records.renewLease(lease.id, in: .owner(.local), for: .seconds(10))
        #expect(renewed?.expiresAt == fixture.clock.now + .seconds(10))
        fixture.clock.advance(.milliseconds(9_999))
        #expect(try await fixture.records.open(token, role: .main) != nil)
        fixture.clock.advance(.milliseconds(1))
        #expect(try await fixture.records.open(token, role: .main) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `nothing lasts longer than 30 days`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let end = fixture.clock.now + .seconds(30 * 86_400)
        #expect(try await fixture.lease(on: attachment, for: .seconds(90 * 86_400)).0.expiresAt == end)
        #expect(try await fixture.grant(on: attachment, for: .seconds(90 * 86_400)).0.expiresAt == end)
        let link = try await fixture.records.link(
            to: attachment.id, of: .local, renditions: nil, for: .seconds(90 * 86_400))
        #expect(link?.0.expiresAt == end)
    }

    @Test(arguments: Backend.allCases)
    func `access is to the renditions that were granted, and to one's own attachments`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main", .thumbnail: "small"])
        let (_, token) = try await fixture.lease(on: attachment, renditions: [.thumbnail], for: .seconds(60))
        #expect(try await fixture.records.open(token, role: .thumbnail) != nil)
        #expect(try await fixture.records.open(token, role: .main) == nil)
        for renditions in [[.poster], []] as [[RenditionRole]] {
            #expect(
                try await fixture.records.startLease(
                    on: attachment.id, in: .owner(.local), renditions: renditions, for: .seconds(60)) == nil)
        }
        #expect(
            try await fixture.records.startLease(on: attachment.id, in: .owner(ada), renditions: nil, for: .seconds(60))
                == nil)
        #expect(
            try await fixture.records.grant(
                on: attachment.id, in: .owner(ada), renditions: nil, for: .seconds(60), leaseLimit: 1) == nil)
        #expect(try await fixture.records.link(to: attachment.id, of: ada, renditions: nil, for: .seconds(60)) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `a token opens only what its kind is for`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (_, grant) = try await fixture.grant(on: attachment, for: .seconds(60))
        let (_, lease) = try await fixture.lease(on: attachment, for: .seconds(60))
        #expect(try await fixture.records.open(grant, role: .main) == nil)
        #expect(try await fixture.records.startLease(in: .bearer(lease), renditions: nil, for: .seconds(60)) == nil)
        #expect(
            try await fixture.records.grant(
                on: nil, in: .bearer(lease), renditions: nil, for: .seconds(60), leaseLimit: 1) == nil)
    }

    /// Random trees of grants: whatever is asked, what comes out is within what it came from.
    @Test(arguments: 0..<20 as Range<UInt64>, Backend.allCases)
    func `a narrowed grant is never wider than its parent`(seed: UInt64, backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var generator = SeededGenerator(seed: seed)
        let attachment = try await fixture.store.deliver([.main: "main", .thumbnail: "small", .poster: "still"])
        let all: [RenditionRole] = [.main, .thumbnail, .poster, .waveform]
        var grants = [try await fixture.grant(on: attachment, renditions: [.main, .thumbnail], for: .seconds(1000))]
        for _ in 0..<12 {
            let parent = grants.randomElement(using: &generator)
            let (above, token) = try #require(parent)
            let wanted = Bool.random(using: &generator) ? nil : all.filter { _ in Bool.random(using: &generator) }
            let derived = try await fixture.records.grant(
                on: nil, in: .bearer(token), renditions: wanted,
                for: .seconds(Int.random(in: 1...3000, using: &generator)),
                leaseLimit: Bool.random(using: &generator) ? nil : Int.random(in: 1...9, using: &generator))
            guard let derived else { continue }
            let (grant, _) = derived
            #expect(grant.parent == above.id)
            #expect(Set(grant.renditions ?? all).isSubset(of: above.renditions ?? all), "seed \(seed)")
            #expect(grant.expiresAt <= above.expiresAt, "seed \(seed)")
            #expect(try #require(grant.leaseLimit) <= #require(above.leaseLimit), "seed \(seed)")
            grants.append(derived)
            let lease = try await fixture.records.startLease(
                in: .bearer(derived.1), renditions: wanted, for: .seconds(5000))
            if let (record, _) = lease {
                #expect(record.expiresAt <= grant.expiresAt, "seed \(seed)")
                #expect(Set(record.renditions ?? all).isSubset(of: grant.renditions ?? all), "seed \(seed)")
                #expect(try await fixture.records.revoke(record.id, in: .owner(.local)))
            }
        }
        #expect(grants.count > 1)
    }

    @Test(arguments: Backend.allCases)
    func `live leases are counted over a grant and all that was derived from it`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (_, root) = try await fixture.grant(on: attachment, for: .seconds(1000), leaseLimit: 3)
        let narrowed = try await fixture.records.grant(
            on: nil, in: .bearer(root), renditions: nil, for: .seconds(1000), leaseLimit: nil)
        let (_, child) = try #require(narrowed)
        var leases: [AccessEntry] = []
        for token in [root, child, child] {
            let started = try await fixture.records.startLease(in: .bearer(token), renditions: nil, for: .seconds(100))
            leases.append(try #require(started).0)
        }
        for token in [root, child] {
            let error = await #expect(throws: AttachmentError.self) {
                _ = try await fixture.records.startLease(in: .bearer(token), renditions: nil, for: .seconds(100))
            }
            #expect(error?.code == .quotaExceeded)
        }
        // A stop makes room once, however often it is repeated.
        for _ in 0..<3 { #expect(try await fixture.records.revoke(leases[0].id, in: .owner(.local))) }
        #expect(try await fixture.records.startLease(in: .bearer(child), renditions: nil, for: .seconds(100)) != nil)
        await #expect(throws: AttachmentError.self) {
            _ = try await fixture.records.startLease(in: .bearer(root), renditions: nil, for: .seconds(100))
        }
        // And so does time.
        fixture.clock.advance(.seconds(100))
        for _ in 0..<3 {
            #expect(try await fixture.records.startLease(in: .bearer(root), renditions: nil, for: .seconds(10)) != nil)
        }
    }

    @Test(arguments: Backend.allCases)
    func `revoking a grant takes all that was derived from it, at once and in every process`(backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        let other = try fixture.reopened()
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (grant, root) = try await fixture.grant(on: attachment, for: .seconds(1000))
        let narrowed = try await fixture.records.grant(
            on: nil, in: .bearer(root), renditions: nil, for: .seconds(500), leaseLimit: nil)
        let (_, child) = try #require(narrowed)
        let started = try await other.records.startLease(in: .bearer(child), renditions: nil, for: .seconds(100))
        let (_, lease) = try #require(started)
        let (_, independent) = try await fixture.lease(on: attachment, for: .seconds(100))
        #expect(try await other.records.open(lease, role: .main) != nil)
        #expect(try await fixture.records.revoke(grant.id, in: .owner(.local)))
        #expect(try await other.records.open(lease, role: .main) == nil)
        #expect(try await other.records.startLease(in: .bearer(child), renditions: nil, for: .seconds(1)) == nil)
        #expect(
            try await other.records.grant(
                on: nil, in: .bearer(root), renditions: nil, for: .seconds(1), leaseLimit: nil) == nil)
        #expect(try await other.records.open(independent, role: .main) != nil)
    }

    @Test(arguments: Backend.allCases)
    func `deleting an attachment ends all access to it`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (_, grant) = try await fixture.grant(on: attachment, for: .seconds(1000))
        let (_, lease) = try await fixture.lease(on: attachment, for: .seconds(1000))
        #expect(try await fixture.records.delete(attachment.id, of: .local))
        #expect(try await fixture.records.open(lease, role: .main) == nil)
        #expect(try await fixture.records.startLease(in: .bearer(grant), renditions: nil, for: .seconds(1)) == nil)
        #expect(try await fixture.store.blobNames().isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `a live lease or link holds the bytes against retention, and no longer`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"], tenant: ada, profile: .notification)
        fixture.clock.advance(.seconds(7 * 86_400 - 10))
        let (lease, _) = try await fixture.lease(on: attachment, for: .seconds(100))
        let made = try await fixture.records.link(to: attachment.id, of: ada, renditions: nil, for: .seconds(200))
        let (_, link) = try #require(made)
        fixture.clock.advance(.seconds(50))
        #expect(try await fixture.records.expire(limit: 10, from: nil).blobs == 0)
        #expect(try await fixture.records.revoke(lease.id, in: .owner(ada)))
        #expect(try await fixture.records.expire(limit: 10, from: nil).blobs == 0)
        #expect(try await fixture.records.open(link, role: .main) != nil)
        fixture.clock.advance(.seconds(150))
        #expect(try await fixture.records.expire(limit: 10, from: nil).blobs == 1)
        #expect(try await fixture.records.attachment(attachment.id, of: ada) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `the owner gets the same token again, and nobody else does`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (lease, token) = try await fixture.lease(on: attachment, for: .seconds(1000))
        #expect(try await fixture.reopened().records.token(lease.id, of: .local) == token)
        #expect(try await fixture.records.token(lease.id, of: ada) == nil)
    }
}

@Suite struct TokenTests {
    @Test(arguments: Backend.allCases)
    func `a token is its prefix, id, secret and checksum, and prints as 8 characters`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (lease, token) = try await fixture.lease(on: attachment, for: .seconds(60))
        #expect(token.secretText.hasPrefix("satl_" + lease.id))
        #expect(token.secretText.utf8.count == 76)
        let start = String(token.secretText.prefix(8))
        #expect(token.description == start + "…")
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!dumped.contains(token.secretText.dropFirst(9)))
    }

    /// Each single character of the token, replaced by each other one.
    @Test(arguments: Backend.allCases)
    func `any change of one character refuses the token`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (_, token) = try await fixture.lease(on: attachment, for: .seconds(60))
        let text = Array(token.secretText)
        var tried = 0
        for position in text.indices {
            for character in "0Aaz_-é " where character != text[position] {
                var changed = text
                changed[position] = character
                #expect(TokenFormat.parse(String(changed)) == nil)
                tried += 1
                guard tried % 16 == 0 else { continue }
                #expect(try await fixture.records.open(AccessToken(secretText: String(changed)), role: .main) == nil)
            }
        }
        for wrong in [String(text.dropLast()), String(text) + "0", "", "satl_"] {
            #expect(try await fixture.records.open(AccessToken(secretText: wrong), role: .main) == nil)
        }
    }

    /// A checksum can be computed by anybody: it must not be what refuses.
    @Test(arguments: 0..<10 as Range<UInt64>, Backend.allCases)
    func `a well-formed token with another secret or another kind opens nothing`(seed: UInt64, backend: Backend)
        async throws
    {
        let fixture = try Fixture(backend)
        var generator = SeededGenerator(seed: seed)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (lease, token) = try await fixture.lease(on: attachment, for: .seconds(60))
        let secret = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let forged = TokenFormat.compose(.lease, id: lease.id, secret: secret)
        #expect(TokenFormat.parse(forged)?.id == lease.id)
        #expect(try await fixture.records.open(AccessToken(secretText: forged), role: .main) == nil)
        let kid = try #require(fixture.store.keys.kids.first)
        let link = try #require(fixture.store.keys.token(.link, id: lease.id, kid: kid))
        #expect(try await fixture.records.open(link, role: .main) == nil)
        #expect(try await fixture.records.open(token, role: .main) != nil)
    }

    @Test(arguments: Backend.allCases)
    func `a check costs the same whatever the token is`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (good, goodToken) = try await fixture.lease(on: attachment, for: .seconds(60))
        let (stopped, stoppedToken) = try await fixture.lease(on: attachment, for: .seconds(60))
        _ = try await fixture.records.revoke(stopped.id, in: .owner(.local))
        let secret = [UInt8](repeating: 7, count: 32)
        let tokens = [
            goodToken, stoppedToken, AccessToken(secretText: "nonsense"), AccessToken(secretText: ""),
            AccessToken(secretText: TokenFormat.compose(.lease, id: TokenFormat.newID(), secret: secret)),
            AccessToken(secretText: TokenFormat.compose(.lease, id: good.id, secret: secret)),
        ]
        for token in tokens {
            let before = fixture.store.keys.derivations
            _ = try await fixture.records.open(token, role: .main)
            #expect(fixture.store.keys.derivations - before == 1, "\(token)")
        }
    }

    @Test func `ids and secrets are written in base 62 without loss`() {
        #expect(TokenFormat.base62([0], length: 2) == "00")
        #expect(TokenFormat.base62([61], length: 2) == "0z")
        #expect(TokenFormat.base62([1, 0], length: 3) == "048")
        #expect(TokenFormat.base62([UInt8](repeating: 255, count: 16), length: 22) == "7n42DGM5Tflk9n8mt7Fhc7")
        let ids: Set<String> = Set((0..<1000).map { _ in TokenFormat.newID() })
        #expect(ids.count == 1000)
        #expect(ids.allSatisfy { $0.utf8.count == 22 })
    }
}

@Suite struct KeyRingTests {
    @Test func `the key file is made once, for its owner alone, and shared`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/config/satchel/keys"
        let rings = try await withThrowingTaskGroup(of: KeyRing.self) { group in
            for _ in 0..<8 { group.addTask { try KeyRing(path: path) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(rings.flatMap(\.kids)).count == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let kid = rings[0].kids[0]
        #expect(Set(rings.map { $0.token(.link, id: "x", kid: kid) }).count == 1)
        #expect(!"\(rings[0])".contains(kid))
    }

    @Test func `a key file that others can read is refused`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/keys"
        _ = try KeyRing(path: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        #expect(throws: StoreError.exposedKeys(path: path)) { try KeyRing(path: path) }
    }

    @Test func `a key file that is removed while a process uses it is not replaced`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/keys"
        let ring = try KeyRing(path: path)
        try ring.rotate()
        try FileManager.default.removeItem(atPath: path)
        let uses: [() throws -> Void] = [
            { _ = try ring.current() }, { try ring.rotate() },
            { try ring.prune(keeping: [], now: .wallClock() + .seconds(100_000)) },
        ]
        for use in uses {
            let error = #expect(throws: StoreError.self, performing: use)
            #expect(error?.description.contains("'\(path)' can't be used: it was removed") == true)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func `a damaged key file is said to be one, not replaced`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/keys"
        _ = try KeyRing(path: path)
        try Data("[]".utf8).write(to: URL(filePath: path))
        let error = #expect(throws: StoreError.self) { try KeyRing(path: path) }
        #expect(error?.description.contains(path) == true)
    }

    @Test(arguments: Backend.allCases)
    func `a rotated key stays good until its last token has expired`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        fixture.clock.now = .wallClock()
        let other = try fixture.reopened()
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (_, old) = try await fixture.lease(on: attachment, for: .seconds(100_000))
        let kid = try #require(fixture.store.keys.kids.first)
        try other.keys.rotate()
        let (_, new) = try await fixture.lease(on: attachment, for: .seconds(200_000))
        #expect(fixture.store.keys.kids.count == 2)
        for token in [old, new] {
            #expect(try await fixture.records.open(token, role: .main) != nil)
            #expect(try await other.records.open(token, role: .main) != nil)
        }
        try fixture.store.keys.prune(
            keeping: await fixture.records.keysInUse(), now: .wallClock() + .seconds(90_000))
        #expect(fixture.store.keys.kids.contains(kid))
        fixture.clock.advance(.seconds(150_000))
        try fixture.store.keys.prune(
            keeping: await fixture.records.keysInUse(), now: .wallClock() + .seconds(150_000))
        #expect(!fixture.store.keys.kids.contains(kid))
        #expect(try await fixture.records.open(new, role: .main) != nil)
        #expect(try await fixture.records.open(old, role: .main) == nil)
    }

    @Test func `losing the keys revokes everything`() async throws {
        let fixture = try Fixture()
        let attachment = try await fixture.store.deliver([.main: "main"])
        let (_, token) = try await fixture.lease(on: attachment, for: .seconds(60))
        try FileManager.default.removeItem(atPath: fixture.directory.path + "/keys")
        let reopened = try fixture.reopened()
        #expect(try await reopened.records.open(token, role: .main) == nil)
        #expect(try await reopened.text(of: try #require(try await reopened.blobNames().first)) == "main")
    }
}

extension Fixture {
    fileprivate func lease(
        on attachment: AttachmentRecord, renditions: [RenditionRole]? = nil, for duration: Duration
    ) async throws -> (AccessEntry, AccessToken) {
        try #require(
            try await records.startLease(
                on: attachment.id, in: .owner(attachment.tenant), renditions: renditions, for: duration))
    }

    fileprivate func grant(
        on attachment: AttachmentRecord, renditions: [RenditionRole]? = nil, for duration: Duration,
        leaseLimit: Int = 5
    ) async throws -> (AccessEntry, AccessToken) {
        try #require(
            try await records.grant(
                on: attachment.id, in: .owner(attachment.tenant), renditions: renditions, for: duration,
                leaseLimit: leaseLimit))
    }
}
