public import Foundation

/// A push payload with links to its prepared media.
public struct EnrichedPayload: Sendable, Hashable {
    /// The payload to send to the push service.
    public var payload: Data
    /// The job that prepared the media; `nil` if the payload has none.
    public var job: String?
    /// How many media the payload names.
    public var mediaCount: Int
    /// `no_media_found` and the place of a URL, if the payload has one but names no media.
    public var warning: String?
    /// The failures, such as `fetch_failed;of="photo"`.
    public var failed: String?
    /// The parts omitted to save space, such as `preview_url;of="photo"`.
    public var dropped: String?
}

extension SatchelClient {
    /// How to handle media that could not be prepared.
    public enum FailureMode: String, Sendable, Hashable {
        /// Removes its key from the payload.
        case drop
        /// Keeps its key unchanged.
        case keep
        /// Lets the call fail.
        case error
    }

    /// The format of a payload.
    public enum PayloadFormat: String, Sendable, Hashable {
        /// The payload of APNs.
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
        /// Allows 5120 bytes instead of 4096.
        case voip
    }

    /// Prepares the media that a push payload names and replaces them by links. Nothing else is changed.
    ///
    /// - Parameters:
    ///   - payload: The payload as JSON, as the push service would receive it.
    ///   - format: The format of the payload.
    ///   - profile: The profile for the media; `nil` for that of the category, or else `notification`.
    ///   - onFailure: How to handle media that fail; `nil` for ``FailureMode/drop``.
    ///   - pushType: The push type of a payload for APNs.
    ///   - expiration: When the push and its links expire; `nil` for 24 hours from now. Links last at least 60 seconds and at
    ///     most 30 days.
    ///   - deadline: The deadline in seconds; `nil` for the service's default of 10.
    ///   - delivery: The delivery of the links; `nil` for `private`. Use `shared` for a payload with many recipients.
    ///   - encrypt: The scheme for encrypting renditions; `nil` for none. The keys are under `satchel`, with the links.
    ///   - mediaPlaces: JSON pointers to further places of media, such as `/photo`.
    public func enrich(
        payload: Data, format: PayloadFormat = .apns, profile: String? = nil, onFailure: FailureMode? = nil,
        pushType: PushType? = nil,
        expiration: Date? = nil, deadline: TimeInterval? = nil, delivery: JobRequest.Delivery? = nil,
        encrypt: JobRequest.Scheme? = nil, mediaPlaces: [String] = []
    ) async throws -> EnrichedPayload {
        var call = Call("POST", "v1", "payloads", format.rawValue)
        call.add("profile", profile)
        call.add("on_failure", onFailure?.rawValue)
        call.add("push_type", pushType?.rawValue)
        call.add("deadline", deadline.map { "\($0)" })
        call.add("delivery", delivery?.rawValue)
        call.add("encrypt", encrypt?.rawValue)
        call.add("media", mediaPlaces.isEmpty ? nil : mediaPlaces.joined(separator: ","))
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
            payload: answer.body, job: answer.header("Satchel-Job"),
            mediaCount: answer.header("Satchel-Media").flatMap(Int.init) ?? 0,
            warning: answer.header("Satchel-Warning"),
            failed: answer.header("Satchel-Failed"), dropped: answer.header("Satchel-Dropped"))
    }
}
