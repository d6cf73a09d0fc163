/// How this node talks to the database that it shares with others.
struct DatabaseSettings: Sendable {
    /// At once, for writes; half as many more are for reads.
    var connections = 4
    /// Whether a pooler in transaction mode is between.
    var isPooled = false
    var notifies = true
    var deadAfter: Duration = .seconds(10)
    var garbageDelay: Duration = .seconds(60)
}
