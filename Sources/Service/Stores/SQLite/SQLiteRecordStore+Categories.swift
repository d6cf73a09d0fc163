public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func putCategory(_ category: Category, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, _ in
            let isNew = try database.category(category.id, of: tenant) == nil
            if isNew {
                let count = try database.number("SELECT count(*) FROM categories WHERE tenant = ?", [tenant.rawValue])
                try CategoryLimits.admit(Int(count ?? 0))
            }
            try database.run(
                """
                INSERT INTO categories (tenant, id, body) VALUES (?, ?, ?)
                ON CONFLICT (tenant, id) DO UPDATE SET body = excluded.body
                """,
                [tenant.rawValue, category.id, Column.text(category)])
            return isNew
        }
    }

    public func category(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Category? {
        try await read { database, _ in try database.category(id, of: tenant) }
    }

    public func categories(of tenant: TenantID) async throws(AttachmentError) -> [Category] {
        try await read { database, _ in
            try database.texts("SELECT body FROM categories WHERE tenant = ? ORDER BY id", [tenant.rawValue])
                .map { try Column.value(Category.self, from: $0) }
        }
    }

    public func deleteCategory(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool {
        try await write { database, _ in
            try database.run("DELETE FROM categories WHERE tenant = ? AND id = ?", [tenant.rawValue, id])
            return database.changesCount > 0
        }
    }
}

extension Database {
    func category(_ id: String, of tenant: TenantID) throws -> Category? {
        try texts("SELECT body FROM categories WHERE tenant = ? AND id = ?", [tenant.rawValue, id]).first
            .map { try Column.value(Category.self, from: $0) }
    }
}
