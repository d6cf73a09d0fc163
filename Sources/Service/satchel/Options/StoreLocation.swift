import Stores

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
