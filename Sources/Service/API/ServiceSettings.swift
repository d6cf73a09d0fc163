public import SatchelCore
public import HTTPServer

/// What an operator decides about the service; every value has a default.
public struct ServiceSettings: Sendable {
    /// Where content URLs begin: `https://media.example.com`, without a slash at the end. Never taken from `Host`.
    public var publicURL: String
    public var role = NodeRole.all
    /// Whether a request needs an API key. Only a service on loopback may do without.
    public var keysRequired = true
    /// Content is answered with `X-Accel-Redirect` beneath this prefix, such as `/satchel-blobs/`; nil sends the bytes.
    public var accelPrefix: String?
    public var contentRedirect = ContentRedirect.off
    /// Bytes of small renditions that are kept in memory, where the store's are on another machine; 0: none.
    public var cacheBytes: Int64 = 64 << 20
    public var limits = Limits.service
    public var quotas = Quotas()
    /// What replaces single ``quotas`` for one tenant.
    public var quotaExceptions: [TenantID: TenantQuotas.Exceptions] = [:]
    public var intake = IntakeLimits()
    public var connections = ConnectionLimits()
    /// The files that connections may need: one for each, and one more for each upload.
    public var openConnections: Int { connections.connections + intake.uploads }
    /// APNs category → profile.
    public var categories: [String: String] = [:]
    /// JSON pointers to media URLs in push payloads, beside the known conventions.
    public var payloadPointers: [String] = []
    /// Whether there is a console, on loopback or with TLS.
    public var hasConsole = true
    /// Whether `/metrics` answers without an API key.
    public var metricsArePublic = false
    /// Whether each request is logged, by its route's template.
    public var logsRequests = false
    /// A follower of a job that heard nothing for so long is sent a comment, so that nobody between takes the connection
    /// for dead.
    public var heartbeat: Duration = .seconds(15)
    /// Seconds a lease of a finished job's answer lasts where the submission doesn't say.
    public var leaseTTL: Double = 300

    public var uploads = UploadSettings()
    /// Origins whose pages may read content, such as `https://app.example.com`; `*` for all.
    public var contentOrigins: [String] = []

    /// The quotas, with half of the queue and of the spool for tenants of which no setting says otherwise.
    var tenantQuotas: TenantQuotas {
        var common = quotas
        common.pendingJobs = common.pendingJobs ?? max(1, intake.queue / 2)
        common.uploadBytes = common.uploadBytes ?? intake.spoolBytes / 2
        return TenantQuotas(common, except: quotaExceptions)
    }

    /// How a tenant's submissions are taken.
    func submissions(of tenant: TenantID) -> SubmissionOptions {
        SubmissionOptions(quotas: tenantQuotas[tenant], queueLimit: intake.queue)
    }

    public init(publicURL: String) {
        self.publicURL = publicURL
    }
}

/// Whether clients are sent to where a store of another machine keeps the bytes.
public enum ContentRedirect: String, Hashable, Sendable, CaseIterable {
    case off
    /// With links of ``DeliveryMode/shared`` alone: what was given out is good for a minute, whatever is taken back.
    case shared
}

/// How uploads are spoken of to whoever sends them.
public struct UploadSettings: Hashable, Sendable {
    /// Whether interim responses (104) tell where an upload is and how far it has come.
    public enum Interim: String, Hashable, Sendable, CaseIterable {
        case on
        /// Where no proxy is known to be between: some take the first answer of 1xx for the last.
        case auto
        case off
    }

    public var interim = Interim.auto
    /// Origins whose pages may upload; `*` for all.
    public var origins = ["*"]

    public init() {}
}

/// How much may be waiting.
public struct IntakeLimits: Hashable, Sendable {
    /// Jobs of all tenants that wait, at most.
    public var queue = 10_000
    /// Bytes of uploads that are being received or wait in the spool, at most.
    public var spoolBytes: Int64 = 20_000_000_000
    /// Below this many free bytes on the store's disk nothing is taken: 507.
    public var freeBytes: Int64 = 1_000_000_000
    /// Bytes of a JSON body.
    public var jsonBytes = 1 << 20
    /// Requests whose body is being received, at most.
    public var uploads = 256

    public init() {}
}
