import SatchelCore
internal import Stores
import HTTPTypes
import Hummingbird

/// When triggers fire, told without storing anything.
struct TriggerRoutes: Sendable {
    /// Bytes of a body.
    private static let bodyLimit: Int64 = 16 << 10

    let service: Service

    func add(to table: RouteTable) {
        table.on(.checkTrigger) { request, _ in
            let body = try await IncomingBody.json(of: request, limit: Self.bodyLimit)
            let check = try TriggerCheck(
                body: body.readableBytesView, now: service.records.time, in: service.timeZones)
            let next = check.occurrences.map { next -> JSONFields in
                ["at": next.at, "local": next.local, "note": next.note]
            }
            return try .json(["next": next, "zoneRules": check.zoneRules.rawValue] as JSONFields)
        }
    }
}
