public import SatchelCore
public import Ingest
public import Jobs
public import Logging
package import Platform
public import Stores

/// Everything that the routes need, put together once.
public struct Service: Sendable {
    public let store: Store
    public let records: RecordStore
    public let spool: Spool
    public let jobs: JobService
    public let profiles: [Profile]
    public let settings: ServiceSettings
    public let logger: Logger
    public let health: ServiceHealth
    public let metrics: MetricsRegistry
    /// Decides who may be called back; asked as far as that needs no look at names.
    public let webhooks: FetchGuard
    /// Admits submissions; shared by all routes that take some.
    public let intake: AdmissionController
    /// Fires notifications.
    public let notifications: NotificationService
    /// Takes responses to notifications.
    let responses: ResponseService
    /// Takes the bytes of uploads.
    public let uploads: UploadService
    /// Hears of jobs that other nodes carry out; nil where there are none.
    let relay: EventRelay?
    /// By which triggers are judged.
    package let timeZones: TimeZoneDatabase
    /// Nil where none are kept.
    let smallBlobs: BlobCache?

    /// - Parameter userAgent: Of calls to handlers of responses and to other nodes.
    public init(
        store: Store, records: RecordStore, spool: Spool, jobs: JobService, profiles: [Profile],
        settings: ServiceSettings, logger: Logger, health: ServiceHealth = ServiceHealth(),
        metrics: MetricsRegistry = MetricsRegistry(), webhooks: FetchGuard = FetchGuard(),
        userAgent: String = "Satchel", resolve: Fetcher.Resolve? = nil
    ) {
        self.store = store
        self.records = records
        self.spool = spool
        self.jobs = jobs
        self.profiles = profiles
        self.settings = settings
        self.logger = logger
        self.health = health
        self.metrics = metrics
        self.webhooks = webhooks
        timeZones = TimeZoneDatabase()
        notifications = NotificationService(
            records: records, jobs: jobs, zones: timeZones, quotas: settings.tenantQuotas)
        let handlers = HandlerClient(
            clock: { records.time }, guardedBy: webhooks, userAgent: userAgent, resolve: resolve)
        responses = ResponseService(
            records: records,
            handlers: HandlerCalls(client: handlers, nodes: { records.nodes }) {
                try await store.webhookSecrets(of: $0).map(\.secret)
            })
        uploads = UploadService(
            records: records, sources: store.sources, jobs: jobs, quotas: settings.tenantQuotas)
        relay = store.passes.map { EventRelay($0, userAgent: userAgent) }
        intake = AdmissionController(store: store, settings: settings)
        smallBlobs = settings.cacheBytes > 0 ? BlobCache(capacity: settings.cacheBytes) : nil
    }

    /// Closes what is kept between requests. None may be underway.
    public func end() async {
        await responses.end()
    }

    /// A profile by its name.
    func profile(named name: String) -> Profile? {
        profiles.first { $0.name == name }
    }

    /// The URL of a rendition for whoever holds `token`: `https://…/c/satl_…/main.jpg`.
    func contentURL(_ token: AccessToken, _ role: RenditionRole, _ type: MediaType) -> String {
        "\(settings.publicURL)/c/\(token.secretText)/\(role.rawValue).\(type.fileExtension)"
    }
}
