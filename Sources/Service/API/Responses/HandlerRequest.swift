import SatchelCore
import FoundationEssentials
import HTTPTypes
import Jobs
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

extension HandlerClient {
    /// The answer of a category's handler to a response.
    ///
    /// - Throws: Why it said nothing that can be taken.
    func decision(
        of handler: ResponseHandler, to request: HandlerRequest, secrets: [WebhookSecret]
    ) async throws(HandlerFailure) -> HandlerAnswer {
        let body = try await answer(of: handler, to: request.body, id: request.response.id, secrets: secrets).get()
        do throws(Problem) {
            return try ResponseReader.answer(body)
        } catch {
            let problems = error.errors.map { "\($0.pointer): \($0.detail)" }.joined(separator: " ")
            throw HandlerFailure(
                error.code == "invalid_json"
                    ? "the answer is not valid JSON"
                    : "the answer is invalid: \(problems.isEmpty ? error.detail : problems)")
        }
    }
}

extension Problem {
    /// What a response that can't be taken means as an answer.
    init(_ refusal: ResponseRefusal) {
        switch refusal {
        case .unknownAction: self.init(.conflict, "unknown_action", refusal.message)
        case .textNotTaken: self = .invalid("/text", refusal.message)
        }
    }
}
