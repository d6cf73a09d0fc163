public import SatchelCore
internal import HashTreeCollections

extension MemoryRecordStore {
    public func putCategory(_ category: Category, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { tables, _ in
            let known = tables.categories[tenant] ?? [:]
            if known[category.id] == nil { try CategoryLimits.admit(known.count) }
            tables.categories[tenant, default: [:]][category.id] = category
            return known[category.id] == nil
        }
    }

    public func category(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Category? {
        read { tables, _ in tables.categories[tenant]?[id] }
    }

    public func categories(of tenant: TenantID) async throws(AttachmentError) -> [Category] {
        read { tables, _ in (tables.categories[tenant] ?? [:]).values.sorted { $0.id < $1.id } }
    }

    public func deleteCategory(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { tables, _ in tables.categories[tenant]?.removeValue(forKey: id) != nil }
    }
}
