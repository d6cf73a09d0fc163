import SatchelCore
import ArgumentParser
import Foundation
import Stores

/// The option for the location of the store.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Store to use: a directory, created on first use, or postgres://host/name. Default: $SATCHEL_STORE, the setting 'store', or satchel in the XDG data directory.",
            valueName: "store"),
        completion: .directory)
    var store: String?

    var location: StoreLocation { StoreLocation(store ?? Self.configured.store) }

    /// The directory of the store; `nil` for a store in memory or PostgreSQL.
    var directory: URL? {
        guard case .directory(let path) = location else { return nil }
        return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// The file of access keys. It is outside the store, so that a copy of the store gives no access.
    ///
    /// The path is that of `SATCHEL_ACCESS_KEYS`, of the configuration file, or of a file in the XDG configuration
    /// directory, which all stores of a user share.
    var keysFile: URL { URL(filePath: Self.configured.accessKeys) }

    /// The settings of the environment and the configuration file, so that commands use the same store as the service.
    static let configured: ServiceConfiguration = {
        let environment = ProcessInfo.processInfo.environment
        return ResolvedConfiguration(
            flags: [], environment: environment, file: ConfigurationFile.path(named: nil, environment)
        ).configuration
    }()

    static let defaultDirectory = base("XDG_DATA_HOME", fallback: ".local/share").appending(path: "satchel")
        .path(percentEncoded: false)

    /// May be deleted at any time, so it is a cache directory.
    static let defaultSpool = base("XDG_CACHE_HOME", fallback: ".cache").appending(path: "satchel")
        .path(percentEncoded: false)

    static let defaultKeys = base("XDG_CONFIG_HOME", fallback: ".config").appending(path: "satchel/access.keys")
        .path(percentEncoded: false)

    private static func base(_ name: String, fallback: String) -> URL {
        let environment = ProcessInfo.processInfo.environment
        // The XDG specification says to ignore relative paths.
        if let path = environment[name], path.hasPrefix("/") { return URL(filePath: path, directoryHint: .isDirectory) }
        return URL(filePath: environment["HOME"] ?? "/", directoryHint: .isDirectory).appending(path: fallback)
    }
}

/// The option for the tenant that a command works on.
struct TenantOptions: ParsableArguments {
    @Option(
        name: .customLong("tenant"),
        help: ArgumentHelp(
            "Tenant: 'local' for the command line; 'default' or another name for the service.", valueName: "tenant"),
        completion: .tenants)
    var name = TenantID.local.rawValue

    var id: TenantID { TenantID(rawValue: name) }
}

/// The store named by `--store`.
enum StoreLocation: Hashable, Sendable, CustomStringConvertible {
    /// In memory, discarded when the process exits.
    case memory
    /// Records and bytes in a directory of this machine.
    case directory(String)
    /// Records in PostgreSQL, at a URL in the form of libpq, and bytes in a bucket; for many nodes.
    case database(String)

    init(_ text: String) {
        if text == Self.memoryName {
            self = .memory
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .database(text)
        } else {
            self = .directory(text)
        }
    }

    private static let memoryName = "memory:"

    /// The location as given, without a password.
    var description: String {
        switch self {
        case .memory: Self.memoryName
        case .directory(let path): path
        case .database(let url): (try? StoreDatabase(url).description) ?? "postgres://"
        }
    }
}
