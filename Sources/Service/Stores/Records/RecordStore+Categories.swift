public import SatchelCore
internal import Postgres

extension RecordStore {
    /// Records a category, in the place of the tenant's one with its id. What it holds was looked at before.
    ///
    /// - Returns: Whether there was none of that id.
    /// - Throws: `quota_exceeded` for one more than ``CategoryLimits/categories``.
    public func putCategory(_ category: Category, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            // Locked, so that of several who add at once each counts those that were before.
            try work.run(
                "SELECT 1 FROM categories WHERE tenant = $1 ORDER BY id FOR UPDATE", [.raw(tenant)])
            let known = try work.run("SELECT id FROM categories WHERE tenant = $1", [.raw(tenant)])
                .map { try $0.text("id") }
            let isNew = !known.contains(category.id)
            if isNew { try CategoryLimits.admit(known.count) }
            try work.run(
                isNew
                    ? "INSERT INTO categories (tenant, id, body) VALUES ($1, $2, $3)"
                    : "UPDATE categories SET body = $3 WHERE tenant = $1 AND id = $2",
                [.raw(tenant), .text(category.id), try .json(category)])
            return isNew
        }
    }

    /// Nil where there is none.
    public func category(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Category? {
        try await read { work in try work.categories([id], of: tenant)[id] }
    }

    /// All of a tenant's, by their ids.
    public func categories(of tenant: TenantID) async throws(AttachmentError) -> [Category] {
        try await read { work in
            try work.run(
                "SELECT body FROM categories WHERE tenant = $1 ORDER BY id", [.raw(tenant)]
            ).map { try $0.json("body") }
        }
    }

    /// Deletes a category; false where there is none of that id. Idempotent.
    public func deleteCategory(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { work in
            try work.run(
                "DELETE FROM categories WHERE tenant = $1 AND id = $2", [.raw(tenant), .text(id)]
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
            [.raw(tenant), .texts(Array(ids))]
        ).reduce(into: [:]) { found, row in
            let category: Category = try row.json("body")
            found[category.id] = category
        }
    }
}
