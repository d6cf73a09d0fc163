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
import Synchronization

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run Satchel as an HTTP service.",
        discussion: """
            On the loopback interface, the service starts without any settings and prints an API key to try it with. To \
            listen on other interfaces, it needs an API key and the URL that clients use.

            The path /docs describes the API, /readyz says whether the service is ready, and /metrics is for Prometheus.

            SIGHUP rereads the settings. The log level and what fetches and callbacks may reach change at once; the log \
            names settings that need a restart.

            SIGTERM stops the service. Running jobs finish, or return to the queue after --grace. A second signal stops it \
            immediately. Either way, no accepted job is lost. Under systemd, units may use Type=notify, WatchdogSec= and \
            socket activation.

            Flags override environment variables (SATCHEL_…), which override the YAML file. \
            'satchel config' shows the values in use, and 'satchel config keys' lists all settings.

            Examples:

              satchel serve
              curl -H "Authorization: Bearer $SATCHEL_KEY" -H 'Prefer: wait=20' \\
                -F 'job={"attachments": [{"identifier": "photo", "part": "photo"}]}' \\
                -F photo=@photo.jpg http://127.0.0.1:8080/v1/jobs

              satchel key create --name backend
              satchel serve --listen :8080 --public-url https://media.example.com
            """)

    @OptionGroup var options: ServeOptions

    func run() async throws {
        // Memory that one thread allocates is often freed by another. With a heap per thread, over a quarter of the memory
        // was free but unusable. More heaps than processors do not reduce waiting.
        csandbox_limit_heaps(Int32(max(2, CodecPoolConfiguration.usableProcessors)))
        // Actions without a client are recorded as the service's own.
        try await AuditActor.$current.withValue(AuditActor(.service)) { try await serve() }
    }

    private func serve() async throws {
        let environment = ProcessInfo.processInfo.environment
        let configuration = try options.configuration(sockets: PassedSocket.all(in: environment))
        let settings = LiveSettings(configuration)
        LoggingSystem.bootstrap { label in
            // Libraries log warnings and errors only.
            LogOutput(format: configuration.logFormat) {
                label == "satchel" ? settings.logLevel : max(settings.logLevel, .warning)
            }
        }
        let logger = Logger(label: "satchel")
        let manager = ServiceManager(environment, logger: logger)
        ServiceManager.forget()
        let metrics = MetricsRegistry()
        MetricsSystem.bootstrap(metrics)
        let store = try await configuration.openStore(serves: configuration.settings.role.works)
        Interruption.hangingUp { [options] in
            let reload = { settings.reload(options.read(sockets: configuration.sockets), logger) }
            if let manager { manager.reload(reload) } else { reload() }
        }
        var needsKey = false
        if configuration.settings.keysRequired {
            let remedy = "create one with 'satchel key create --store \(StoreLocation(configuration.store))'"
            // No other process can create a key in a store in memory. A key must not be written to the journal.
            if StoreLocation(configuration.store) == .memory
                || configuration.isLocal && !Console.isJournal(environment)
            {
                needsKey = true
            } else if try await !store.records.hasKeys() {
                guard configuration.isLocal else {
                    throw CommandFailure(
                        "the service needs an API key to listen on \(configuration.places), and there is none; \(remedy) and start again.",
                        status: .usage)
                }
                logger.warning("no API key exists", metadata: ["remedy": "\(remedy)"])
            }
        }
        let developmentKey = Mutex<String?>(nil)
        do {
            let service = try await ServiceComposition.make(
                configuration, store: store, logger: logger, metrics: metrics, manager: manager, settings: settings,
                onBound: { [needsKey] in
                    guard needsKey else { return }
                    do {
                        let key = try await DevelopmentKey.makeIfNeeded(in: store.records)
                        developmentKey.withLock { $0 = key }
                    } catch {
                        logger.error("cannot create an API key", metadata: ["reason": "\(error)"])
                    }
                })
            do {
                try await service.run()
            } catch {
                await service.codecs.shutdown()
                throw error
            }
            await service.codecs.shutdown()
        } catch {
            await Self.revoke(developmentKey.withLock(\.self), in: store)
            throw error
        }
        await Self.revoke(developmentKey.withLock(\.self), in: store)
    }

    private static func revoke(_ key: String?, in store: Store) async {
        guard let key else { return }
        // Runs in a task of its own, because the store rejects writes of a cancelled task.
        await Task { _ = try? await store.records.revokeKey(key) }.value
    }
}
