/// What the bearer of an API key may do within its tenant.
public enum AccessRole: String, Hashable, Sendable, Codable, CaseIterable {
    case submit
    case read
    case admin

    /// What it permits. The help, the API description and docs/http-api.md use these words.
    public var permission: String {
        switch self {
        case .submit:
            "submits, follows, cancels, retries and deletes jobs, and prepares push payloads. It creates, fires and removes notifications, opens and cancels uploads, creates and deletes categories, and repeats calls. It reads jobs, attachments, notifications, firings, uploads, categories and calls by ID, deletes attachments, and checks triggers"
        case .read:
            "lists and reads jobs, attachments, failures, uploads, profiles, notifications, firings, responses, categories, calls and the overview. It follows jobs and checks triggers. It starts and stops leases, creates and revokes grants, and creates and deletes previews"
        case .admin:
            "can do everything that the other roles can. It also creates, lists, rotates and revokes API keys, reads and rotates signing secrets, lists the audit log, and reads the metrics"
        }
    }

    /// Of a key for which nothing else is said.
    public static let standard: [AccessRole] = [.submit, .read]

    /// Whether this role includes what `other` may do.
    public func includes(_ other: AccessRole) -> Bool {
        self == .admin || self == other
    }
}

/// An API key as the store has it: of the secret only a hash.
public struct APIKeyRecord: Hashable, Sendable, Codable {
    /// The id in the key; not secret.
    public var id: String
    public var tenant: TenantID
    /// For people.
    public var name: String
    public var roles: [AccessRole]
    public var createdAt: Instant
    @Nullable public var expiresAt: Instant?
    @Nullable public var revokedAt: Instant?

    public init(
        id: String, tenant: TenantID, name: String, roles: [AccessRole], createdAt: Instant, expiresAt: Instant?,
        revokedAt: Instant?
    ) {
        self.id = id
        self.tenant = tenant
        self.name = name
        self.roles = roles
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    /// Whether the bearer may do what `role` stands for.
    public func may(_ role: AccessRole) -> Bool {
        roles.contains { $0.includes(role) }
    }
}

/// What a tenant may use at the most; nil for no bound.
public struct Quotas: Hashable, Sendable, Codable {
    /// Bytes of all renditions that are kept. Two references to the same bytes count twice.
    public var storedBytes: Int64?
    /// Jobs that are not finished.
    public var pendingJobs: Int?
    /// Leases that live.
    public var liveLeases: Int?
    /// Submissions within a minute.
    public var submissionsPerMinute: Int?
    /// Notifications that are to fire.
    public var pendingNotifications: Int?
    /// Uploads that take bytes.
    public var openUploads: Int?
    /// Bytes of uploads that belong to no job yet, and some for each open one: see ``UploadUsage``.
    public var uploadBytes: Int64?

    public init(
        storedBytes: Int64? = nil, pendingJobs: Int? = nil, liveLeases: Int? = nil, submissionsPerMinute: Int? = nil,
        pendingNotifications: Int? = 100_000, openUploads: Int? = 100, uploadBytes: Int64? = nil
    ) {
        self.storedBytes = storedBytes
        self.pendingJobs = pendingJobs
        self.liveLeases = liveLeases
        self.submissionsPerMinute = submissionsPerMinute
        self.pendingNotifications = pendingNotifications
        self.openUploads = openUploads
        self.uploadBytes = uploadBytes
    }

    /// For what was admitted before.
    public static let unbounded = Quotas(pendingNotifications: nil, openUploads: nil)
}

/// What a tenant uses of its ``Quotas``.
public struct TenantUsage: Hashable, Sendable, Codable {
    public var storedBytes: Int64
    /// Jobs of the service that are not finished.
    public var pendingJobs: Int
    public var liveLeases: Int

    public init(storedBytes: Int64 = 0, pendingJobs: Int = 0, liveLeases: Int = 0) {
        self.storedBytes = storedBytes
        self.pendingJobs = pendingJobs
        self.liveLeases = liveLeases
    }
}
