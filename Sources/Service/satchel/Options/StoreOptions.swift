import ArgumentParser
import Foundation
import Stores

/// Where the store is.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The store's directory, made on first use, 'memory:' for one that goes with the process, or a database: postgres://user@host/name. Default: $SATCHEL_STORE, else 'store' of the configuration file, else satchel under the XDG data directory.",
            valueName: "store"),
        completion: .directory)
    var store: String?

    var location: StoreLocation { StoreLocation(store ?? Self.configured.store) }

    /// Of a store in a directory; nil for another.
    var directory: URL? {
        guard case .directory(let path) = location else { return nil }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// The file of the keys that access tokens are derived from: outside the store, so that a copy of the store opens
    /// nothing.
    ///
    /// `SATCHEL_ACCESS_KEYS`, else what the configuration file says, else a file under the XDG configuration directory,
    /// which all stores of a user share.
    var keysFile: URL { URL(filePath: Self.configured.accessKeys) }

    /// What the environment and the configuration file say, so that every command finds the store that the service
    /// uses.
    static let configured: ServiceConfiguration = {
        let environment = ProcessInfo.processInfo.environment
        return ResolvedConfiguration(
            flags: [], environment: environment, file: ConfigurationFile.path(named: nil, environment)
        ).configuration
    }()

    static let defaultDirectory = base("XDG_DATA_HOME", fallback: ".local/share").appending(path: "satchel")
        .path(percentEncoded: false)

    /// Lost without harm, so among the caches.
    static let defaultSpool = base("XDG_CACHE_HOME", fallback: ".cache").appending(path: "satchel")
        .path(percentEncoded: false)

    static let defaultKeys = base("XDG_CONFIG_HOME", fallback: ".config").appending(path: "satchel/access.keys")
        .path(percentEncoded: false)

    private static func base(_ name: String, fallback: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        // The specification has relative paths ignored.
        if let path = environment[name], path.hasPrefix("/") { return URL(filePath: path, directoryHint: .isDirectory) }
        return URL(filePath: environment["HOME"] ?? "/", directoryHint: .isDirectory).appending(path: fallback)
    }
}
