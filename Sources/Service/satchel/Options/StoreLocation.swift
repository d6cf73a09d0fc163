import Stores

/// What `--store` names.
enum StoreLocation: Hashable, Sendable, CustomStringConvertible {
    /// A store that goes with the process.
    case memory
    /// Records and bytes in a directory of this machine.
    case directory(String)
    /// Records in PostgreSQL, for many nodes: a URL as libpq has it. The bytes are in a bucket.
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

    /// As it was given, without a password.
    var description: String {
        switch self {
        case .memory: Self.memoryName
        case .directory(let path): path
        case .database(let url): (try? StoreDatabase(url).description) ?? "postgres://"
        }
    }
}
