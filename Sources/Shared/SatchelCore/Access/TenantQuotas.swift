/// One of the ``Quotas``, by the name that settings call it.
public enum Quota: String, Hashable, Sendable, CaseIterable {
    case storedBytes = "stored_bytes"
    case pendingJobs = "pending_jobs"
    case liveLeases = "live_leases"
    case submissionsPerMinute = "submissions_per_minute"
    case pendingNotifications = "pending_notifications"
    case openUploads = "open_uploads"
    case uploadBytes = "upload_bytes"
}

/// What is counted where there can be only so much, in words.
public enum QuotaSubject: String, Hashable, Sendable, Codable, CaseIterable {
    case storedBytes = "stored bytes", pendingJobs = "pending jobs", pendingNotifications = "pending notifications"
    case activeLeases = "active leases", leasesOfGrant = "leases of this grant", openUploads = "open uploads"
    case uploadBytes = "bytes of uploads", categories, signingSecrets = "active signing secrets"

    /// - Throws: `quota_exceeded` where there can't be one more.
    public func admit(_ used: Int, of allowed: Int) throws(AttachmentError) {
        guard used < allowed else { throw .quotaExceeded(self, used: Int64(used), allowed: Int64(allowed)) }
    }

    /// Whether it becomes less within minutes, without anyone doing anything.
    public var passes: Bool { [.pendingJobs, .activeLeases, .leasesOfGrant].contains(self) }
}

extension Quotas {
    /// Nil for no bound.
    public subscript(quota: Quota) -> Int64? {
        get {
            switch quota {
            case .storedBytes: storedBytes
            case .pendingJobs: pendingJobs.map { Int64($0) }
            case .liveLeases: liveLeases.map { Int64($0) }
            case .submissionsPerMinute: submissionsPerMinute.map { Int64($0) }
            case .pendingNotifications: pendingNotifications.map { Int64($0) }
            case .openUploads: openUploads.map { Int64($0) }
            case .uploadBytes: uploadBytes
            }
        }
        set {
            let count = newValue.map { Int(clamping: $0) }
            switch quota {
            case .storedBytes: storedBytes = newValue
            case .pendingJobs: pendingJobs = count
            case .liveLeases: liveLeases = count
            case .submissionsPerMinute: submissionsPerMinute = count
            case .pendingNotifications: pendingNotifications = count
            case .openUploads: openUploads = count
            case .uploadBytes: uploadBytes = newValue
            }
        }
    }
}

/// Divides among tenants what they use together.
///
/// A tenant gets no more than three times what it leaves free. So one tenant gets three quarters of all, two get three
/// sevenths each, and a tenant that comes later finds room (dynamic thresholds: Choudhury and Hahn, 1998).
public enum TenantShare {
    /// Whether a tenant that holds `own` may take `wanted` of what is `free`. A tenant that holds nothing may take all of it.
    public static func allows<Amount: BinaryInteger>(_ wanted: Amount, beside own: Amount, of free: Amount) -> Bool {
        wanted <= free && (own + 2) / 3 <= free - wanted
    }
}

/// What each tenant may use at the most: the same for all, but for single quotas of some.
public struct TenantQuotas: Hashable, Sendable {
    /// What replaces single quotas; nil for no bound.
    public typealias Exceptions = [Quota: Int64?]

    public var common: Quotas
    public var exceptions: [TenantID: Exceptions]

    public init(_ common: Quotas = Quotas(), except exceptions: [TenantID: Exceptions] = [:]) {
        self.common = common
        self.exceptions = exceptions
    }

    public subscript(tenant: TenantID) -> Quotas {
        var quotas = common
        for (quota, bound) in exceptions[tenant] ?? [:] { quotas[quota] = bound }
        return quotas
    }
}
