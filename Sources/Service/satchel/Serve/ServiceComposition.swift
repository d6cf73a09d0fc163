import SatchelCore
import API
import CodecPool
import CSandbox
import Foundation
import Glibc
import HTTPServer
import Ingest
import Jobs
import Logging
import NIOCore
import ServiceLifecycle
import Stores

/// The service, assembled from its configuration.
struct ServiceComposition: Sendable {
    let configuration: ServiceConfiguration
    let logger: Logger
    let store: Store
    let codecs: CodecPool
    let jobs: JobService
    let webhooks: WebhookSender
    let api: API.Service
    let health: ServiceHealth
    let server: SatchelServer
    let manager: ServiceManager?
    let preview: LivePreview?

    /// Starts the codecs and assembles the service, which does not listen yet.
    ///
    /// - Parameters:
    ///   - preview: Returns the preview to serve instead of the API.
    ///   - settings: Told what it may change while the service runs.
    ///   - onBound: Called when the service has its port, before it is announced.
    ///   - onListening: Called once the service listens.
    static func make(
        _ configuration: ServiceConfiguration, store: Store, logger: Logger, metrics: MetricsRegistry,
        manager: ServiceManager?, settings: LiveSettings? = nil,
        preview: (API.Service) -> LivePreview? = { _ in nil },
        onBound: @escaping @Sendable () async -> Void = {},
        onListening: @escaping @Sendable () -> Void = {}
    ) async throws -> ServiceComposition {
        var configuration = configuration
        if configuration.sockets.isEmpty { configuration.listen.port = try FreePort.bound(configuration.listen) }
        configuration.completePublicURL()
        let codecs = try Self.codecs(for: &configuration, logger)
        do {
            // Starts both executables, so that missing libraries are found now and the first clip does not wait.
            var sandbox: SandboxReport?
            if configuration.settings.role.works {
                sandbox = try await codecs.start(.common)
                try await codecs.start(.full)
            }
            let fetches = try Self.guarding(configuration.fetchAllow, logger)
            let service = try service(
                configuration, store: store, codecs: codecs, logger: logger, metrics: metrics, fetches: fetches)
            settings?.guards(fetches: fetches, callbacks: service.webhooks)
            let webhooks = WebhookSender(
                records: store.records, among: { store.records.workers }, guardedBy: service.webhooks,
                userAgent: "Satchel/\(Version.current)",
                secrets: { try await store.webhookSecrets(of: $0).map(\.secret) },
                content: { try await service.body(of: $0) })
            let tls = configuration.tlsCertificate.flatMap { certificate in
                configuration.tlsKey.map { TLSFiles(certificate: certificate, key: $0) }
            }
            let preview = preview(service)
            let server = try SatchelServer(
                service, preview: preview, listen: configuration.listen,
                sockets: configuration.sockets.map(\.descriptor), tls: tls,
                grace: configuration.grace * 0.15,
                onListening: { [configuration, sandbox] _ in
                    Task {
                        await onBound()
                        announce(configuration, store: store, sandbox: sandbox, logger: logger)
                        manager?.notify(.ready(configuration.places))
                        releaseStart()
                        onListening()
                    }
                })
            return ServiceComposition(
                configuration: configuration, logger: logger, store: store, codecs: codecs, jobs: service.jobs,
                webhooks: webhooks, api: service, health: service.health,
                server: server,
                manager: manager, preview: preview)
        } catch {
            await codecs.shutdown()
            switch error {
            case let error as CodecPoolError: throw CommandFailure(error)
            case let error as TLSFiles.Unusable: throw CommandFailure("TLS: \(error)", status: .usage)
            case let error as AttachmentError: throw CommandFailure(error)
            default: throw error
            }
        }
    }

    /// Returns the configured pool without starting it, and fills in the settings that depend on the machine.
    static func codecs(for configuration: inout ServiceConfiguration, _ logger: Logger? = nil) throws -> CodecPool {
        let executables = try CodecExecutables.located()
        var pool = CodecPoolConfiguration(
            executable: executables.codec, stills: executables.stills, codecs: configuration.codecs,
            sourcesBeforeReserve: 100, memory: configuration.memory)
        pool.fastHuffman = configuration.fastHuffman
        switch configuration.sandbox {
        case .standard: break
        case .full: pool.sandbox = .full
        case .none: pool.sandbox = .allowUnsandboxed
        }
        pool.connections = configuration.settings.openConnections
        pool.onShortage = { logger?.warning("short of resources", metadata: ["reason": "\($0)"]) }
        configuration.codecs = pool.codecs
        configuration.memory = pool.memory
        return CodecPool(pool)
    }

    /// Refused addresses are logged: senders are not told them.
    private static func guarding(_ allowed: [String], _ logger: Logger) throws -> FetchGuard {
        FetchGuard(allowing: try FetchAllowance.list(allowed)) { address in
            logger.notice("blocked address", metadata: ["address": "\(address)"])
        }
    }

    /// Returns the part that answers requests. It does no work in the background.
    ///
    /// - Parameter codecs: A pool with the same settings.
    static func service(
        _ configuration: ServiceConfiguration, store: Store, codecs: CodecPool, logger: Logger,
        metrics: MetricsRegistry, fetches: FetchGuard? = nil
    ) throws -> API.Service {
        let spool = try Spool(at: store.scratch)
        let fetcher = Fetcher(
            guardedBy: try fetches ?? Self.guarding(configuration.fetchAllow, logger), into: spool,
            userAgent: "Satchel/\(Version.current)", tracing: configuration.tracedOrigins,
            redirects: configuration.fetchRedirects)
        var work = Pipeline.Configuration(limits: configuration.settings.limits)
        work.claimDuration = configuration.claimDuration
        work.scanning = try configuration.scan.scanning
        let pipeline = Pipeline(
            records: store.records, blobs: store.blobs, staging: store.staging, codecs: codecs,
            sources: SourceOpener(sources: store.sources, fetcher: fetcher),
            configuration: work)
        let jobs = JobService(
            records: store.records, pipeline: pipeline, events: JobEvents(),
            worker: WorkerID(rawValue: RunID.generate().rawValue),
            concurrency: JobService.Concurrency(codecs: configuration.codecs ?? 1),
            onFinished: { logger.info("job", metadata: $0.metadata) })
        let health = ServiceHealth(
            checks: HealthChecks.all(of: store, spool: spool, codecs: codecs, configuration.settings))
        return API.Service(
            store: store, records: store.records, spool: spool, jobs: jobs,
            profiles: try ProfileFileOptions.all(in: configuration.profiles), settings: configuration.settings,
            logger: logger, health: health, metrics: metrics,
            webhooks: try Self.guarding(configuration.webhookAllow, logger),
            userAgent: "Satchel/\(Version.current)")
    }

    /// Serves until the process is told to stop.
    func run() async throws {
        let grace = configuration.grace
        await store.records.join(as: configuration.settings.role)
        // Services are shut down in reverse order, each after the next one has ended. Work ends before the server, so that
        // waiting clients still get their responses.
        var services: [any ServiceLifecycle.Service] = []
        if let watchdog = manager.flatMap({ Watchdog(manager: $0) }) { services.append(watchdog) }
        // The checks of `/readyz`.
        services.append(BackgroundWork { [health] in await health.run() })
        services.append(
            Maintenance(
                store: store, works: configuration.settings.role.works, interval: configuration.sweepInterval,
                auditKept: configuration.auditKept, logger: logger))
        services.append(server)
        if configuration.settings.role.works {
            services += [
                BackgroundWork { [api] in await api.notifications.run(by: api) },
                BackgroundWork { [webhooks] in await webhooks.run() },
                JobWork(jobs: jobs, grace: grace * 0.8, logger: logger),
            ]
        }
        var lifecycle = ServiceGroupConfiguration(services: services, logger: quietLogger)
        lifecycle.maximumGracefulShutdownDuration = grace
        let group = ServiceGroup(configuration: lifecycle)
        Interruption.responding { [health, logger, manager, store] in
            health.drain()
            Task { await store.records.retire() }
            // A little more time than the service takes.
            manager?.notify(.stopping(within: grace + .seconds(5)))
            logger.notice("stopping", metadata: ["grace_seconds": .stringConvertible(grace.inSeconds)])
            Task { await group.triggerGracefulShutdown() }
            // Exits even if something hangs, such as a disk. No acknowledged data is lost.
            DispatchQueue.global().asyncAfter(deadline: .now() + grace.inSeconds + 2) { Glibc._exit(1) }
        }
        do {
            try await group.run()
        } catch {
            guard health.isDraining else { throw error }
        }
        await api.end()
        logger.notice("stopped")
    }

    /// Releases pages that only the start needs, when Swift reads all conformances. Codecs do the same (Zygote).
    private static func releaseStart() {
        DispatchQueue.global().asyncAfter(deadline: .now() + 5) { csandbox_release_program() }
    }

    private static func announce(
        _ configuration: ServiceConfiguration, store: Store, sandbox: SandboxReport?, logger: Logger
    ) {
        let missing = sandbox?.layers.filter { $0.state == .missing } ?? []
        let required = missing.filter(\.layer.isRequired)
        let confinement = missing.isEmpty ? "full" : required.isEmpty ? "standard" : "MISSING"
        logger.notice(
            "listening",
            metadata: [
                "address": "\(configuration.places)",
                "tls": .stringConvertible(configuration.tlsCertificate != nil),
                "public_url": "\(configuration.settings.publicURL)", "store": "\(StoreLocation(configuration.store))",
                "codecs": .stringConvertible(configuration.codecs ?? 0),
                "memory_bytes": .stringConvertible(configuration.memory ?? 0),
                "role": "\(configuration.settings.role.rawValue)",
                "sandbox": "\(sandbox == nil ? "no codecs" : confinement)",
                "sandbox_missing": .array(missing.map { "\($0.layer.title)" }), "version": "\(Version.current)",
            ])
    }

    /// A logger for the lifecycle library, which logs errors only.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .error)
        return logger
    }
}

extension JobReport {
    /// The log line of each job that finishes on this node.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "job": "\(job.rawValue)", "tenant": "\(tenant.rawValue)", "state": "\(state.rawValue)",
            "profile": "\(profile)", "priority": "\(priority.rawValue)",
            "generation": .stringConvertible(generation), "attempt": .stringConvertible(attempt),
            "attachments": .array(attachments.map { .dictionary($0.metadata) }),
            "stages": .dictionary(stages.mapValues { .stringConvertible($0) }),
            "seconds": .stringConvertible(seconds),
        ]
        metadata["lane"] = lane.map { "\($0.rawValue)" }
        metadata["queue_seconds"] = queueSeconds.map { .stringConvertible($0) }
        metadata["work_seconds"] = workSeconds.map { .stringConvertible($0) }
        // 00-<trace>-<span>-<flags>
        if let parts = traceparent?.split(separator: "-"), parts.count > 1 { metadata["trace_id"] = "\(parts[1])" }
        return metadata
    }
}

extension JobReport.Attachment {
    fileprivate var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["id": "\(id.rawValue)", "state": "\(state.rawValue)"]
        metadata["kind"] = kind.map { "\($0.rawValue)" }
        metadata["fidelity"] = fidelity.map { "\($0.rawValue)" }
        metadata["code"] = code.map { "\($0.rawValue)" }
        metadata["bytes"] = bytes.map { .stringConvertible($0) }
        return metadata
    }
}

extension Store {
    /// Runs `body` with the service's code and configuration on this store, without listening or working in the background.
    func withService<Result>(
        _ body: (API.Service, ServiceConfiguration) async throws -> Result
    ) async throws -> Result {
        var configuration = StoreOptions.configured
        configuration.completePublicURL()
        let codecs = try ServiceComposition.codecs(for: &configuration)
        let service = try ServiceComposition.service(
            configuration, store: self, codecs: codecs,
            logger: Logger(label: "satchel") { _ in SwiftLogNoOpLogHandler() }, metrics: MetricsRegistry())
        return try await ending(with: { await service.end() }) { try await body(service, configuration) }
    }
}
