/// The categories of all tenants.
public protocol CategoryRecords: Sendable {
    /// Records a category, in the place of the tenant's one with its id. What it holds was looked at before.
    ///
    /// - Returns: Whether there was none of that id.
    /// - Throws: `quota_exceeded` for one more than ``CategoryLimits/categories``.
    func putCategory(_ category: Category, of tenant: TenantID) async throws(AttachmentError) -> Bool

    /// Nil where there is none.
    func category(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Category?

    /// All of a tenant's, by their ids.
    func categories(of tenant: TenantID) async throws(AttachmentError) -> [Category]

    /// Deletes a category; false where there is none of that id. Idempotent.
    func deleteCategory(_ id: String, of tenant: TenantID) async throws(AttachmentError) -> Bool
}

extension CategoryLimits {
    /// - Parameter count: Of the categories that a tenant has.
    /// - Throws: `quota_exceeded` where there can't be one more.
    public static func admit(_ count: Int) throws(AttachmentError) {
        try QuotaSubject.categories.admit(count, of: categories)
    }
}
