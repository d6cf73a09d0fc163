/// Names a job among all tenants'.
public struct JobName: Hashable, Sendable {
    public var tenant: TenantID
    public var job: JobID

    public init(tenant: TenantID, job: JobID) {
        self.tenant = tenant
        self.job = job
    }
}

/// How far a job is.
public struct JobStatus: Hashable, Sendable {
    public var generation: Int
    public var state: WorkState
    /// Nil where no other node is at it, or the store has no nodes.
    public var remote: RemoteAttempt?

    public init(generation: Int, state: WorkState, remote: RemoteAttempt? = nil) {
        self.generation = generation
        self.state = state
        self.remote = remote
    }
}

/// An attempt at a job that another node is at.
public struct RemoteAttempt: Hashable, Sendable {
    /// 1 for the first.
    public var number: Int
    /// The node's id.
    public var node: String
    /// The URL at which others reach it; nil if it gives none.
    public var url: String?

    public init(_ number: Int, on node: String, at url: String?) {
        self.number = number
        self.node = node
        self.url = url
    }
}
