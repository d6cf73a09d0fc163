import SatchelCore
import Glibc
import Stores

/// The key that a service on loopback makes for itself where there is none, so that it can be tried at once.
enum DevelopmentKey {
    private static let prefix = "development, process "

    /// Makes the key and shows it, where there is no other that is good now.
    ///
    /// - Returns: Its id; nil where it isn't needed.
    static func makeIfNeeded(in records: any RecordStore) async throws -> String? {
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
            // Of a service that was killed.
            if kill(process, 0) != 0 && errno == ESRCH { _ = try await records.revokeKey(key.id) }
        }
        guard isNeeded else { return nil }
        let (record, token) = try await records.createKey(
            named: prefix + "\(getpid())", for: .service, roles: [.admin], lasting: .seconds(30 * 86_400))
        Console.printError(
            """
            There is no API key yet, so this one was made, for trying things out; it is good until this process ends:

              export SATCHEL_KEY=\(token.secretText)

            'satchel key create' makes lasting ones.
            """)
        return record.id
    }
}

extension TenantID {
    /// Whose the service's keys are when nobody says.
    static let service = TenantID(rawValue: "default")
}
