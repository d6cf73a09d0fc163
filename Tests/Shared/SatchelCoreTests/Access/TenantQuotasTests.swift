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

    @Test func `what nobody sets is bounded for notifications and uploads alone`() {
        let bounded = Quota.allCases.filter { Quotas()[$0] != nil }
        #expect(bounded == [.pendingNotifications, .openUploads])
        #expect(Quotas()[.pendingNotifications] == 100_000 && Quotas()[.openUploads] == 100)
    }
}
