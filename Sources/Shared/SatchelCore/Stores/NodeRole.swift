/// What a node does beside others of the same store.
public enum NodeRole: String, CaseIterable, Sendable {
    /// Takes requests, and works.
    case all
    /// Takes requests and gives out content; what it accepts, others carry out.
    case api
    /// Carries out jobs, calls webhooks and tends the store; of requests it answers only those about its own operation.
    case worker

    public var takesRequests: Bool { self != .worker }
    public var works: Bool { self != .api }
}
