import SatchelCore
import Testing

@Suite struct TenantQuotasTests {
    @Test(arguments: Quota.allCases)
    func `one quota is replaced for one tenant, and no other for anybody`(quota: Quota) {
        var common = Quotas()
        for (index, other) in Quota.allCases.enumerated() { common[other] = Int64(100 + index) }
        let (acme, bare) = (TenantID(rawValue: "acme"), TenantID(rawValue: "bare"))
        let quotas = TenantQuotas(common, except: [acme: [quota: 7], bare: [quota: nil]])
        #expect(quotas[acme][quota] == 7 && quotas[bare][quota] == nil)
        #expect(quotas[.local] == common)
        for other in Quota.allCases where other != quota {
            #expect(quotas[acme][other] == common[other] && quotas[bare][other] == common[other])
        }
    }

    @Test(arguments: 1...5) func `tenants that want all get equal shares, and leave room for another`(tenants: Int) {
        for size in 4 * tenants...200 {
            var held = Array(repeating: 0, count: tenants)
            for turn in 0..<size * tenants {
                let own = held[turn % tenants]
                if TenantShare.allows(1, beside: own, of: size - held.reduce(0, +)) { held[turn % tenants] += 1 }
            }
            let free = size - held.reduce(0, +)
            #expect(held.allSatisfy { abs($0 - 3 * size / (1 + 3 * tenants)) <= 1 }, "\(held) of \(size)")
            #expect(free > 0 && TenantShare.allows(free, beside: 0, of: free))
            #expect(!TenantShare.allows(free + 1, beside: 0, of: free))
        }
    }

    @Test func `what nobody sets is bounded for notifications and uploads alone`() {
        let bounded = Quota.allCases.filter { Quotas()[$0] != nil }
        #expect(bounded == [.pendingNotifications, .openUploads])
        #expect(Quotas()[.pendingNotifications] == 100_000 && Quotas()[.openUploads] == 100)
    }
}
