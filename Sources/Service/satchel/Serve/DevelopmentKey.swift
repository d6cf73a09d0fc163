import SatchelCore
import Glibc
import Stores

/// The API key that a service on the loopback interface creates if there is none, so that it can be tried immediately.
enum DevelopmentKey {
    private static let prefix = "development, process "

    /// Creates and prints the key if there is no other active one.
    ///
    /// - Returns: The id of the key; `nil` if it isn't needed.
    static func makeIfNeeded(in records: RecordStore) async throws -> String? {
        let now = try await records.now()
        let good = try await records.keys(of: nil).filter {
            $0.revokedAt == nil && $0.expiresAt.map { $0 > now } ?? true
        }
        var isNeeded = true
        for key in good {
            guard key.name.hasPrefix(prefix), let process = Int32(key.name.dropFirst(prefix.count)) else {
                isNeeded = false
                continue
            }
            // The key belongs to a service that was killed.
            if kill(process, 0) != 0 && errno == ESRCH { _ = try await records.revokeKey(key.id) }
        }
        guard isNeeded else { return nil }
        let (record, token) = try await records.createKey(
            named: prefix + "\(getpid())", for: .service, roles: [.admin], lasting: .seconds(30 * 86_400))
        Console.printError(
            """
            There is no API key yet. This one works until the service stops:

              export SATCHEL_KEY=\(token.secretText)

            Create permanent keys with 'satchel key create'.
            """)
        return record.id
    }
}

extension TenantID {
    /// The default tenant of the service's keys.
    static let service = TenantID(rawValue: "default")
}
