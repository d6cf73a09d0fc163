/// What a node asks of another: a job's events, from a generation on.
public struct EventSubscription: Hashable, Sendable {
    public var job: JobName
    public var generation: Int

    public init(_ job: JobName, generation: Int) {
        self.job = job
        self.generation = generation
    }
}

/// What a node shows to another.
public struct NodePass: Hashable, Sendable {
    public var text: String
    /// What only a node of the same store can answer to it.
    public var proof: String

    public init(text: String, proof: String) {
        self.text = text
        self.proof = proof
    }
}
