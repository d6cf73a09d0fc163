import FoundationEssentials

/// What a receiver is told of an upload: `type`, `timestamp` and `data`, as Standard Webhooks has them.
struct UploadEvent {
    private let type: CallType
    private let now: Instant
    private let record: UploadRecord

    init(_ record: UploadRecord, _ type: CallType, at now: Instant) {
        self.record = record
        self.type = type
        self.now = now
    }

    private var fields: JSONFields {
        let data: JSONFields = [
            "id": record.id.rawValue, "state": record.state, "name": record.terms.name,
            "typeHint": record.terms.typeHint, "length": record.length, "offset": record.offset,
            "sha256": record.sha256, "job": record.state == .complete ? record.terms.job?.id.rawValue : nil,
            "error": record.error,
        ]
        return ["type": type.rawValue, "timestamp": now, "data": data]
    }

    /// Nil where nobody is to be told.
    ///
    /// - Parameter id: Of the message.
    func call(_ id: String) -> OutgoingCall? {
        // Nothing in it can't be encoded.
        guard let url = record.terms.callback, let body = try? JSON.encode(fields) else { return nil }
        return OutgoingCall(
            id: id, tenant: record.tenant, type: type, subject: record.id.rawValue, url: url,
            body: TokenTemplate(body, hiding: []), traceparent: record.terms.traceparent)
    }
}
