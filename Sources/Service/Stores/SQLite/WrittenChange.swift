internal import SatchelCore
internal import GRDB

/// A change with the JSON that it writes. Of many it is made before the writer's turn, as there is one writer.
struct WrittenChange: Sendable {
    var change: NotificationChange
    var json: String?

    init(_ change: NotificationChange) throws {
        self.change = change
        switch change {
        case .save(let record, _): json = try Column.unsortedText(record)
        case .saveFiring(let firing): json = try Column.unsortedText(firing)
        default: json = nil
        }
    }
}

/// What the ends of handovers change, decided and written out before the writer's turn from what was read then.
struct HandoverEnds: Sendable {
    private struct Prepared: Sendable {
        var read: NotificationRecord
        var changes: [WrittenChange]
    }

    private var prepared: [FiringID: Prepared] = [:]

    init(_ results: [WebhookResult], _ database: Database, at now: Instant) throws {
        for result in results {
            guard let (id, end) = result.callback.settles(result.outcome), let firing = try database.firing(id),
                let found = try database.notification(firing.notification, of: firing.tenant)
            else { continue }
            let changes = NotificationDecision.settle(end, of: firing, of: found.record, at: now)
            prepared[id] = Prepared(read: found.record, changes: try changes.map(WrittenChange.init))
        }
    }

    /// Nil where its notification was changed meanwhile: its revision counts every change of its firings too.
    func changes(of firing: FiringID, _ database: Database) throws -> [WrittenChange]? {
        guard let prepared = prepared[firing], try database.key(of: prepared.read) != nil else { return nil }
        return prepared.changes
    }
}
