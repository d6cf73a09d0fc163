import AsyncHTTPClient
import SatchelCore
import NIOCore
import Synchronization

/// Clients that are kept together with their connections, one for each name and the address that it was found to have: what
/// is kept was checked when it was made, and is only used for what was checked again and leads to the same address.
final class KeptClients: Sendable {
    struct Key: Hashable, Sendable {
        var origin: String
        var address: IPAddress
    }

    /// Idle connections are closed before servers do so, some of which wait for a few seconds.
    static let idle: TimeAmount = .seconds(1)
    /// Clients that nobody uses; each costs some kilobytes.
    private static let capacity = 64

    private struct Kept {
        var client: HTTPClient
        var users = 0
        var usedAt: ContinuousClock.Instant
    }

    private let clients = Mutex<[Key: Kept]>([:])

    /// Performs `body` with the client that is kept under `key`, which is made where there is none.
    func with<Result>(
        _ key: Key, make configuration: () -> HTTPClient.Configuration, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        let client = clients.withLock { clients in
            var kept = clients[key] ?? Kept(client: HTTPClient(configuration: configuration()), usedAt: .now)
            kept.users += 1
            clients[key] = kept
            return kept.client
        }
        defer { release(key) }
        return try await body(client)
    }

    private func release(_ key: Key) {
        let surplus = clients.withLock { clients -> [HTTPClient] in
            clients[key]?.users -= 1
            clients[key]?.usedAt = .now
            guard clients.count > Self.capacity else { return [] }
            let idle = clients.filter { $0.value.users == 0 }.sorted { $0.value.usedAt < $1.value.usedAt }
            let oldest = idle.prefix(clients.count - Self.capacity)
            for (key, _) in oldest { clients[key] = nil }
            return oldest.map(\.value.client)
        }
        if !surplus.isEmpty { Task { await Self.end(surplus) } }
    }

    /// Ends all clients; nobody may use one at the time.
    func end() async {
        await Self.end(
            clients.withLock { clients in
                defer { clients = [:] }
                return clients.values.map(\.client)
            })
    }

    private static func end(_ clients: [HTTPClient]) async {
        for client in clients { try? await client.shutdown() }
    }
}
