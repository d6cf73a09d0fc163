import SatchelCore
import Crypto
import FoundationEssentials
import Payloads
import Platform

/// What a receiver is told of a firing: `type`, `timestamp` and `data`, as Standard Webhooks has them.
struct NotificationEvent {
    let type: CallType
    let firing: FiringRecord
    let notification: NotificationRecord
    let now: Instant

    init(_ type: CallType, _ firing: Firing, at now: Instant) {
        self.type = type
        self.firing = firing.record
        notification = firing.notification
        self.now = now
    }

    /// Bytes of an identifier with which a push service replaces an earlier notification, at most: APNs'
    /// `apns-collapse-id`.
    private static let longestCollapseID = 64

    private var collapseID: String {
        let id = notification.id.rawValue
        return id.utf8.count <= Self.longestCollapseID ? id : SHA256.hash(data: Data(id.utf8)).hexadecimal
    }

    /// What every event says of its firing.
    private var facts: [(key: String, value: JSONValue?)] {
        [
            ("id", JSONValue(notification.id.rawValue)), ("generation", JSONValue(Double(firing.generation))),
            ("number", JSONValue(Double(firing.number))),
            ("scheduled_at", JSONValue(firing.scheduledAt.description)),
            ("late", JSONValue(max(0, (now - firing.scheduledAt).inSeconds))),
            ("coalesced", JSONValue(Double(firing.coalesced))),
            ("metadata", JSONValue(strings: notification.submission.metadata)),
        ]
    }

    func fired(_ made: NotificationPayload.Made, submission: NotificationSubmission) -> JSONValue {
        let payload = try? JSONDocument.read(made.payload, .enriched)
        let failed = made.failed.map { failure in
            JSONValue(members: [
                ("identifier", JSONValue(failure.identifier)), ("code", JSONValue(failure.code)),
                ("message", JSONValue(failure.message)),
            ])
        }
        return JSONValue(
            event: type, at: now,
            facts + [
                ("format", JSONValue(submission.format.rawValue)),
                ("push_type", submission.format == .apns ? JSONValue(submission.pushType.rawValue) : .null),
                ("collapse_id", JSONValue(collapseID)),
                ("expires_at", JSONValue(made.linksEnd.description)),
                ("failed", JSONValue(elements: failed)),
                ("dropped", JSONValue(elements: made.dropped.map { JSONValue($0) })),
                ("payload", payload?.root),
            ])
    }

    func failed(_ error: ErrorReport) -> JSONValue {
        JSONValue(
            event: type, at: now,
            facts + [
                (
                    "error",
                    JSONValue(members: [
                        ("code", JSONValue(error.code.rawValue)), ("message", JSONValue(error.message)),
                    ])
                )
            ])
    }

    var missed: JSONValue { JSONValue(event: type, at: now, facts) }

    /// - Parameters:
    ///   - tokens: Those that are in the body.
    ///   - keys: Those of renditions that are in it.
    func call(
        to url: String, body: JSONValue, hiding tokens: [AccessToken] = [], keys: [RenditionKeyPlace: String] = [:]
    ) -> OutgoingCall {
        // Repeated as callbacks are, within the time that the firing is worth anything.
        let limit = max(notification.submission.lateLimit, Self.shortestHandover)
        return OutgoingCall(
            id: firing.id.rawValue, tenant: firing.tenant, type: type, subject: firing.id.rawValue, url: url,
            body: TokenTemplate(Data(body.bytes), hiding: tokens, keys: keys),
            giveUpAt: max(
                firing.scheduledAt + .seconds(fraction: limit), now + .seconds(fraction: Self.shortestHandover)),
            traceparent: notification.submission.traceparent)
    }

    /// Seconds.
    private static let shortestHandover = 60.0
}

extension JSONValue {
    /// What is told of a notification: `type`, `timestamp` and `data`, as Standard Webhooks has them.
    init(event type: CallType, at now: Instant, _ data: [(key: String, value: JSONValue?)]) {
        self.init(members: [
            ("type", JSONValue(type.rawValue)), ("timestamp", JSONValue(now.description)),
            ("data", JSONValue(members: data)),
        ])
    }
}

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

    /// The call that tells of this event. It is useless after the firing.
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
