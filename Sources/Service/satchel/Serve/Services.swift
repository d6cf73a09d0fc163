import API
import SatchelCore
import Jobs
import Logging
import ServiceLifecycle
import Stores

/// Work that ends with the service. What it leaves unfinished, the next service completes.
struct BackgroundWork: ServiceLifecycle.Service {
    let work: @Sendable () async -> Void

    func run() async throws {
        await cancelWhenGracefulShutdown { await work() }
    }
}

/// Notifies the service manager while Swift's tasks and the event loops are responsive.
struct Watchdog: ServiceLifecycle.Service {
    private let manager: ServiceManager
    private let patience: Duration

    /// Fails if the manager has no watchdog.
    init?(manager: ServiceManager) {
        guard let patience = manager.patience else { return nil }
        self.manager = manager
        self.patience = patience
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: patience / 3)) != nil {
                guard (try? await SatchelServer.turnOfEveryLoop()) != nil else { continue }
                manager.notify(.alive)
            }
        }
    }
}

/// Cleans the store periodically: expired files, orphaned files, and leftovers of interrupted work.
struct Maintenance: ServiceLifecycle.Service {
    let store: Store
    /// Whether this node does more than to clean its own disk.
    let works: Bool
    let interval: Duration
    let auditKept: Duration
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Random, so that nodes that started together do not clean at the same time.
            var wait = interval * Double.random(in: 0.1...0.5)
            while (try? await Task.sleep(for: wait)) != nil {
                await sweep()
                wait = interval * Double.random(in: 0.75...1.25)
            }
        }
    }

    private func sweep() async {
        store.keepReserve()
        do throws(AttachmentError) {
            guard works else {
                _ = try await store.staging.removeAbandoned { $0 > .seconds(3600) }
                return
            }
            let swept = try await store.sweep(inTurn: true, auditKept: auditKept)
            logger.debug(
                "cleaned the store",
                metadata: [
                    "expired": .stringConvertible(swept.expired), "orphans": .stringConvertible(swept.orphans),
                    "leftovers": .stringConvertible(swept.leftovers), "bytes": .stringConvertible(swept.bytes),
                    "collected": .stringConvertible(swept.collected),
                ])
        } catch {
            if !Task.isCancelled {
                logger.error("cannot clean the store", metadata: ["reason": "\(error.description)"])
            }
        }
    }
}

/// Processes jobs. On shutdown, running jobs finish, or are handed back after `grace`.
struct JobWork: ServiceLifecycle.Service {
    let jobs: JobService
    let grace: Duration
    let logger: Logger

    func run() async throws {
        let working = Task { try await jobs.run() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                do {
                    try await working.value
                } catch is CancellationError {
                    logger.notice("handed back unfinished jobs")
                }
            } onGracefulShutdown: {
                Task { await jobs.drain(within: grace) }
            }
        } onCancel: {
            working.cancel()
        }
    }
}
