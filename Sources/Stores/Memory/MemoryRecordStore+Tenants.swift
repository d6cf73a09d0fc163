public import Attachments
internal import HashTreeCollections

extension MemoryRecordStore {
    public func signingNumbers(of tenant: TenantID) async throws(AttachmentError) -> [SigningNumber] {
        read { tables, now in (tables.signing[tenant] ?? SigningNumbers()).live(at: now) }
    }

    public func rotateSigningNumber(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningNumber] {
        try await write { tables, now in
            var numbers = tables.signing[tenant] ?? SigningNumbers()
            try numbers.rotate(overlap: overlap, at: now)
            tables.signing[tenant] = numbers
            tables.note(.rotated(numbers.all, of: tenant), at: now)
            return numbers.live(at: now)
        }
    }
}
