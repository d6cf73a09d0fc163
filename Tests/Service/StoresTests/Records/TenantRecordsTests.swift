import SatchelCore
import TestSupport
import Testing

@testable import Stores

@Suite struct TenantRecordsTests {
    let acme = TenantID(rawValue: "acme")

    @Test(arguments: Backend.allCases)
    func `secrets are rotated for one tenant, and both are good for the overlap`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        let old = try await store.webhookSecrets(of: acme).first?.secret
        let others = try await store.webhookSecrets(of: .local)
        let rotated = try await store.rotateWebhookSecret(of: acme, overlap: .seconds(60))
        #expect(rotated.count == 2 && rotated[1].secret == old && rotated[0].secret != old)
        #expect(rotated.map(\.endsAt) == [nil, fixture.clock.now + .seconds(60)])
        #expect(Set(rotated.map(\.id)).count == 2)
        #expect(try await fixture.reopened().webhookSecrets(of: acme) == rotated)
        #expect(try await store.webhookSecrets(of: .local) == others)
        fixture.clock.advance(.seconds(60))
        #expect(try await store.webhookSecrets(of: acme) == [rotated[0]])
        for secret in rotated { try fixture.expectNowhere(secret.secret.text) }
    }

    @Test(arguments: Backend.allCases)
    func `of several who rotate at once each makes another, as far as there may be so many`(
        backend: Backend
    ) async throws {
        let fixture = try Fixture(backend)
        let store = fixture.store
        let made = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<7 {
                group.addTask { [acme] in
                    try? await store.rotateWebhookSecret(of: acme, overlap: .seconds(60)).first?.id
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let ids = made.compactMap(\.self)
        #expect(ids.count == SigningNumbers.most - 1 && Set(ids).count == ids.count)
        #expect(try await store.webhookSecrets(of: acme).count == SigningNumbers.most)
        let refused = await #expect(throws: AttachmentError.self) {
            try await store.rotateWebhookSecret(of: acme, overlap: .seconds(60))
        }
        #expect(refused?.code == .quotaExceeded)
    }

    /// A tenant may be called as anybody likes.
    @Test func `no tenant's secret is another's, whatever its number`() async throws {
        let fixture = try Fixture(.memory)
        let store = fixture.store
        var secrets: Set<WebhookSecret> = []
        var count = 0
        for name in ["a", "1:a", "/1:a", "callback:a", "callback/1:a", "2:1:a"] {
            let tenant = TenantID(rawValue: name)
            for _ in 0..<2 { _ = try await store.rotateWebhookSecret(of: tenant, overlap: .seconds(60)) }
            let live = try await store.webhookSecrets(of: tenant)
            secrets.formUnion(live.map(\.secret))
            count += live.count
        }
        #expect(count == 18 && secrets.count == 18)
    }
}
