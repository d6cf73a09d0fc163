public import SatchelCore
internal import GRDB

extension SQLiteRecordStore {
    public func signingNumbers(of tenant: TenantID) async throws(AttachmentError) -> [SigningNumber] {
        try await read { database, now in try database.signingNumbers(of: tenant).live(at: now) }
    }

    public func rotateSigningNumber(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningNumber] {
        try await write { database, now in
            var numbers = try database.signingNumbers(of: tenant)
            try numbers.rotate(overlap: overlap, at: now)
            try database.run(
                """
                INSERT INTO tenants (tenant, signing) VALUES (?, ?)
                ON CONFLICT (tenant) DO UPDATE SET signing = excluded.signing
                """, [tenant.rawValue, Column.text(numbers)])
            try database.note(.rotated(numbers.all, of: tenant), at: now)
            return numbers.live(at: now)
        }
    }
}

extension Database {
    fileprivate func signingNumbers(of tenant: TenantID) throws -> SigningNumbers {
        try texts("SELECT signing FROM tenants WHERE tenant = ? AND signing IS NOT NULL", [tenant.rawValue]).first
            .map { try Column.value(SigningNumbers.self, from: $0) } ?? SigningNumbers()
    }
}
