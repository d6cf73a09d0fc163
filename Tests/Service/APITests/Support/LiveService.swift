import API
import SatchelCore
import Foundation
import HTTPServer
import Logging
import Platform
import ServiceTestSupport
import Synchronization
import TestSupport

@testable import CodecPool
@testable import Ingest
@testable import Jobs
@testable import Stores

/// The whole service in this process, on a port of its own of the loopback: a store in a temporary directory, codec
/// processes, workers, and the routes.
///
///     try await LiveService.run { live in
///         let reply = try await live.send(.post, "/v1/jobs", json: #"{"attachments": []}"#)
///         #expect(reply.status == 400)
///     }
final class LiveService: Sendable {
    /// What a test wants to be different.
    struct Configuration: Sendable {
        /// Who works on jobs.
        enum Worker: Sendable {
            /// `satchel-codec`.
            case codec
            /// The fault codec, which does as its source says.
            case faultCodec
            /// Nobody: jobs stay pending.
            case nobody
        }

        var worker = Worker.nobody
        /// Else when ``LiveService/startWorking()`` is called.
        var startsWorking = true
        var codecs = 2
        var concurrency = JobService.Concurrency(quick: 4, expensive: 2)
        /// Content URLs begin with this, wherever the service really listens: see ``LiveService/path(of:)``.
        var settings = ServiceSettings(publicURL: "https://media.example.com")
        var profiles = Profile.builtIn
        /// Exceptions to the fetch guard; an ``LocalOrigin`` on the loopback is always one.
        var fetchAllow: [String] = ["127.0.0.1"]
        /// Exceptions to the guard of webhooks; nil: nobody calls.
        var webhookAllow: [String]? = ["127.0.0.1"]
        /// Stands in for the system's name service, for webhooks.
        var webhookNames: Fetcher.Resolve?
        /// In milliseconds what takes a day.
        var webhookSchedule = WebhookSchedule(
            base: .milliseconds(20), limit: .milliseconds(100), minimum: .milliseconds(5))
        var pipeline = Pipeline.Configuration()
        var tls: TLSFiles?
        /// The store's; nil: it is in a directory.
        var memory: StoreMemory?
        /// For tests that look into that directory, or set the clock: see ``SharedEngines``.
        var needsDirectory = false
        /// In place of the store's own.
        var blobs: (any BlobStore)?
        /// Nil takes the wall clock.
        var clock: (@Sendable () -> Instant)?

        init() {
            // The store lies in memory, where there is less room than on a disk.
            settings.intake.freeBytes = 1 << 20
        }
    }

    let port: Int
    let service: Service
    /// Where the store and its keys are.
    let directory: URL
    /// Of the tenant ``tenant``, one for each role.
    let keys: [AccessRole: AccessToken]
    let tenant = TenantID(rawValue: "ada")
    /// Everything that was logged.
    let log: LogBook
    /// The jobs that came to their end here.
    let reports: Recorder<JobReport>
    let codecs: CodecPool
    /// Starts the work on jobs, where it doesn't start by itself.
    let startWorking: @Sendable () -> Void

    var store: Store { service.store }
    var spool: Spool { service.spool }

    private init(
        port: Int, service: Service, directory: URL, keys: [AccessRole: AccessToken], log: LogBook,
        reports: Recorder<JobReport>,
        codecs: CodecPool, startWorking: @escaping @Sendable () -> Void
    ) {
        self.port = port
        self.service = service
        self.directory = directory
        self.keys = keys
        self.log = log
        self.reports = reports
        self.codecs = codecs
        self.startWorking = startWorking
    }

    /// Runs a service for as long as `body`. Only a few run at once: a machine has so many cores.
    static func run<Result: Sendable>(
        _ change: (inout Configuration) -> Void = { _ in }, _ body: (LiveService) async throws -> Result
    ) async throws -> Result {
        var configuration = Configuration()
        change(&configuration)
        _ = await places.acquire(1, until: nil)
        do {
            let result = try await start(configuration, body)
            places.release(1)
            return result
        } catch {
            places.release(1)
            throw error
        }
    }

    private static let places = AsyncSemaphore(capacity: 3)

    private static func start<Result: Sendable>(
        _ configuration: Configuration, _ body: (LiveService) async throws -> Result
    ) async throws -> Result {
        let home = try TemporaryDirectory(inMemory: true)
        let clock = configuration.clock ?? Instant.wallClock
        var store =
            if let memory = configuration.memory {
                try Store(in: memory, clock: clock)
            } else if SharedEngines.areUsed, !configuration.needsDirectory, configuration.clock == nil {
                try await SharedEngines.open(in: home)
            } else {
                try Store.open(at: home.path + "/store", keys: home.path + "/keys", clock: clock)
            }
        if let blobs = configuration.blobs { store.blobs = blobs }
        let spool = try Spool(at: store.scratch)
        let log = LogBook()
        var logger = Logger(label: "satchel", factory: { _ in log.handler })
        logger.logLevel = .debug

        let executable = try Repository.product(configuration.worker == .faultCodec ? "fault-codec" : "satchel-codec")
        let pool = CodecPool(CodecPoolConfiguration(executable: executable, codecs: configuration.codecs))
        if configuration.worker != .nobody { _ = try await pool.start() }
        let gate = FetchGuard(allowing: try FetchAllowance.list(configuration.fetchAllow))
        let events = JobEvents()
        let pipeline = Pipeline(
            records: store.records, blobs: store.blobs, staging: store.staging, codecs: pool,
            sources: SourceOpener(
                sources: store.sources, fetcher: Fetcher(guardedBy: gate, into: spool, userAgent: "Satchel/test")),
            configuration: configuration.pipeline)
        let reports = Recorder<JobReport>()
        let jobs = JobService(
            records: store.records, pipeline: pipeline, events: events,
            worker: WorkerID(rawValue: RunID.generate().rawValue), concurrency: configuration.concurrency,
            onFinished: { reports.add($0) })
        let service = Service(
            store: store, records: store.records, spool: spool, jobs: jobs, profiles: configuration.profiles,
            settings: configuration.settings, logger: logger,
            webhooks: FetchGuard(allowing: try FetchAllowance.list(configuration.webhookAllow ?? ["127.0.0.1"])),
            resolve: configuration.webhookNames)

        let webhooks = try configuration.webhookAllow.map {
            try webhookSender(
                for: service, allowing: $0, schedule: configuration.webhookSchedule,
                resolve: configuration.webhookNames)
        }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let server = try SatchelServer(
            service, listen: ListenAddress(host: "127.0.0.1", port: 0), tls: configuration.tls,
            grace: .milliseconds(500), onListening: { port.yield($0) })
        let serving = Task {
            defer { port.finish() }
            try await server.run()
        }
        let (starts, start) = AsyncStream.makeStream(of: Void.self)
        if configuration.startsWorking { start.finish() }
        let working = Task {
            for await _ in starts {}
            if configuration.worker != .nobody { try await jobs.run() }
        }
        let calling = Task { await webhooks?.run() }
        let firing = Task { await service.notifications.run(by: service) }
        let outcome: Swift.Result<Result, any Error>
        do {
            let live = LiveService(
                port: try await Self.first(of: ports), service: service, directory: home.url,
                keys: try await Self.makeKeys(store, TenantID(rawValue: "ada")), log: log,
                reports: reports, codecs: pool, startWorking: { start.finish() })
            outcome = .success(try await body(live))
        } catch {
            outcome = .failure(error)
        }
        serving.cancel()
        working.cancel()
        calling.cancel()
        firing.cancel()
        _ = await serving.result
        _ = await working.result
        await calling.value
        await firing.value
        await service.end()
        if configuration.worker != .nobody { await pool.shutdown() }
        return try outcome.get()
    }

    private struct NeverListened: Error {}

    /// - Throws: Where the server ended before it listened.
    private static func first(of ports: AsyncStream<Int>) async throws -> Int {
        guard let port = await ports.first(where: { _ in true }) else { throw NeverListened() }
        return port
    }

    /// A key for each role, such as those of another tenant than ``tenant``.
    func makeKeys(of tenant: TenantID) async throws -> [AccessRole: AccessToken] {
        try await Self.makeKeys(store, tenant)
    }

    private static func makeKeys(_ store: Store, _ tenant: TenantID) async throws -> [AccessRole: AccessToken] {
        var keys: [AccessRole: AccessToken] = [:]
        for role in AccessRole.allCases {
            keys[role] =
                try await store.records.createKey(
                    named: "\(tenant.rawValue)'s \(role.rawValue)", for: tenant, roles: [role], lasting: nil
                ).1
        }
        return keys
    }

    /// Calls the webhooks of a service, as the one that runs with it does.
    static func webhookSender(
        for service: Service, allowing allowed: [String], schedule: WebhookSchedule,
        timeLimit: Duration = .seconds(15), interval: Duration = .milliseconds(10),
        resolve: Fetcher.Resolve? = nil
    ) throws -> WebhookSender {
        WebhookSender(
            records: service.records,
            client: GuardedClient(
                guardedBy: FetchGuard(allowing: try FetchAllowance.list(allowed)), userAgent: "Satchel/test",
                resolve: resolve, keepsConnections: true, namesLast: .zero),
            schedule: schedule, timeLimit: timeLimit, interval: interval,
            secrets: { try await service.store.webhookSecrets(of: $0).map(\.secret) },
            content: { try await service.body(of: $0) })
    }

    /// The path of a content URL, to be asked for here.
    func path(of url: String) -> String {
        let prefix = service.settings.publicURL
        return url.hasPrefix(prefix) ? String(url.dropFirst(prefix.count)) : url
    }

    /// The names of all sources that wait, and of what is being received.
    func spooled() async throws -> [String] {
        var names = try FileManager.default.contentsOfDirectory(atPath: store.scratch)
        // In a directory they are among those.
        guard store.passes != nil else { return names }
        try await Store.forEachPage(of: store.sources.list) { names += $0.map(\.name.rawValue) }
        return names
    }

    /// A source that was handed in.
    func accept(_ bytes: Data) async throws -> (name: SourceName, sha256: String) {
        var file = try spool.create(hashing: true)
        try unsafe bytes.withUnsafeBytes { try unsafe file.write($0) }
        let hashed = file.finish()
        return (try await store.sources.put(hashed), hashed.sha256)
    }
}

/// Keeps what is logged, as text.
final class LogBook: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    var handler: any LogHandler { Handler(book: self) }

    private struct Handler: LogHandler {
        let book: LogBook
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let line = "\(event.level) \(event.message) \(all)"
            book.state.withLock { $0.append(line) }
        }
    }
}
