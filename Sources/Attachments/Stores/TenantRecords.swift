/// What is known of a tenant as a whole.
public protocol TenantRecords: Sendable {
    /// What the secrets of its webhooks are derived with, as far as they are good now; the current one first.
    func signingNumbers(of tenant: TenantID) async throws(AttachmentError) -> [SigningNumber]

    /// Puts another in front; what was good stays so for `overlap`.
    ///
    /// - Returns: Those that are good now.
    /// - Throws: `quota_exceeded` where too many would be good at once.
    func rotateSigningNumber(
        of tenant: TenantID, overlap: Duration
    ) async throws(AttachmentError) -> [SigningNumber]
}
