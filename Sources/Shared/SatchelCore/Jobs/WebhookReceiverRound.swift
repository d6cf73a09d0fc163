/// One round over those whom calls wait for, from the one after `turn` on and round to the first, so that nobody is always
/// the last: a store finds who comes next, and this says when to stop.
public struct WebhookReceiverRound {
    /// Them, in the order in which they were found.
    public private(set) var receivers: [WebhookReceiver] = []
    /// After whom the next one comes; nil before the first. When the round has ended, the last where there are more.
    public private(set) var last: WebhookReceiver?
    private let turn: WebhookReceiver?
    private let limit: Int
    private var seen: Set<WebhookReceiver> = []

    /// - Parameter limit: How many are looked at at once.
    public init(after turn: WebhookReceiver?, limit: Int) {
        self.turn = turn
        self.limit = limit
        last = turn
    }

    /// - Parameter next: The one that comes after ``last``; nil where there is none.
    /// - Returns: Whether it goes on.
    public mutating func add(_ next: WebhookReceiver?) -> Bool {
        guard let next else {
            // Begun at the first, all were seen.
            let goesOn = last != nil && turn != nil
            last = nil
            return goesOn
        }
        guard seen.insert(next).inserted else {
            last = nil
            return false
        }
        receivers.append(next)
        last = next
        return receivers.count < limit
    }
}
