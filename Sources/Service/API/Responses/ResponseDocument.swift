import SatchelCore
import FoundationEssentials
import Payloads

/// A response as the API shows it.
struct ResponseDocument {
    let record: ResponseRecord
    /// Of the call that forwards it; nil where there is none, or it is gone.
    let call: CallRecord?

    private struct Facts: Encodable {
        struct Call: Encodable {
            var id: String
            var state: WebhookReport.State
            @Nullable var reason: String?
        }

        var id: String
        var notification: String
        @Nullable var firing: Int?
        var generation: Int
        var session: String
        var action: ResponseAction
        @Nullable var text: String?
        @Nullable var at: Instant?
        var receivedAt: Instant
        var preview: Bool
        @Nullable var then: ResponseOption?
        @Nullable var decidedBy: ResponseDecider?
        @Nullable var reason: String?
        @Nullable var call: Call?
    }

    var json: JSONValue {
        get throws {
            let response = record.response
            let facts = Facts(
                id: response.id, notification: record.notification.rawValue, firing: record.firing,
                generation: record.generation, session: response.session, action: response.action, text: response.text,
                at: response.at, receivedAt: record.receivedAt, preview: record.isPreview, then: record.answer?.then,
                decidedBy: record.answer?.decidedBy, reason: record.reason,
                call: call.map { Facts.Call(id: $0.id, state: $0.report.state, reason: $0.report.reason) })
            let members = try JSONDocument.read(Array(try JSON.encode(facts)), .passedOn).root.members
            return JSONValue(members: members + [("data", response.document ?? .null)])
        }
    }
}
