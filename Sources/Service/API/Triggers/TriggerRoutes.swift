import SatchelCore
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
            return try .json(TriggerCheckAnswer(check))
        }
    }
}

/// What a check of a trigger answers.
private struct TriggerCheckAnswer: Encodable {
    private struct Next: Encodable {
        var at: Instant
        @Nullable var local: String?
        @Nullable var note: String?
    }

    private var next: [Next]
    private var zoneRules: String

    init(_ check: TriggerCheck) {
        next = check.occurrences.map { Next(at: $0.at, local: $0.local, note: $0.note) }
        zoneRules = check.zoneRules.rawValue
    }
}
