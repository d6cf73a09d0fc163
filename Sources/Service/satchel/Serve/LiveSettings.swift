import Ingest
import Logging
import Synchronization

/// The settings that a running service takes over when it is told to read them again.
final class LiveSettings: Sendable {
    private struct State {
        /// What is in force.
        var configuration: ServiceConfiguration
        var guards: (fetches: FetchGuard, callbacks: FetchGuard)?
    }

    /// How each setting takes effect. The others need a restart.
    private static let live: [String: @Sendable (ServiceConfiguration, inout ServiceConfiguration) -> Void] = [
        "log.level": { $1.logLevel = $0.logLevel },
        "fetch.allow": { $1.fetchAllow = $0.fetchAllow },
        "callback.allow": { $1.webhookAllow = $0.webhookAllow },
    ]

    private let state: Mutex<State>

    init(_ configuration: ServiceConfiguration) {
        state = Mutex(State(configuration: configuration))
    }

    var logLevel: Logger.Level { state.withLock { $0.configuration.logLevel } }

    /// Passes the guards that the settings `fetch.allow` and `callback.allow` change.
    func guards(fetches: FetchGuard, callbacks: FetchGuard) {
        state.withLock { $0.guards = (fetches, callbacks) }
    }

    /// Takes over new settings as a whole, or nothing if one of them is wrong, and logs a line about it.
    func reload(_ read: ResolvedConfiguration, _ logger: Logger) {
        guard read.problems.isEmpty else {
            let problems = read.problems.map { Logger.MetadataValue.string($0.description) }
            return logger.error("the settings are wrong; nothing changed", metadata: ["problems": .array(problems)])
        }
        let changed = state.withLock { state in
            let changed = Setting.all.filter { $0.shown(state.configuration) != $0.shown(read.configuration) }.map(
                \.key)
            for key in changed { Self.live[key]?(read.configuration, &state.configuration) }
            // The reader has checked them.
            if let allowed = try? FetchAllowance.list(state.configuration.fetchAllow) {
                state.guards?.fetches.allow(allowed)
            }
            if let allowed = try? FetchAllowance.list(state.configuration.webhookAllow) {
                state.guards?.callbacks.allow(allowed)
            }
            return changed
        }
        func list(_ isLive: Bool) -> Logger.MetadataValue {
            .array(changed.filter { (Self.live[$0] != nil) == isLive }.map { .string($0) })
        }
        logger.notice("read the settings", metadata: ["changed": list(true), "needs_restart": list(false)])
    }
}
