public import SatchelCore
internal import Crypto
internal import FoundationEssentials

/// By the keys that the nodes of a store share. Nothing is kept of it: a pass is for one job, for one node, and for a minute by
/// whichever clock, and who takes it proves in turn that it has the keys.
public struct KeyedPasses: Sendable {
    let keys: KeyRing
    /// This node's id.
    let node: String

    /// How far its time may be from that of whoever it is shown to.
    static let tolerance: Duration = .seconds(60)
    /// Characters; the ids of a tenant and a job are shorter by far.
    private static let longest = 4096

    private struct Payload: Codable {
        var tenant: TenantID
        var job: JobID
        var generation: Int
        var at: Int64
    }

    /// Makes a pass for another node; nil if none can be made.
    public func pass(
        for subscription: EventSubscription, to node: String, at now: Instant = .wallClock()
    ) -> NodePass? {
        let payload = Payload(
            tenant: subscription.job.tenant, job: subscription.job.job, generation: subscription.generation,
            at: now.milliseconds)
        guard let kid = try? keys.current(), let key = keys.nodeKey(kid), let body = try? JSONEncoder().encode(payload)
        else { return nil }
        let text = "\(kid).\(body.base64URL)"
        return NodePass(
            text: "\(text).\(Data(Self.code("ask", text, node, key)).base64URL)",
            proof: Data(Self.code("answer", text, node, key)).base64URL)
    }

    /// What the node that shows a pass may hear, and the proof that this node answers; nil for a pass that is no good here
    /// and now.
    public func admit(
        _ pass: String, at now: Instant = .wallClock()
    ) -> (subscription: EventSubscription, proof: String)? {
        guard pass.utf8.count <= Self.longest else { return nil }
        let parts = pass.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let key = keys.nodeKey(parts[0]), let code = Data(anyBase64: parts[2]) else {
            return nil
        }
        let text = "\(parts[0]).\(parts[1])"
        guard
            HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.signed("ask", text, node), using: key),
            let body = Data(anyBase64: parts[1]), let payload = try? JSONDecoder().decode(Payload.self, from: body),
            abs(now.milliseconds - payload.at) <= Self.tolerance.wholeMilliseconds
        else { return nil }
        let subscription = EventSubscription(
            JobName(tenant: payload.tenant, job: payload.job), generation: payload.generation)
        return (subscription, Data(Self.code("answer", text, node, key)).base64URL)
    }

    private static func code(
        _ use: String, _ text: String, _ node: String, _ key: SymmetricKey
    ) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: signed(use, text, node), using: key)
    }

    private static func signed(_ use: String, _ text: String, _ node: String) -> Data {
        Data("\(use)\n\(node)\n\(text)".utf8)
    }
}

extension Store {
    /// Nil where no other node could be asked.
    public var passes: KeyedPasses? {
        records.engine.cluster.map { KeyedPasses(keys: keys, node: $0.members.id) }
    }
}
