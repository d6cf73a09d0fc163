/// Whom a webhook goes to: a tenant's calls to one receiver fare alike.
public struct WebhookReceiver: Hashable, Sendable {
    public var tenant: TenantID
    /// Scheme, host and port, as the records have them.
    public var origin: String

    public init(tenant: TenantID, origin: String) {
        self.tenant = tenant
        self.origin = origin
    }
}

/// The places for calls to webhooks, and who has them: decides who may begin another.
///
/// Nobody may have more than are left. A tenant has at most as many as are free, all tenants together have at most as many
/// calls to one origin, and of its own share a tenant leaves as many to its other receivers as it has with one: a third of all
/// places for one receiver, whatever waits for it.
///
/// A receiver has to earn its third. It begins with a few calls at once, and may have one more for each that it answers, so
/// twice as many each time that it answers all; half as many where it doesn't answer one. So those that never answer have
/// few, however many of them there are.
public struct WebhookPlaces: Hashable, Sendable {
    /// Calls at once to a receiver of which nothing is known.
    public static let first = 16
    /// Calls at once to a receiver that doesn't answer: enough to give up in a day what waits for it.
    public static let fewest = 4
    /// Receivers of which something is remembered, beside those that are being called.
    private static let memory = 4096

    /// May change while calls are under way.
    public var count: Int
    /// After whom the next look for who waits begins, so that nobody is always the last.
    public var turn: WebhookReceiver?
    private var underway = 0
    private var byTenant: [TenantID: Int] = [:]
    private var byOrigin: [String: Int] = [:]
    private var byReceiver: [WebhookReceiver: Int] = [:]
    private var earned: [WebhookReceiver: Int] = [:]

    public init(_ count: Int) {
        self.count = count
    }

    public var free: Int { max(0, count - underway) }

    public func calls(of tenant: TenantID) -> Int { byTenant[tenant] ?? 0 }

    public func calls(to receiver: WebhookReceiver) -> Int { byReceiver[receiver] ?? 0 }

    public func mayBegin(_ receiver: WebhookReceiver) -> Bool {
        let ofTenant = calls(of: receiver.tenant)
        return ofTenant < free && (byOrigin[receiver.origin] ?? 0) < free
            && calls(to: receiver) < min(free - ofTenant, earned[receiver] ?? Self.first)
    }

    public mutating func begin(_ receiver: WebhookReceiver) {
        underway += 1
        byTenant[receiver.tenant, default: 0] += 1
        byOrigin[receiver.origin, default: 0] += 1
        byReceiver[receiver, default: 0] += 1
    }

    /// - Parameter isAnswered: Whether the receiver said anything.
    public mutating func end(_ receiver: WebhookReceiver, isAnswered: Bool) {
        underway -= 1
        let before = earned[receiver] ?? Self.first
        earned[receiver] = isAnswered ? min(before + 1, count) : max(before / 2, Self.fewest)
        if earned.count > Self.memory + count { earned = earned.filter { byReceiver[$0.key] != nil } }
        Self.lower(&byTenant[receiver.tenant])
        Self.lower(&byOrigin[receiver.origin])
        Self.lower(&byReceiver[receiver])
    }

    private static func lower(_ count: inout Int?) {
        count = count.flatMap { $0 > 1 ? $0 - 1 : nil }
    }

    /// Begins as many of those that wait as may: the tenant with the fewest calls first, of its receivers the one with the
    /// fewest, one by one.
    ///
    /// - Parameter waiting: What waits for each receiver, in the order in which it is to be called.
    /// - Returns: What was begun.
    public mutating func begin<Call>(_ waiting: [WebhookReceiver: [Call]]) -> [Call] {
        var queues = waiting.filter { !$0.value.isEmpty }.mapValues { $0[...] }
        var begun: [Call] = []
        while true {
            let tenants = Dictionary(grouping: queues.keys.filter(mayBegin), by: \.tenant)
                .sorted { (calls(of: $0.key), $0.key.rawValue) < (calls(of: $1.key), $1.key.rawValue) }
            let before = begun.count
            for (_, receivers) in tenants {
                let next = receivers.min { (calls(to: $0), $0.origin) < (calls(to: $1), $1.origin) }
                guard let next, mayBegin(next), let call = queues[next]?.popFirst() else { continue }
                begin(next)
                begun.append(call)
                if queues[next]?.isEmpty ?? true { queues[next] = nil }
            }
            guard begun.count > before else { return begun }
        }
    }
}
