import SatchelCore
import FoundationEssentials
import Payloads

/// What a handler is asked.
struct HandlerRequest: Hashable, Sendable {
    var response: NotificationResponse
    /// The session as the response was taken.
    var session: ResponseSession
    /// Its id; nil where there is none that is kept.
    var notification: String?
    /// Its number; nil for what wasn't handed over.
    var firing: Int?
    /// The notification's.
    var metadata: [String: String] = [:]
    /// Whether nobody's phone is meant.
    var isPreview: Bool

    /// As it is sent.
    var body: Data { Data(json.bytes) }

    private var json: JSONValue {
        JSONValue(members: [
            ("id", JSONValue(response.id)),
            ("notification", notification.map { JSONValue($0) } ?? .null),
            ("firing", firing.map { JSONValue(Double($0)) } ?? .null),
            ("session", JSONValue(response.session)),
            ("action", JSONValue(response.action.name)),
            ("text", response.text.map { JSONValue($0) } ?? .null),
            ("data", response.document ?? .null),
            ("count", JSONValue(Double(session.count))),
            ("view", JSONValue(encoding: session.view)),
            ("actions", JSONValue(encoding: session.actions)),
            ("metadata", JSONValue(strings: metadata)),
            ("preview", JSONValue(isPreview)),
        ])
    }
}
