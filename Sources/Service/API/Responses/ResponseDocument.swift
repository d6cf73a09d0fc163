import SatchelCore
import FoundationEssentials
import Payloads

/// A response as the API shows it.
struct ResponseDocument {
    let record: ResponseRecord
    /// Of the call that forwards it; nil where there is none, or it is gone.
    let call: CallRecord?

    var json: JSONValue {
        get throws {
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
}
