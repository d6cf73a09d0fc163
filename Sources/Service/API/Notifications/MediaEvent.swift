import SatchelCore
import FoundationEssentials
import Payloads

/// What a receiver is told of media that failed before the firing, while there is time to act.
struct MediaEvent {
    let notification: NotificationRecord
    let failures: [MediaFailure]
    let now: Instant

    private var body: JSONValue {
        let failed = failures.map { failure in
            JSONValue(members: [
                ("identifier", JSONValue(failure.identifier)), ("code", JSONValue(failure.error.code.rawValue)),
                ("message", JSONValue(failure.error.message)), ("retrying", JSONValue(failure.isRetried)),
            ])
        }
        return JSONValue(
            event: .notificationMediaFailed, at: now,
            [
                ("id", JSONValue(notification.id.rawValue)),
                ("generation", JSONValue(Double(notification.generation))),
                ("number", JSONValue(Double(notification.fired + 1))),
                ("scheduled_at", notification.next.map { JSONValue($0.at.description) } ?? .null),
                ("failed", JSONValue(elements: failed)),
                ("metadata", JSONValue(strings: notification.submission.metadata)),
            ])
    }

    /// Of no use once it has fired.
    func call(to url: String) -> OutgoingCall {
        OutgoingCall(
            id: FiringID.generate().rawValue, tenant: notification.tenant, type: .notificationMediaFailed,
            subject: notification.id.rawValue, url: url, body: TokenTemplate(Data(body.bytes), hiding: []),
            giveUpAt: notification.next.map { max($0.at, now + Self.shortest) },
            traceparent: notification.submission.traceparent)
    }

    /// It is tried for so long in any case.
    private static let shortest: Duration = .seconds(60)
}
