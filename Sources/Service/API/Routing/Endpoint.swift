import SatchelCore
import HTTPTypes

/// One call of the API: what the router answers, what the OpenAPI document lists, and who may use it.
struct Endpoint: Hashable, Sendable {
    /// Who may use an endpoint.
    enum Access: Hashable, Sendable {
        case anyone
        /// Whoever has an API key with one of these roles; an administrator's includes them all.
        case key([AccessRole])
        /// The same, or whoever has a grant.
        case keyOrGrant([AccessRole])
        /// Whoever has a grant.
        case grant
    }

    var method: HTTPRequest.Method
    /// With parameters in braces: `/v1/jobs/{id}`.
    var path: String
    var access: Access
    /// Whether it takes new work, which a service that is about to end refuses.
    var startsWork: Bool

    init(_ method: HTTPRequest.Method, _ path: String, _ access: Access, startsWork: Bool = false) {
        self.method = method
        self.path = path
        self.access = access
        self.startsWork = startsWork
    }

    /// Whether it is about this node alone, and not about the store that it shares: which a worker answers too.
    var isOperational: Bool { [.alive, .ready, .metrics].contains(self) }

    /// As people write it: `GET /v1/jobs/{id}`.
    var name: String { "\(method.rawValue) \(path)" }

    /// Whether a key of this role alone may use it.
    func permits(_ role: AccessRole) -> Bool {
        switch access {
        case .anyone: true
        case .key(let roles), .keyOrGrant(let roles): roles.contains(where: role.includes)
        case .grant: false
        }
    }
}

/// What each role may do: a key that submits may also look at what it made, by its id; lists, leases and grants are a
/// reader's. ``AccessRole/permission`` says it in words.
extension Endpoint {
    static let submitJob = Endpoint(.post, "/v1/jobs", .key([.submit]), startsWork: true)
    static let putJob = Endpoint(.put, "/v1/jobs/{id}", .key([.submit]), startsWork: true)
    static let listJobs = Endpoint(.get, "/v1/jobs", .key([.read]))
    static let job = Endpoint(.get, "/v1/jobs/{id}", .key([.submit, .read]))
    static let jobEvents = Endpoint(.get, "/v1/jobs/{id}/events", .key([.submit, .read]))
    static let deleteJob = Endpoint(.delete, "/v1/jobs/{id}", .key([.submit]))
    static let retryJob = Endpoint(.post, "/v1/jobs/{id}/retry", .key([.submit]), startsWork: true)
    static let retryJobs = Endpoint(.post, "/v1/jobs/retry", .key([.submit]), startsWork: true)
    static let overview = Endpoint(.get, "/v1/overview", .key([.read]))
    static let failures = Endpoint(.get, "/v1/failures", .key([.read]))
    static let attachmentAccess = Endpoint(.get, "/v1/attachments/{id}/access", .key([.read]))
    static let replayWebhook = Endpoint(.post, "/v1/jobs/{id}/callback", .key([.submit]))
    static let listCalls = Endpoint(.get, "/v1/calls", .key([.read]))
    static let call = Endpoint(.get, "/v1/calls/{id}", .key([.submit, .read]))
    static let replayCall = Endpoint(.post, "/v1/calls/{id}/replay", .key([.submit]))
    static let listAttachments = Endpoint(.get, "/v1/attachments", .key([.read]))
    static let attachment = Endpoint(.get, "/v1/attachments/{id}", .key([.submit, .read]))
    static let deleteAttachment = Endpoint(.delete, "/v1/attachments/{id}", .key([.submit]))
    static let startLease = Endpoint(.post, "/v1/leases", .keyOrGrant([.read]))
    static let lease = Endpoint(.get, "/v1/leases/{id}", .keyOrGrant([.read]))
    static let renewLease = Endpoint(.put, "/v1/leases/{id}", .keyOrGrant([.read]))
    static let stopLease = Endpoint(.delete, "/v1/leases/{id}", .keyOrGrant([.read]))
    static let grant = Endpoint(.post, "/v1/attachments/{id}/grants", .key([.read]))
    static let narrowGrant = Endpoint(.post, "/v1/grants/{id}/grants", .keyOrGrant([.read]))
    static let revokeGrant = Endpoint(.delete, "/v1/grants/{id}", .keyOrGrant([.read]))
    static let createKey = Endpoint(.post, "/v1/keys", .key([.admin]))
    static let listKeys = Endpoint(.get, "/v1/keys", .key([.admin]))
    static let revokeKey = Endpoint(.delete, "/v1/keys/{id}", .key([.admin]))
    static let rotateKey = Endpoint(.post, "/v1/keys/{id}/rotate", .key([.admin]))
    static let webhookSecrets = Endpoint(.get, "/v1/webhook-secrets", .key([.admin]))
    static let rotateWebhookSecret = Endpoint(.post, "/v1/webhook-secrets/rotate", .key([.admin]))
    static let listAudit = Endpoint(.get, "/v1/audit", .key([.admin]))
    static let content = Endpoint(.get, "/c/{token}/{name}", .anyone)
    static let contentHead = Endpoint(.head, "/c/{token}/{name}", .anyone)
    static func enrichPayload(_ format: PayloadFormat) -> Endpoint {
        Endpoint(.post, "/v1/payloads/\(format.rawValue)", .key([.submit]), startsWork: true)
    }
    static let checkTrigger = Endpoint(.post, "/v1/triggers/check", .key([.submit, .read]))
    static let openUpload = Endpoint(.post, "/v1/uploads", .key([.submit]), startsWork: true)
    static let uploadOptions = Endpoint(.options, "/v1/uploads", .anyone)
    static let listUploads = Endpoint(.get, "/v1/uploads", .key([.read]))
    static let upload = Endpoint(.get, "/v1/uploads/{id}", .key([.submit, .read]))
    static let deleteUpload = Endpoint(.delete, "/v1/uploads/{id}", .key([.submit]))
    static let sendOptions = Endpoint(.options, "/u/{ticket}", .anyone)
    static let sendHead = Endpoint(.head, "/u/{ticket}", .anyone)
    static let sendOffset = Endpoint(.get, "/u/{ticket}", .anyone)
    static let sendWhole = Endpoint(.put, "/u/{ticket}", .anyone)
    static let sendNew = Endpoint(.post, "/u/{ticket}", .anyone)
    static let sendMore = Endpoint(.patch, "/u/{ticket}", .anyone)
    static let sendNoMore = Endpoint(.delete, "/u/{ticket}", .anyone)
    static let listCategories = Endpoint(.get, "/v1/categories", .key([.read]))
    static let putCategory = Endpoint(.put, "/v1/categories/{id}", .key([.submit]))
    static let category = Endpoint(.get, "/v1/categories/{id}", .key([.submit, .read]))
    static let deleteCategory = Endpoint(.delete, "/v1/categories/{id}", .key([.submit]))
    static let submitNotification = Endpoint(.post, "/v1/notifications", .key([.submit]), startsWork: true)
    static let putNotification = Endpoint(.put, "/v1/notifications/{id}", .key([.submit]), startsWork: true)
    static let listNotifications = Endpoint(.get, "/v1/notifications", .key([.read]))
    static let notification = Endpoint(.get, "/v1/notifications/{id}", .key([.submit, .read]))
    static let deleteNotification = Endpoint(.delete, "/v1/notifications/{id}", .key([.submit]))
    static let fireNotification = Endpoint(.post, "/v1/notifications/{id}/fire", .key([.submit]), startsWork: true)
    static let notificationFirings = Endpoint(.get, "/v1/notifications/{id}/firings", .key([.submit, .read]))
    static let notificationFiring = Endpoint(.get, "/v1/notifications/{id}/firings/{number}", .key([.submit, .read]))
    static let listFirings = Endpoint(.get, "/v1/firings", .key([.read]))
    static let createPreview = Endpoint(.post, "/v1/notifications/{id}/previews", .key([.read]))
    static let deletePreview = Endpoint(.delete, "/v1/previews/{id}", .key([.read]))
    static let preview = Endpoint(.get, "/p/{ticket}", .anyone)
    static let respond = Endpoint(.post, "/r/{ticket}", .anyone)
    static let respondPreflight = Endpoint(.options, "/r/{ticket}", .anyone)
    static let listResponses = Endpoint(.get, "/v1/responses", .key([.read]))
    static let profiles = Endpoint(.get, "/v1/profiles", .key([.read]))
    static let alive = Endpoint(.get, "/livez", .anyone)
    static let ready = Endpoint(.get, "/readyz", .anyone)
    /// Where `metrics.public` is set, for anyone.
    static let metrics = Endpoint(.get, "/metrics", .key([.admin]))
    static let description = Endpoint(.get, "/openapi.json", .anyone)
    static let documentation = Endpoint(.get, "/docs", .anyone)
    static let asset = Endpoint(.get, "/assets/{name}", .anyone)

    /// All of them, in the order in which they are described.
    static let all: [Endpoint] =
        [
            submitJob, putJob, listJobs, job, jobEvents, deleteJob, retryJob, retryJobs, replayWebhook, listCalls, call,
            replayCall, listAttachments, attachment, deleteAttachment, attachmentAccess, overview, failures,
            startLease, lease, renewLease, stopLease, grant, narrowGrant, revokeGrant,
            createKey, listKeys, revokeKey, rotateKey, webhookSecrets, rotateWebhookSecret, listAudit,
            content, contentHead,
        ] + PayloadFormat.allCases.map(enrichPayload) + [
            submitNotification, putNotification, listNotifications, notification, deleteNotification, fireNotification,
            notificationFirings, notificationFiring, listFirings, checkTrigger,
            respond, respondPreflight, listResponses, createPreview, deletePreview, preview,
            openUpload, uploadOptions, listUploads, upload, deleteUpload,
            sendOptions, sendHead, sendOffset, sendWhole, sendNew, sendMore, sendNoMore,
            listCategories, putCategory, category, deleteCategory,
            profiles, alive, ready, metrics, description, documentation, asset,
        ]
}
