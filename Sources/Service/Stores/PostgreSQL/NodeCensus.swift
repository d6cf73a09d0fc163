internal import SatchelCore
internal import Postgres

/// Who lives, as one heartbeat found it.
struct NodeCensus: Hashable, Sendable {
    /// Of a process that does one thing and ends; a row without a role is an older version's.
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
            let text = try row.optionalText("role")
            let role = text.flatMap(NodeRole.init(rawValue:))
            // An older version's may, and shares no firings.
            if text == nil || role?.takesRequests ?? false { takingRequests += 1 }
            if role?.works ?? false { firing.insert(id) }
        }
        takingRequests = max(1, takingRequests)
    }
}
