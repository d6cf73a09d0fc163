import API
import SatchelCore
import Jobs
import Logging
import ServiceLifecycle
import Stores

/// Runs the checks of `/readyz`.
struct HealthWatch: ServiceLifecycle.Service {
    let health: ServiceHealth

    func run() async throws {
        await cancelWhenGracefulShutdown { await health.run() }
    }
}

/// Tells the service manager that the service works: that Swift's tasks and the event loops have their turns.
struct Watchdog: ServiceLifecycle.Service {
    private let manager: ServiceManager
    private let patience: Duration

    /// Nil where the manager doesn't ask for it.
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

/// Sweeps the store now and then: what has expired, what nothing refers to, what interrupted work left.
struct Maintenance: ServiceLifecycle.Service {
    let store: Store
    let interval: Duration
    let auditKept: Duration
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            // Spread out, so that servers that were started together don't sweep together.
            var wait = interval * Double.random(in: 0.1...0.5)
            while (try? await Task.sleep(for: wait)) != nil {
                await sweep()
                wait = interval * Double.random(in: 0.75...1.25)
            }
        }
    }

    private func sweep() async {
        do throws(AttachmentError) {
            let swept = try await store.sweep(inTurn: true, auditKept: auditKept)
            logger.debug(
                "swept the store",
                metadata: [
                    "expired": .stringConvertible(swept.expired), "orphans": .stringConvertible(swept.orphans),
                    "leftovers": .stringConvertible(swept.leftovers), "bytes": .stringConvertible(swept.bytes),
                    "collected": .stringConvertible(swept.collected),
                ])
        } catch {
            if !Task.isCancelled {
                logger.error("the store can't be swept", metadata: ["reason": "\(error.description)"])
            }
        }
    }
}

/// Calls webhooks. One that is underway when the service ends is called again by whoever comes next.
struct WebhookCalls: ServiceLifecycle.Service {
    let sender: WebhookSender

    func run() async throws {
        await cancelWhenGracefulShutdown { await sender.run() }
    }
}

/// Fires notifications. What is begun when the service ends is completed by whoever comes next.
struct NotificationWork: ServiceLifecycle.Service {
    let service: API.Service

    func run() async throws {
        await cancelWhenGracefulShutdown { await service.notifications.run(by: service) }
    }
}

/// Carries out jobs; when the service is to end, finishes what is underway, and hands back what takes longer than
/// `grace`.
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
                    logger.notice("handed back what was underway")
                }
            } onGracefulShutdown: {
                Task { await jobs.drain(within: grace) }
            }
        } onCancel: {
            working.cancel()
        }
    }
}
