import SatchelCore
import TestSupport
import Testing

@testable import Stores

@Suite struct CategoryRecordsTests {
    let acme = TenantID(rawValue: "acme")
    let other = TenantID(rawValue: "other")

    @Test(arguments: Backend.allCases)
    func `a category is its tenant's, replaced as a whole and deleted once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        let sample = Category.sample("order")
        #expect(try await records.category("order", of: acme) == nil)
        #expect(try await records.putCategory(sample, of: acme))
        #expect(try await records.putCategory(Category(id: "Zebra"), of: acme))
        #expect(try await records.category("order", of: acme) == sample)
        #expect(try await fixture.reopened().records.categories(of: acme) == [Category(id: "Zebra"), sample])

        // The same name is free for another, who finds nothing of it.
        #expect(try await records.category("order", of: other) == nil)
        #expect(try await records.categories(of: other).isEmpty)
        #expect(try await records.deleteCategory("order", of: other) == false)
        #expect(try await records.putCategory(Category(id: "order"), of: other))

        let changed = Category(id: "order", profile: "avatar", actions: [CategoryAction(id: "a", title: "A")])
        #expect(try await records.putCategory(changed, of: acme) == false)
        #expect(try await records.category("order", of: acme) == changed)
        #expect(try await records.category("order", of: other) == Category(id: "order"))
        #expect(try await records.deleteCategory("order", of: acme))
        #expect(try await records.deleteCategory("order", of: acme) == false)
        #expect(try await records.category("order", of: acme) == nil)
        #expect(try await records.categories(of: acme).map(\.id) == ["Zebra"])
        #expect(try await records.categories(of: other).map(\.id) == ["order"])
    }

    @Test(arguments: Backend.allCases)
    func `a tenant has so many categories, however many are added at once`(backend: Backend) async throws {
        let fixture = try Fixture(backend)
        let records = fixture.records
        for number in 1..<CategoryLimits.categories {
            #expect(try await records.putCategory(Category(id: "\(number)"), of: acme))
        }
        let added = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<4 {
                group.addTask { [acme] in
                    (try? await records.putCategory(Category(id: "new-\(number)"), of: acme)) == true
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(added == 1)
        #expect(try await records.categories(of: acme).count == CategoryLimits.categories)
        let refused = await #expect(throws: AttachmentError.self) {
            try await records.putCategory(Category(id: "one-more"), of: acme)
        }
        #expect(refused?.code == .quotaExceeded)
        #expect(try await records.putCategory(.sample("1"), of: acme) == false, "what is there can be replaced")
        #expect(try await records.putCategory(.sample(), of: other), "the limit is a tenant's")
        #expect(try await records.deleteCategory("1", of: acme))
        #expect(try await records.putCategory(Category(id: "one-more"), of: acme))
    }
}
