import SatchelCore
internal import Stores
import FoundationEssentials
import Payloads

/// What an app's back end is told of a response: what its delegate would get.
struct ResponseEvent {
    let response: NotificationResponse
    let ticket: Ticket
    let context: ResponseContext
    let decidedBy: ResponseDecider
    let reason: String?

    func call(to url: String, at now: Instant) -> OutgoingCall {
        let call = JobID.generate().rawValue
        let document = JSONValue(members: [
            ("type", JSONValue(CallType.notificationResponse.rawValue)), ("timestamp", JSONValue(now.description)),
            ("data", data),
        ])
        return OutgoingCall(
            id: call, tenant: ticket.tenant, type: .notificationResponse, subject: response.id, url: url,
            body: TokenTemplate(Data(document.bytes), hiding: []),
            isKept: context.category.responses?.recordText ?? true)
    }

    private var data: JSONValue {
        JSONValue(members: [
            ("id", JSONValue(ticket.notification.rawValue)), ("generation", JSONValue(Double(context.generation))),
            ("number", ticket.firing.map { JSONValue(Double($0)) } ?? .null),
            ("response", JSONValue(response.id)), ("session", JSONValue(response.session)),
            ("action", JSONValue(response.action.name)), ("text", response.text.map { JSONValue($0) } ?? .null),
            ("data", response.document ?? .null), ("at", response.at.map { JSONValue($0.description) } ?? .null),
            ("decided_by", JSONValue(decidedBy.rawValue)), ("reason", reason.map { JSONValue($0) } ?? .null),
            ("category", JSONValue(context.category.id)),
            ("metadata", JSONValue(strings: context.metadata)),
        ])
    }
}

extension NotificationResponse {
    /// What came with it, as it came.
    var document: JSONValue? {
        data.flatMap { try? JSONDocument.read(Array($0.utf8), .requestBody).root }
    }
}

extension JSONValue {
    /// An object of strings, by their keys.
    init(strings: [String: String]) {
        self.init(members: strings.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) })
    }
}

extension Service {
    /// A response as the API shows it, with the call that forwards it, if there is one.
    func document(of record: ResponseRecord) async throws -> JSONValue {
        var call: CallRecord?
        if let id = record.call { call = try await records.call(id, of: record.tenant) }
        let response = record.response
        let forwarding = call.map { call -> JSONFields in
            ["id": call.id, "state": call.report.state, "reason": call.report.reason]
        }
        let facts: JSONFields = [
            "id": response.id, "notification": record.notification.rawValue, "firing": record.firing,
            "generation": record.generation, "session": response.session, "action": response.action,
            "text": response.text, "at": response.at, "receivedAt": record.receivedAt,
            "preview": record.isPreview, "then": record.answer?.then, "decidedBy": record.answer?.decidedBy,
            "reason": record.reason, "call": forwarding,
        ]
        let members = try JSONDocument.read(Array(try JSON.encode(facts)), .passedOn).root.members
        return JSONValue(members: members + [("data", response.document ?? .null)])
    }
}
