import ArgumentParser
import Foundation
import Stores

/// Where the store is.
struct StoreOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The store's directory, made on first use. Default: $SATCHEL_STORE, else satchel under the XDG data directory.",
            valueName: "dir"))
    var store: String?

    var directory: URL {
        if let store { return URL(filePath: store, directoryHint: .isDirectory) }
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["SATCHEL_STORE"], !named.isEmpty {
            return URL(filePath: named, directoryHint: .isDirectory)
        }
        return Self.base(environment, "XDG_DATA_HOME", fallback: ".local/share").appending(path: "satchel")
    }

    /// The file of the keys that access tokens are derived from: outside the store, so that a copy of the store opens
    /// nothing.
    ///
    /// `SATCHEL_ACCESS_KEYS`, else a file under the XDG configuration directory, which all stores of a user share.
    var keysFile: URL {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["SATCHEL_ACCESS_KEYS"], !named.isEmpty { return URL(filePath: named) }
        return Self.base(environment, "XDG_CONFIG_HOME", fallback: ".config").appending(path: "satchel/access.keys")
    }

    private static func base(_ environment: [String: String], _ name: String, fallback: String) -> URL {
        // The specification has relative paths ignored.
        if let path = environment[name], path.hasPrefix("/") { return URL(filePath: path, directoryHint: .isDirectory) }
        return URL(filePath: environment["HOME"] ?? "/", directoryHint: .isDirectory).appending(path: fallback)
    }
}
