/// How this node talks to the database that it shares with others.
struct DatabaseSettings: Sendable {
    /// At once, for writes; half as many more are for reads.
    var connections = 4
    /// Whether a pooler in transaction mode is between.
    var isPooled = false
    var wakeups = NodeWakeups.auto
    var deadAfter: Duration = .seconds(10)
    var garbageDelay: Duration = .seconds(60)
    /// Where other nodes reach this one's service; `{host}` in it stands for this machine's name.
    var advertises: String?
}

/// How nodes of a store in PostgreSQL learn that there is something to look at.
enum NodeWakeups: String, CaseIterable, Sendable {
    /// By `LISTEN` and `NOTIFY` where they are found to work, and by looking often where not.
    case auto
    /// By looking often.
    case off
}
