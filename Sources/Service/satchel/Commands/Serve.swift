import API
import ArgumentParser
import SatchelCore
import CSandbox
import CodecPool
import Foundation
import Glibc
import Logging
import Metrics
import Stores

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve attachments over HTTP.",
        discussion: """
            On loopback it starts as it is, and prints a key to try it with:

              satchel serve
              curl -H "Authorization: Bearer $SATCHEL_KEY" -H 'Prefer: wait=20' \\
                  -F 'job={"attachments": [{"identifier": "photo", "part": "photo"}]}' -F photo=@photo.jpg \\
                  http://127.0.0.1:8080/v1/jobs

            The answer has URLs of the renditions that work for 300 seconds. Elsewhere it needs a key, and to know where \
            clients reach it:

              satchel key create --name backend
              satchel serve --listen :8080 --public-url https://media.example.com

            /docs describes the API, /readyz says whether the service is ready and if not why, /metrics is for \
            Prometheus. SIGTERM ends it: what is underway is finished, or handed back after --grace; a second signal ends \
            it at once. Nothing that was answered with 202 is lost, however it ends. systemd is told how it is \
            (Type=notify, WatchdogSec=), and may listen for it (a .socket unit).

            Settings are taken from flags, else from SATCHEL_… in the environment, else from the YAML file. 'satchel \
            config' shows what they come to, 'satchel config keys' what there is.
            """)

    @OptionGroup var options: ServeOptions

    func run() async throws {
        // What a job allocates another thread frees: with a heap for each thread more than a fourth of their memory lay free between what
        // was still in use. More heaps than processors have nobody wait less.
        csandbox_limit_heaps(Int32(max(2, CodecPoolConfiguration.usableProcessors)))
        // What it does for nobody is its own doing.
        try await AuditActor.$current.withValue(AuditActor(.service)) { try await serve() }
    }

    private func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = try options.configuration(sockets: PassedSocket.all(in: environment))
        LoggingSystem.bootstrap { label in
            // The libraries' own lines are for whoever debugs them.
            let level = label == "satchel" ? configuration.logLevel : max(configuration.logLevel, .warning)
            return LogOutput(level: level, format: configuration.logFormat)
        }
        let logger = Logger(label: "satchel")
        let manager = ServiceManager(environment, logger: logger)
        ServiceManager.forget()
        Self.raiseDescriptorLimit()
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        let store = try await configuration.openStore(serves: configuration.settings.role.works)
        var developmentKey: String?
        if configuration.settings.keysRequired {
            let remedy = "make one with 'satchel key create --store \(StoreLocation(configuration.store))'"
            // No other process could make one for a store in memory. A journal would keep what only a terminal is to show.
            if StoreLocation(configuration.store) == .memory
                || configuration.isLocal && !Console.isJournal(environment)
            {
                developmentKey = try await DevelopmentKey.makeIfNeeded(in: store.records)
            } else if try await !store.records.hasKeys() {
                guard configuration.isLocal else {
                    throw CommandFailure(
                        "there is no API key, so nobody could use the service on \(configuration.places); \(remedy), and start it again.",
                        status: 2)
                }
                logger.warning("there is no API key", metadata: ["remedy": "\(remedy)"])
            }
        }
        do {
            let service = try await ServiceComposition.make(
                configuration, store: store, logger: logger, metrics: metrics, manager: manager)
            do {
                try await service.run()
            } catch {
                await service.codecs.shutdown()
                throw error
            }
            await service.codecs.shutdown()
        } catch {
            await Self.revoke(developmentKey, in: store)
            throw error
        }
        await Self.revoke(developmentKey, in: store)
    }

    /// As many descriptors as may be: each connection and each stage of a job needs some.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        guard unsafe getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        _ = unsafe setrlimit(resource, &limit)
    }

    private static func revoke(_ key: String?, in store: Store) async {
        guard let key else { return }
        // In a task of its own: the command's may be cancelled, and the store would refuse its writes.
        await Task { _ = try? await store.records.revokeKey(key) }.value
    }
}
