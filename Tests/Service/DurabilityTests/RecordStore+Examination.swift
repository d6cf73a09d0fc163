import SatchelCore
import Stores

extension RecordStore {
    /// What is otherwise than firings and responses are, whenever a service ended: each instant fires once, nothing waits
    /// for nobody, and what was made stays as it was made.
    ///
    /// - Parameter made: Firings as they were made.
    func contradictions(to made: [FiringID: FiringRecord]) async throws -> [String] {
        var wrong: [String] = []
        let records =
            try await notifications(of: .local, in: .pending, category: nil, after: nil, limit: 100).elements
            + notifications(of: .local, in: .delivered, category: nil, after: nil, limit: 100).elements
        for record in Set(records) {
            let name = record.id.rawValue
            let fired = try await firings(of: record.id, tenant: .local, after: nil, limit: 100).elements
            if fired.map(\.number).sorted() != Array(1..<record.fired + 1) {
                wrong.append("\(name) has \(record.fired) firings, and there are \(fired.map(\.number))")
            }
            let scheduled = fired.filter { !$0.isManual }
            let instants = Set(scheduled.map { [Int64($0.generation), $0.scheduledAt.milliseconds] })
            if instants.count != scheduled.count { wrong.append("\(name) fired twice for one instant") }
            let isAgain = scheduled.contains { $0.generation == record.generation && $0.scheduledAt == record.next?.at }
            if isAgain { wrong.append("\(name) is to fire once more for an instant that has fired") }
            for firing in fired where firing.payload != nil {
                if let other = made[firing.id].flatMap({ Invariants.difference(firing, $0) }) { wrong.append(other) }
                if firing.place == nil { wrong.append("a firing of \(name) has no place") }
                guard firing.state == .pending else { continue }
                let handover = try await call(firing.id.rawValue, of: .local)
                if handover?.report.state != .waiting { wrong.append("nobody hands over a firing of \(name)") }
            }
        }
        let places = try await firings(of: .local, after: 0, limit: 1000).compactMap(\.place)
        if Set(places).count != places.count { wrong.append("two firings have one place") }
        for response in try await responses(of: .local, to: nil, after: nil, limit: 100).elements {
            guard let id = response.call else { continue }
            if try await call(id, of: .local) == nil { wrong.append("nobody tells of a response") }
        }
        return wrong
    }

    /// What is still known of a tenant.
    func remains(of tenant: TenantID) async throws -> [String] {
        var left: [String] = []
        func note(_ what: String, _ count: Int) { if count > 0 { left.append("\(count) \(what)") } }
        note("keys", try await keys(of: tenant).count)
        note("jobs", try await jobs(of: tenant, where: RecordFilter(), after: nil, limit: 100).elements.count)
        note(
            "attachments",
            try await attachments(of: tenant, where: RecordFilter(), after: nil, limit: 100).elements.count)
        note("uploads", try await uploads(of: tenant, in: nil, after: nil, limit: 100).elements.count)
        for list in NotificationList.allCases {
            let page = try await notifications(of: tenant, in: list, category: nil, after: nil, limit: 100)
            note("\(list.rawValue) notifications", page.elements.count)
        }
        note("firings", try await firings(of: tenant, after: 0, limit: 100).count)
        note("categories", try await categories(of: tenant).count)
        note("calls", try await calls(of: tenant, where: CallFilter(), after: nil, limit: 100).elements.count)
        note("entries", try await audit(of: tenant, where: AuditFilter(), after: nil, limit: 100).elements.count)
        return left
    }
}
