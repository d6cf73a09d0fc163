public import SatchelCore

extension Store {
    /// Removes all that is kept of a tenant, access first. Cut off, it goes on with the next call, or with the next sweep.
    ///
    /// - Parameter limit: Rows that go together.
    public func remove(_ tenant: TenantID, limit: Int = 1000) async throws(AttachmentError) {
        try await records.beginRemoval(of: tenant)
        while try await !records.removePart(of: tenant, limit: limit) {}
        _ = try await records.collectGarbage()
    }

    /// Goes on with removals that were cut off.
    func completeRemovals() async throws(AttachmentError) {
        for tenant in try await records.tenantsInRemoval() {
            while try await !records.removePart(of: tenant, limit: Self.part) {}
        }
    }
}
