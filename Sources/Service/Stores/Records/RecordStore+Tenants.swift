public import SatchelCore
internal import Postgres

extension RecordStore {
    /// What the secrets of its webhooks are derived with, as far as they are good now; the current one first.
    public func signingNumbers(of tenant: TenantID) async throws(AttachmentError) -> [SigningNumber] {
        try await read { work in
            let row = try work.run("SELECT signing FROM tenants WHERE tenant = $1", [.raw(tenant)]).first
            return try (row?.signing() ?? SigningNumbers()).live(at: work.now)
        }
    }

    /// Puts another in front; what was good stays so for `overlap`.
    ///
    /// - Returns: Those that are good now.
    /// - Throws: `quota_exceeded` where too many would be good at once.
    public func rotateSigningNumber(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningNumber] {
        try await write { work in
            // A row to lock, so that of several who rotate at once each finds what the other made.
            try work.run(
                "INSERT INTO tenants (tenant) VALUES ($1) ON CONFLICT DO NOTHING", [.raw(tenant)])
            let row = try work.run(
                "SELECT signing FROM tenants WHERE tenant = $1 FOR UPDATE", [.raw(tenant)]
            ).first
            var numbers = try row?.signing() ?? SigningNumbers()
            try numbers.rotate(overlap: overlap, at: work.now)
            try work.run(
                "UPDATE tenants SET signing = $2 WHERE tenant = $1",
                [.raw(tenant), try .json(numbers)])
            work.note(.rotated(numbers.all, of: tenant))
            return numbers.live(at: work.now)
        }
    }
}

extension RecordRow {
    fileprivate func signing() throws -> SigningNumbers {
        try optionalJSON("signing") ?? SigningNumbers()
    }
}
