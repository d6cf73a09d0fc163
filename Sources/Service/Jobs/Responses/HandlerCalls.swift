public import SatchelCore
import Platform
import Synchronization

/// Asks the handlers of all tenants: not more at once of a tenant than this process's share, and none that fails again and again
/// here.
public final class HandlerCalls: Sendable {
    /// Of a tenant, at once, of all nodes together.
    public static let width = 32

    private struct Place: Hashable {
        var tenant: TenantID
        var url: String
    }

    private struct State {
        var breakers: [Place: HandlerBreaker] = [:]
        /// Of a tenant, in this process.
        var width = HandlerCalls.width
        var places: [TenantID: AsyncSemaphore] = [:]

        /// Those that are underway end in the places that they have, when the width becomes another.
        mutating func places(of tenant: TenantID, width: Int) -> AsyncSemaphore {
            if width != self.width { (self.width, places) = (width, [:]) }
            let found = places[tenant] ?? AsyncSemaphore(capacity: Int64(width))
            places[tenant] = found
            return found
        }
    }

    private let client: HandlerClient
    private let nodes: @Sendable () -> Int
    private let secrets: @Sendable (TenantID) async throws -> [WebhookSecret]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - nodes: Among which the width is divided.
    ///   - secrets: What a tenant's calls are signed with, the current one first.
    public init(
        client: HandlerClient, nodes: @escaping @Sendable () -> Int = { 1 },
        secrets: @escaping @Sendable (TenantID) async throws -> [WebhookSecret]
    ) {
        self.client = client
        self.nodes = nodes
        self.secrets = secrets
    }

    /// Asks a handler. Whoever waits has the answer, or the reason why there is none, within the handler's time.
    ///
    /// - Parameter ask: Is given the handler with what is left of its time, and what its calls are signed with. What it
    ///   throws counts as a failure of the handler.
    public func answer<Answer: Sendable>(
        of handler: ResponseHandler, tenant: TenantID,
        by ask: (HandlerClient, ResponseHandler, [WebhookSecret]) async throws(HandlerFailure) -> Answer
    ) async throws(HandlerFailure) -> Answer {
        let place = Place(tenant: tenant, url: handler.url)
        guard state.withLock({ $0.breakers[place]?.admits(at: .now) ?? true }) else {
            throw HandlerFailure(
                "the handler failed \(HandlerBreaker.patience) times in a row, so calls to it are paused")
        }
        let end = ContinuousClock.now + .seconds(fraction: handler.timeout)
        let width = max(1, Self.width / max(1, nodes()))
        let places = state.withLock { $0.places(of: tenant, width: width) }
        guard await places.acquire(1, until: end) == .granted else {
            throw HandlerFailure("too many calls to the tenant's handlers at the same time (limit \(width))")
        }
        defer { places.release(1) }
        let signing: [WebhookSecret]
        do { signing = try await secrets(tenant) } catch {
            throw HandlerFailure("the signing secrets can't be read")
        }
        var handler = handler
        handler.timeout = max(0.01, (end - .now).inSeconds)
        do throws(HandlerFailure) {
            let answer = try await ask(client, handler, signing)
            note(place, success: true)
            return answer
        } catch {
            note(place, success: false)
            throw error
        }
    }

    private func note(_ place: Place, success: Bool) {
        state.withLock { state in
            var breaker = state.breakers[place] ?? HandlerBreaker()
            breaker.note(success: success, at: .now)
            state.breakers[place] = breaker.isClosed ? nil : breaker
        }
    }

    /// Closes what is kept. No call may be underway.
    public func end() async {
        await client.end()
    }
}
