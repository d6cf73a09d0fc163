internal import SatchelCore

extension WebhookReport.State {
    /// As tables have it.
    var column: String { self == .waiting ? "pending" : rawValue }

    init(column: String) throws(AttachmentError) {
        guard let state = Self.allCases.first(where: { $0.column == column }) else {
            throw .storeFailed(reason: "the records: an unknown state of a call")
        }
        self = state
    }
}

extension WebhookReport {
    /// - Parameters:
    ///   - attempts: Attempts that have ended.
    ///   - isUnderway: Whether a node has the call.
    init(state: State, attempts: Int, dueAt: Instant, isUnderway: Bool, reason: String?) {
        self.init(
            state: state, attempts: attempts + (isUnderway ? 1 : 0),
            nextAt: state == .waiting && !isUnderway ? dueAt : nil, reason: reason)
    }
}

extension [CallAnswer] {
    /// JSON, as tables have it.
    var column: String {
        get throws(AttachmentError) {
            do {
                return try Column.unsortedText(self)
            } catch {
                throw .storeFailed(reason: "the answers to a call can't be written")
            }
        }
    }

    /// Nil is none.
    init(column: String?) throws {
        self = try column.map { try Column.value([CallAnswer].self, from: $0) } ?? []
    }
}

extension CallRecord {
    /// A part of a list.
    ///
    /// - Parameter records: Of each state the first ones, at most as many as the part may have.
    static func page(_ records: [CallRecord], limit: Int) -> Page<CallRecord> {
        let part = Array(records.sorted { $0.id > $1.id }.prefix(limit))
        return Page(elements: part, next: part.count < limit ? nil : part.last?.id)
    }
}
