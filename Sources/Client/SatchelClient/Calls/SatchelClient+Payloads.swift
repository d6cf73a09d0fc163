public import Foundation

/// A push payload whose media was prepared.
public struct EnrichedPayload: Sendable, Hashable {
    /// What to hand to the push service.
    public var payload: Data
    /// The job that prepared the media; nil where there was none.
    public var job: String?
    /// What failed, as the service words it: `fetch_failed;of="photo"`.
    public var failed: String?
    /// What was left out for size: `preview_url;of="photo"`.
    public var dropped: String?
}

extension SatchelClient {
    /// What becomes of media that could not be prepared.
    public enum FailureMode: String, Sendable, Hashable {
        /// Its key is removed.
        case drop
        /// It is kept as it was.
        case keep
        /// The call fails.
        case error
    }

    /// What a payload is written for.
    public enum PayloadFormat: String, Sendable, Hashable {
        /// As the device gets it from APNs.
        case apns
        /// The body of a request to FCM's HTTP v1 API.
        case fcm
        /// The body of a request to OneSignal's API.
        case onesignal
        /// The body of a request to Expo's push service: a message, or an array of them.
        case expo
        /// The text of a Web Push message, before it is encrypted.
        case webpush
    }

    public enum PushType: String, Sendable, Hashable {
        case alert
        /// May have 5120 bytes instead of 4096.
        case voip
    }

    /// Prepares the media that a push payload names, and puts links to it in their place. Nothing else is touched.
    ///
    /// - Parameters:
    ///   - payload: JSON, as the service that it is written for would get it.
    ///   - format: What the payload is written for.
    ///   - profile: The name of the one for its media; the category's, else `notification`, where nil.
    ///   - onFailure: What becomes of a medium that fails; ``FailureMode/drop`` where nil.
    ///   - pushType: Of a payload for APNs.
    ///   - expiration: When the push ends, and its links with it; 24 hours from now where nil. Links live for 60 seconds at
    ///     least, and 30 days at most.
    ///   - deadline: Seconds; the service's 10 where nil.
    ///   - delivery: Of the links; `private` where nil. A payload that many get is `shared`.
    ///   - encrypt: By which scheme what is made is encrypted; nil: it isn't. The keys are under `satchel`, with the links.
    public func enrich(
        payload: Data, format: PayloadFormat = .apns, profile: String? = nil, onFailure: FailureMode? = nil,
        pushType: PushType? = nil,
        expiration: Date? = nil, deadline: TimeInterval? = nil, delivery: JobRequest.Delivery? = nil,
        encrypt: JobRequest.Scheme? = nil
    ) async throws -> EnrichedPayload {
        var call = Call("POST", "v1", "payloads", format.rawValue)
        call.add("profile", profile)
        call.add("on_failure", onFailure?.rawValue)
        call.add("push_type", pushType?.rawValue)
        call.add("deadline", deadline.map { "\($0)" })
        call.add("delivery", delivery?.rawValue)
        call.add("encrypt", encrypt?.rawValue)
        if let expiration {
            // Only APNs has a header for it.
            if format == .apns {
                call.headers["apns-expiration"] = String(Int64(expiration.timeIntervalSince1970))
            } else {
                call.add("expires_in", "\(min(max(expiration.timeIntervalSinceNow, 60), 2_592_000))")
            }
        }
        call.body = .bytes(payload, type: "application/json")
        let answer = try await transport.send(call)
        return EnrichedPayload(
            payload: answer.body, job: answer.header("Satchel-Job"), failed: answer.header("Satchel-Failed"),
            dropped: answer.header("Satchel-Dropped"))
    }
}
