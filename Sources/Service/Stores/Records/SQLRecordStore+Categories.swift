public import SatchelCore
internal import Postgres

extension SQLRecordStore {
    public func putCategory(_ category: Category, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            // Locked, so that of several who add at once each counts those that were before.
            try work.run(
                "SELECT 1 FROM categories WHERE tenant = $1 ORDER BY id FOR UPDATE", [.text(tenant.rawValue)])
            let known = try work.run("SELECT id FROM categories WHERE tenant = $1", [.text(tenant.rawValue)])
                .map { try $0.text("id") }
            let isNew = !known.contains(category.id)
            if isNew { try CategoryLimits.admit(known.count) }
            try work.run(
                isNew
                    ? "INSERT INTO categories (tenant, id, body) VALUES ($1, $2, $3)"
                    : "UPDATE categories SET body = $3 WHERE tenant = $1 AND id = $2",
                [.text(tenant.rawValue), .text(category.id), .text(try Column.text(category))])
            return isNew
        }
    }

    public func category(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Category? {
        try await read { work in try work.categories([id], of: tenant)[id] }
    }

    public func categories(of tenant: TenantID) async throws(AttachmentError) -> [Category] {
        try await read { work in
            try work.run(
                "SELECT body FROM categories WHERE tenant = $1 ORDER BY id", [.text(tenant.rawValue)]
            ).map { try Column.value(Category.self, from: $0.text("body")) }
        }
    }

    public func deleteCategory(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            try work.run(
                "DELETE FROM categories WHERE tenant = $1 AND id = $2", [.text(tenant.rawValue), .text(id)]
            ).changes > 0
        }
    }
}

extension RecordTransaction {
    /// Those that are there, by their ids.
    func categories(_ ids: Set<String>, of tenant: TenantID) throws -> [String: Category] {
        guard !ids.isEmpty else { return [:] }
        return try run(
            "SELECT body FROM categories WHERE tenant = $1 AND id = ANY($2::text[])",
            [.text(tenant.rawValue), .texts(Array(ids))]
        ).reduce(into: [:]) { found, row in
            let category = try Column.value(Category.self, from: row.text("body"))
            found[category.id] = category
        }
    }
}
