public import SatchelCore
import Platform
import Synchronization

/// How often may be responded: counted by this process as long as it remembers, a share of what all nodes may take together.
public final class ResponseRates: Sendable {
    /// A minute and session.
    public static let session = 60.0
    /// Of a firing, as a multiple of its rate.
    public static let burst = 20.0
    /// Buckets that are kept; those that are full again go first.
    static let limit = 100_000

    private struct Key: Hashable {
        var ticket: String
        /// Nil: all of its sessions together.
        var session: String?
    }

    private let buckets = Mutex<[Key: TokenBucket]>([:])

    public init() {}

    /// Counts a response.
    ///
    /// - Parameters:
    ///   - rate: Responses a second by the ticket.
    ///   - nodes: Processes that count the same.
    /// - Returns: Nil where it may be taken, else after how long another may be.
    public func admit(
        _ response: NotificationResponse, by ticket: String, rate: Double, among nodes: Int
    ) -> Duration? {
        admit(session: response.session, by: ticket, rate: rate, among: nodes, at: .now)
    }

    func admit(
        session: String, by ticket: String, rate: Double, among nodes: Int = 1, at now: ContinuousClock.Instant
    ) -> Duration? {
        buckets.withLock { buckets in
            // A bucket that is full again says no more than none.
            if buckets.count >= Self.limit { buckets = buckets.filter { !$0.value.isFull(at: now) } }
            if buckets.count >= Self.limit { buckets = [:] }
            let (own, all) = (Key(ticket: ticket, session: session), Key(ticket: ticket, session: nil))
            var ofSession = buckets[own] ?? TokenBucket(rate: Self.session / 60, burst: Self.session, at: now)
            var ofTicket = buckets[all] ?? TokenBucket(rate: rate, burst: rate * Self.burst, at: now)
            // What one refuses isn't taken from the other.
            let waits = [ofSession.wait(for: nodes, at: now), ofTicket.wait(for: nodes, at: now)].compactMap(\.self)
            if let wait = waits.max() { return wait }
            _ = ofSession.take(nodes, at: now)
            _ = ofTicket.take(nodes, at: now)
            buckets[own] = ofSession
            buckets[all] = ofTicket
            return nil
        }
    }
}
