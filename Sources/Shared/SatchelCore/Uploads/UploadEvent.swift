import FoundationEssentials

/// What a receiver is told of an upload: `type`, `timestamp` and `data`, as Standard Webhooks has them.
struct UploadEvent: Encodable {
    struct Facts: Encodable {
        var id: String
        var state: UploadState
        @Nullable var name: String?
        @Nullable var typeHint: String?
        @Nullable var length: Int64?
        var offset: Int64
        @Nullable var sha256: String?
        @Nullable var job: String?
        @Nullable var error: ErrorReport?
    }

    let type: String
    let timestamp: Instant
    let data: Facts
    private let record: UploadRecord

    private enum CodingKeys: CodingKey {
        case type
        case timestamp
        case data
    }

    init(_ record: UploadRecord, _ type: CallType, at now: Instant) {
        self.record = record
        self.type = type.rawValue
        timestamp = now
        data = Facts(
            id: record.id.rawValue, state: record.state, name: record.terms.name, typeHint: record.terms.typeHint,
            length: record.length, offset: record.offset, sha256: record.sha256,
            job: record.state == .complete ? record.terms.job?.id.rawValue : nil, error: record.error)
    }

    /// Nil where nobody is to be told.
    ///
    /// - Parameter id: Of the message.
    func call(_ id: String) -> OutgoingCall? {
        // Nothing in it can't be encoded.
        guard let url = record.terms.callback, let body = try? JSON.encode(self) else { return nil }
        return OutgoingCall(
            id: id, tenant: record.tenant, type: CallType(rawValue: type), subject: record.id.rawValue, url: url,
            body: TokenTemplate(body, hiding: []), traceparent: record.terms.traceparent)
    }
}
