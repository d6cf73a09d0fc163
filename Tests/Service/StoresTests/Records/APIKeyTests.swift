import SatchelCore
import TestSupport
import Testing

@testable import Stores

@Suite struct APIKeyTests {
    let acme = TenantID(rawValue: "acme")

    @Test(arguments: Backend.allCases)
    func `a key stands for its tenant and roles until it expires or is revoked`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        #expect(try await !records.hasKeys())
        let (mortal, mortalToken) = try await records.createKey(
            named: "ci", for: acme, roles: [.submit, .read], lasting: .seconds(60))
        let (key, token) = try await records.createKey(named: "ops", for: acme, roles: [.admin], lasting: nil)
        #expect(token.secretText.hasPrefix("satk_"))
        #expect(try await records.authenticate(token) == key)
        #expect(try await fixture.reopened().records.authenticate(mortalToken) == mortal)
        #expect(mortal.expiresAt == fixture.clock.now + .seconds(60))
        fixture.clock.advance(.seconds(60))
        #expect(try await records.authenticate(mortalToken) == nil)
        #expect(try await records.hasKeys())
        #expect(try await records.revokeKey(key.id))
        #expect(try await records.revokeKey(key.id), "again is fine")
        #expect(try await records.authenticate(token) == nil)
        #expect(try await !records.hasKeys())
        #expect(try await records.revokeKey("unknown") == false)
        #expect(Set(try await records.keys(of: nil).map(\.revokedAt)) == [fixture.clock.now, nil])
        #expect(try await records.keys(of: .local).isEmpty)
        fixture.clock.advance(.seconds(90 * 86_400))
        _ = try await fixture.store.sweep()
        #expect(try await records.keys(of: nil).isEmpty)
    }

    @Test(arguments: Backend.allCases)
    func `keys are listed newest first, a tenant's or all`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        var ids: [String] = []
        for tenant in [acme, .local, acme] {
            fixture.clock.advance(.seconds(1))
            ids.append(
                try await fixture.records.createKey(named: "", for: tenant, roles: [.read], lasting: nil).0.id)
        }
        #expect(try await fixture.records.keys(of: nil).map(\.id) == ids.reversed())
        #expect(try await fixture.records.keys(of: acme).map(\.id) == [ids[2], ids[0]])
    }

    @Test(arguments: Backend.allCases)
    func `a rotated key and its successor are both good for the overlap`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let (old, oldToken) = try await records.createKey(
            named: "ci", for: acme, roles: [.read], lasting: .seconds(100))
        let rotated = try await records.rotateKey(old.id, overlap: .seconds(30))
        let (new, newToken) = try #require(rotated)
        #expect(new.id != old.id)
        #expect((new.name, new.tenant, new.roles) == ("ci", acme, [.read]))
        #expect(new.expiresAt == old.expiresAt)
        fixture.clock.advance(.seconds(29))
        #expect(try await records.authenticate(oldToken)?.id == old.id)
        fixture.clock.advance(.seconds(1))
        #expect(try await records.authenticate(oldToken) == nil)
        #expect(try await records.authenticate(newToken) == new)
        #expect(try await records.rotateKey(old.id, overlap: .zero) == nil)
        // An overlap never prolongs.
        _ = try await records.rotateKey(new.id, overlap: .seconds(1000))
        fixture.clock.advance(.seconds(70))
        #expect(try await records.authenticate(newToken) == nil)
        #expect(try await records.rotateKey("unknown", overlap: .zero) == nil)
    }

    @Test(arguments: Backend.allCases)
    func `a tenant takes back and rotates its own keys alone`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let (key, token) = try await records.createKey(named: "ci", for: acme, roles: [.read], lasting: nil)
        #expect(try await records.revokeKey(key.id, of: .local) == false)
        #expect(try await records.rotateKey(key.id, of: .local, overlap: .zero) == nil)
        #expect(try await records.authenticate(token) == key)
        #expect(try await records.keys(of: acme) == [key])
        let (_, next) = try #require(try await records.rotateKey(key.id, of: acme, overlap: .seconds(60)))
        #expect(try await records.revokeKey(key.id, of: acme))
        #expect(try await records.authenticate(token) == nil)
        #expect(try await records.authenticate(next)?.name == "ci")
    }

    @Test(arguments: Backend.allCases)
    func `pages of a tenant's keys are its list, in the same order`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        for number in 0..<7 {
            // Some are made in the same moment.
            if number % 3 == 0 { fixture.clock.advance(.seconds(1)) }
            for tenant in [acme, .local] {
                _ = try await fixture.records.createKey(named: "", for: tenant, roles: [.read], lasting: nil)
            }
        }
        let all = try await fixture.records.keys(of: acme).map(\.id)
        for limit in [1, 2, 7, 8] {
            var (listed, pages): ([String], Int) = ([], 0)
            var cursor: String?
            repeat {
                let page = try await fixture.records.keys(of: acme, after: cursor, limit: limit)
                listed += page.elements.map(\.id)
                pages += 1
                cursor = page.next
            } while cursor != nil
            #expect(listed == all && pages == (7 + limit - 1) / limit, "by \(limit)")
        }
        let first = try await fixture.records.keys(of: acme, after: "nonsense", limit: 9).elements
        #expect(first.map(\.id) == all)
    }

    @Test(arguments: Backend.allCases)
    func `nothing but the whole key opens anything`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let (key, token) = try await fixture.records.createKey(named: "", for: acme, roles: [.admin], lasting: nil)
        let secret = [UInt8](repeating: 7, count: 32)
        let wrong = [
            "", "nonsense", String(token.secretText.dropLast()),
            TokenFormat.compose(.apiKey, id: key.id, secret: secret),
            TokenFormat.compose(.apiKey, id: TokenFormat.newID(), secret: secret),
            TokenFormat.compose(.grant, id: key.id, secret: secret),
        ]
        for text in wrong {
            #expect(try await fixture.records.authenticate(AccessToken(secretText: text)) == nil)
        }
        #expect(try await fixture.records.grant(of: token) == nil)
        #expect(try await fixture.records.open(token, role: .main) == nil)
        try fixture.expectNowhere(token.secretText)
        try fixture.expectNowhere(String(token.secretText.dropFirst(27).prefix(43)))
    }
}
