internal import SatchelCore
internal import Postgres

/// Who lives, as one heartbeat found it.
struct NodeCensus: Hashable, Sendable {
    /// The role of a process that does one thing and ends.
    static let command = "command"

    /// Commands among them.
    var ids: Set<String> = []
    /// Those that take requests, among whom rates are divided.
    var takingRequests = 1
    /// Those that fire notifications.
    var firing: Set<String> = []

    init() {}

    /// - Parameter rows: Of nodes that live.
    init(_ rows: PostgresRows) throws(PostgresError) {
        takingRequests = 0
        for row in rows {
            let id = try row.text("id").lowercased()
            ids.insert(id)
            if try row.bool("draining") { continue }
            let role = NodeRole(rawValue: try row.text("role"))
            if role?.takesRequests ?? false { takingRequests += 1 }
            if role?.works ?? false { firing.insert(id) }
        }
        takingRequests = max(1, takingRequests)
    }
}
