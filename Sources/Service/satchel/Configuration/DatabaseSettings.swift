/// Settings for the database that nodes share.
struct DatabaseSettings: Sendable {
    /// The number of connections for writes. Half as many more are for reads.
    var connections = 4
    /// Whether connections go through a pooler in transaction mode.
    var isPooled = false
    var wakeups = NodeWakeups.auto
    var deadAfter: Duration = .seconds(10)
    var garbageDelay: Duration = .seconds(60)
    /// The URL at which other nodes reach this one; `{host}` stands for this machine's name.
    var advertises: String?
}

/// How nodes of a store in PostgreSQL learn about new work.
enum NodeWakeups: String, CaseIterable, Sendable {
    /// By `LISTEN` and `NOTIFY` if they work, and otherwise by polling.
    case auto
    /// By polling.
    case off
}
